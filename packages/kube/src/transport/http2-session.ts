/** One HTTP/2 session: its streams, its sign of life, its end. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { TlsMaterial } from '../auth/access.ts';
import { KubeError } from '../errors/errors.ts';
import type { Clock } from '../ports/ports.ts';
import { chunksOf } from './chunks.ts';
import type { Http2Options } from './http2.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';
import { agentHeaders, flat, networkError, pathOn, tlsOptions, type Wire } from './wire.ts';

export interface Session extends Pick<Wire, 'close'> {
  readonly tls: TlsMaterial;
  readonly openedAt: number;
  canTake(maxStreams: number): boolean;
  send(request: TransportRequest): Promise<TransportResponse>;
  /** No new streams; ends with its last one. */
  retire(): void;
}

export async function openSession(
  server: URL,
  tls: TlsMaterial,
  options: Required<Http2Options>,
  onEnd: (session: Session) => void,
): Promise<Session> {
  const { clock, openWithinMs, settingsWithinMs } = options;
  const socket = startSocket(server, tls);
  await within(openWithinMs, clock, socket, socketReady(socket, server));
  // A limit of its own: Node loses the end of a connection that comes together with the end of the handshake (about one in a
  // hundred that a proxy cuts in this moment), and nothing would ever be heard of it again.
  return within(settingsWithinMs, clock, socket, start(socket, server, tls, options, onEnd));
}

async function within<T>(ms: number, clock: Clock, socket: Socket, work: Promise<T>): Promise<T> {
  const inTime = new AbortController();
  clock.sleep(ms, inTime.signal).then(
    () => socket.destroy(Object.assign(new Error('it does not answer'), { syscall: 'connect' })),
    () => undefined, // done, or failed otherwise
  );
  try {
    return await work;
  } finally {
    inTime.abort();
  }
}

function start(
  socket: Socket,
  server: URL,
  tls: TlsMaterial,
  options: Required<Http2Options>,
  onEnd: (session: Session) => void,
): Promise<Session> {
  const session = connectHttp2(server.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: Math.min(options.windowBytes, 1024 * 1024) },
  });
  return new Promise((resolve, reject) => {
    const onError = (error: unknown) => reject(networkError(error, server));
    session.once('error', onError);
    // Not before the server's settings: they say how many streams it takes.
    session.once('remoteSettings', () => {
      session.off('error', onError);
      session.setLocalWindowSize(options.windowBytes);
      resolve(new Http2Session(server, tls, session, options, onEnd));
    });
    session.once('close', () => reject(networkError(new Error('closed before it was open'), server)));
  });
}

/** Opened here and not by Node, to see whether the other side speaks HTTP/2 at all. */
function startSocket(server: URL, tls: TlsMaterial): Socket {
  const secure = server.protocol === 'https:';
  const address = {
    host: server.hostname.replace(/^\[|\]$/g, ''),
    port: Number(server.port === '' ? (secure ? 443 : 80) : server.port),
  };
  return secure
    ? connectTls({ ...address, ...tlsOptions(server, tls), ALPNProtocols: ['h2', 'http/1.1'] })
    : connectPlain(address);
}

function socketReady(socket: Socket, server: URL): Promise<void> {
  const secure = server.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const onError = (error: unknown) => reject(networkError(error, server));
    socket.once('error', onError);
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      socket.off('error', onError);
      if (!secure || (socket as TLSSocket).alpnProtocol === 'h2') return resolve();
      socket.destroy();
      reject(new KubeError('KUBE_NO_HTTP2', `${server.host} does not speak HTTP/2`, { subjects: [server.host] }));
    });
  });
}

class Http2Session implements Session {
  readonly tls: TlsMaterial;
  readonly openedAt: number;
  readonly #server: URL;
  readonly #session: ClientHttp2Session;
  readonly #options: Required<Http2Options>;
  readonly #streams = new Set<ClientHttp2Stream>();
  readonly #life = new AbortController();
  #retired = false;
  #heardAt: number;

  constructor(
    server: URL,
    tls: TlsMaterial,
    session: ClientHttp2Session,
    options: Required<Http2Options>,
    onEnd: (session: Session) => void,
  ) {
    this.tls = tls;
    this.#server = server;
    this.#session = session;
    this.#options = options;
    this.openedAt = options.clock.now();
    this.#heardAt = this.openedAt;
    // Streams tell their readers; the session itself has nobody to tell.
    session.on('error', () => undefined);
    session.on('goaway', () => this.#lose('the server sent GOAWAY'));
    session.on('close', () => {
      this.#retired = true;
      this.#life.abort();
      onEnd(this);
    });
    void this.#watchLife();
  }

  canTake(maxStreams: number): boolean {
    const allowed = this.#session.remoteSettings.maxConcurrentStreams ?? maxStreams;
    return !this.#retired && !this.#session.closed && this.#streams.size < Math.min(maxStreams, allowed);
  }

  send(request: TransportRequest): Promise<TransportResponse> {
    const { signal, body } = request;
    const stream = this.#start(request);
    this.#streams.add(stream);
    let properEnd = false;
    stream.on('data', () => {
      this.#heardAt = this.#options.clock.now();
    });
    stream.pause(); // listening to data must not start the flow
    stream.on('end', () => {
      // An aborted stream ends, too.
      properEnd = !stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR;
      if (properEnd) this.#forget(stream); // for the server it is over; Node's own `close` comes later
    });
    stream.on('close', () => this.#forget(stream));
    return new Promise((resolve, reject) => {
      stream.on('error', (error) => reject(networkError(error, this.#server, signal)));
      // Without an error too: a session that goes away may take its streams along silently.
      stream.on('close', () => reject(networkError(new Error('the stream was closed'), this.#server, signal)));
      stream.on('response', (headers) => {
        this.#heardAt = this.#options.clock.now();
        resolve({
          status: Number(headers[':status']),
          headers: flat(headers),
          body: chunksOf(stream, () => properEnd, this.#server, request),
        });
      });
      if (body !== undefined) stream.end(body);
    });
  }

  #start(request: TransportRequest): ClientHttp2Stream {
    const { signal, body } = request;
    try {
      return this.#session.request(
        { ...agentHeaders(request), ':method': request.method, ':path': pathOn(this.#server, request.path) },
        { endStream: body === undefined, ...(signal ? { signal } : {}) },
      );
    } catch (error) {
      // The session ended in this very moment.
      throw networkError(error, this.#server, signal);
    }
  }

  retire(): void {
    if (this.#retired) return;
    this.#retired = true;
    if (this.#streams.size === 0) this.#session.close();
  }

  close(): void {
    this.#lose('the client was closed');
  }

  #forget(stream: ClientHttp2Stream): void {
    this.#streams.delete(stream);
    if (this.#retired && this.#streams.size === 0) this.#session.close();
  }

  /** Ends all streams with an error after which their readers go on elsewhere. */
  #lose(reason: string): void {
    this.#retired = true;
    const error = new KubeError('KUBE_CONNECTION_LOST', `${this.#server.host}: ${reason}`, {
      subjects: [this.#server.host],
    });
    for (const stream of this.#streams) stream.destroy(error);
    this.#session.destroy();
  }

  /** A silent connection is asked for a sign of life; an unused one is closed. */
  async #watchLife(): Promise<void> {
    const { clock, pingAfterMs, pongWithinMs } = this.#options;
    const { signal } = this.#life;
    try {
      for (;;) {
        const silentFor = clock.now() - this.#heardAt;
        if (silentFor < pingAfterMs) await clock.sleep(pingAfterMs - silentFor, signal);
        else if (this.#streams.size === 0) return this.retire();
        else if (!(await this.#ping(pongWithinMs, signal))) return this.#lose('no answer to a PING');
      }
    } catch {
      // The session ended first.
    }
  }

  async #ping(withinMs: number, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const sleeping = new AbortController();
    const onEnd = () => sleeping.abort();
    signal.addEventListener('abort', onEnd, { once: true });
    try {
      const answered = new Promise<boolean>((resolve) => {
        this.#session.ping((error) => resolve(error === null));
      });
      const late = clock.sleep(withinMs, sleeping.signal).then(
        () => false,
        () => true,
      );
      if (!(await Promise.race([answered, late]))) return false;
      this.#heardAt = clock.now();
      return true;
    } finally {
      signal.removeEventListener('abort', onEnd);
      sleeping.abort();
    }
  }
}
