/** The transport to a real server: identity on every request, the right wire, one more try after a 401. */
import type { Access, Identity } from '../auth/access.ts';
import { isKubeError } from '../errors/errors.ts';
import type { Clock } from '../ports/ports.ts';
import { unlessAborted } from './abort.ts';
import { type Http1Options, http1Wire } from './http1.ts';
import { type Http2Options, http2Wire } from './http2.ts';
import { discardBody, type Transport, type TransportRequest, type TransportResponse } from './transport.ts';
import type { Wire } from './wire.ts';

export interface NetworkOptions extends Http1Options {
  /**
   * How watches travel. `http1` (default): a connection each, robust and simple. `http2`: sessions of 90, for a process
   * with many watches; falls back to http1 where the server or something before it does not speak it.
   */
  readonly watches?: 'http1' | 'http2';
  readonly http2?: Omit<Http2Options, 'clock'>;
}

export interface Network {
  readonly transport: Transport;
  /** Ends all connections, also those in use. */
  close(): void;
}

export function networkTransport(access: Access, clock: Clock, options: NetworkOptions = {}): Network {
  const http1 = http1Wire(access.server, options);
  if (options.watches !== 'http2') return { transport: authenticated(access, http1), close: () => http1.close() };
  const http2 = http2Wire(access.server, { ...options.http2, clock });
  let speaksHttp2 = true;
  const both: Wire = {
    async send(request, tls) {
      if (!request.streaming || !speaksHttp2) return http1.send(request, tls);
      try {
        return await http2.send(request, tls);
      } catch (error) {
        if (!isKubeError(error, 'KUBE_NO_HTTP2')) throw error;
        speaksHttp2 = false;
        return http1.send(request, tls);
      }
    },
    close() {
      http1.close();
      http2.close();
    },
  };
  return { transport: authenticated(access, both), close: () => both.close() };
}

/** A credential plugin may take long: the caller can leave, the plugin goes on for others. */
export function authenticated(access: Access, wire: Pick<Wire, 'send'>): Transport {
  const send = (request: TransportRequest, { headers, tls }: Identity): Promise<TransportResponse> =>
    wire.send({ ...request, headers: { ...request.headers, ...headers } }, tls);
  return async (request) => {
    const identity = await unlessAborted(access.identity(), request.signal);
    const response = await send(request, identity);
    if (response.status !== 401) return response;
    if (!(await unlessAborted(access.rejected(identity), request.signal))) return response;
    await discardBody(response.body);
    return send(request, await unlessAborted(access.identity(), request.signal));
  };
}
