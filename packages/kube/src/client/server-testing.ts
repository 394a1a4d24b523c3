/** A transport that is a function, with everything that went through it: the server of client tests. */
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, bytes and streams as they are. */
  readonly body?: object | string | Uint8Array | AsyncIterable<Uint8Array>;
}

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: TransportRequest['headers'];
  readonly body: unknown;
  readonly signal: AbortSignal | undefined;
}

export function scripted(answer: (exchange: Exchange, count: number) => Answer | Promise<Answer>): {
  readonly transport: Transport;
  readonly seen: Exchange[];
} {
  const seen: Exchange[] = [];
  const transport: Transport = async (request): Promise<TransportResponse> => {
    request.signal?.throwIfAborted();
    const url = new URL(request.path, 'http://server');
    const exchange = {
      method: request.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: request.body === undefined ? undefined : (JSON.parse(request.body) as unknown),
      signal: request.signal,
    };
    seen.push(exchange);
    const { status = 200, headers = {}, body = {} } = await answer(exchange, seen.length);
    const raw = body instanceof Uint8Array || Symbol.asyncIterator in Object(body);
    const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
    return { status, headers, body: raw ? (body as Uint8Array) : bytes };
  };
  return { transport, seen };
}

export const failureBody = (code: number, reason: string, more: object = {}): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code,
  reason,
  message: `the server says ${reason}`,
  ...more,
});
