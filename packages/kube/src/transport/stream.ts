/** One request whose answer comes for as long as the server likes, on a connection of its own. */
import { connect as connectPlainly, type NetConnectOpts, type Socket } from 'node:net';
import { connect as connectByTls, type ConnectionOptions } from 'node:tls';
import type { TlsMaterial } from '../auth/access.ts';
import { KubeError } from '../errors/errors.ts';
import { Gathering } from '../ports/system.ts';
import { Arrivals } from './arrivals.ts';
import { ByteStore } from './byte-store.ts';
import { isFieldName, ResponseReader } from './response-reader.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';
import { agentHeaders, pathOn, tlsOptions } from './wire.ts';

/** The first TCP keep-alive probe; the only thing that notices a vanished peer of a silent stream here. */
const PROBE_MS = 30_000;
/**
 * By Node's own timer, as the pool of http1.ts has it: it belongs to a real socket, and where time is simulated the whole transport is
 * another one. How long an answer may take is the asker's, by the injected clock.
 */
const CONNECT_MS = 30_000;
const READ_BYTES = 64 * 1024;

export class Stream {
  /** Rejects with what the network said, in its own words. */
  readonly response: Promise<TransportResponse>;
  readonly #server: URL;
  readonly #request: TransportRequest;
  readonly #socket: Socket;
  readonly #reader = new ResponseReader();
  readonly #arrivals: Arrivals;
  readonly #gathering: Pick<Gathering, 'turn' | 'rest'>;
  #isSettling = false;
  /** Something came since it was last told. */
  #hasMore = false;
  readonly #onEnd: () => void;
  readonly #onAbort = (): void => this.#abort();
  #resolve!: (response: TransportResponse) => void;
  #reject!: (error: unknown) => void;

  /** `onEnd`: nothing more comes, or nobody wants it. */
  constructor(
    server: URL,
    request: TransportRequest,
    tls: TlsMaterial,
    onEnd: () => void,
    gathering: Pick<Gathering, 'turn' | 'rest'> = new Gathering(),
  ) {
    const head = headOf(server, request);
    this.#gathering = gathering;
    this.#server = server;
    this.#request = request;
    this.#onEnd = onEnd;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#socket = this.#open(server, tls);
    const source = {
      pause: () => this.#socket.pause(),
      resume: () => this.#socket.resume(),
      leave: () => this.destroy(),
    };
    const lends = () => request.borrows === true && (this.#reader.head?.status ?? 0) < 300;
    this.#arrivals = new Arrivals(server, request, source, new ByteStore(lends));
    this.#socket.write(head);
    request.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #open(server: URL, tls: TlsMaterial): Socket {
    // One buffer for all that comes, instead of one for each record: what is kept of it is copied.
    const onread: NetConnectOpts['onread'] = {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback: (length, bytes) => {
        this.#read(Buffer.from(bytes.buffer, bytes.byteOffset, length));
        return true;
      },
    };
    const host = server.hostname.replace(/^\[|\]$/g, '');
    const isTls = server.protocol === 'https:';
    const address = { host, port: Number(server.port || (isTls ? 443 : 80)), onread, noDelay: true };
    const options: ConnectionOptions = { ...address, ...tlsOptions(server, tls), ALPNProtocols: ['http/1.1'] };
    const socket = isTls ? connectByTls(options) : connectPlainly(address);
    socket.setKeepAlive(true, PROBE_MS);
    socket.setTimeout(CONNECT_MS, () => socket.destroy(notInTime(server)));
    socket.once(isTls ? 'secureConnect' : 'connect', () => socket.setTimeout(0));
    let failure: Error | undefined;
    socket.on('error', (error: Error) => {
      failure = error;
    });
    socket.on('close', () => this.#closed(failure));
    return socket;
  }

  #read(bytes: Buffer): void {
    if (!this.#isSettling) void this.#settle();
    this.#hasMore = true;
    try {
      this.#reader.read(bytes, (piece) => this.#arrivals.add(piece));
    } catch (error) {
      this.#socket.destroy(error as Error);
    }
  }

  /**
   * Tells what has arrived once all of it is read. Where events come thick and fast, it goes on until nothing is left to read, and then
   * lets them gather: to read each for itself costs more than the event does.
   */
  async #settle(): Promise<void> {
    this.#isSettling = true;
    const isThick = await this.#gathering.turn();
    do {
      this.#hasMore = false;
      this.#tell();
      if (isThick) await this.#gathering.turn();
    } while (this.#hasMore);
    if (isThick && !this.#socket.destroyed) {
      this.#socket.pause();
      await this.#gathering.rest();
      if (!this.#arrivals.isFull) this.#socket.resume();
    }
    this.#isSettling = false;
    // A reader who had kept the connection waiting may have let it go on meanwhile.
    if (this.#hasMore) void this.#settle();
  }

  #tell(): void {
    const { head, isDone } = this.#reader;
    this.#arrivals.tell();
    if (isDone) {
      this.#arrivals.end({});
      this.#socket.destroy();
    }
    if (head) this.#resolve({ ...head, body: { [Symbol.asyncIterator]: () => this.#arrivals } });
  }

  #abort(): void {
    this.#reject(this.#request.signal?.reason);
    this.destroy();
  }

  #closed(failure: Error | undefined): void {
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    this.#tell();
    const error = failure ?? (this.#reader.mayEnd ? undefined : lost(this.#server));
    this.#arrivals.end(error === undefined ? {} : { error });
    if (error !== undefined) this.#reject(error);
    this.#onEnd();
  }
}

/** @throws where a header or the path holds what would end it. */
function headOf(server: URL, request: TransportRequest): string {
  const path = pathOn(server, request.path);
  if (/[^\x21-\x7e]/.test(path)) throw new TypeError(`a path with characters that have to be escaped: ${path}`);
  let head = `${request.method} ${path} HTTP/1.1\r\nhost: ${server.host}\r\n`;
  for (const [name, values] of Object.entries(agentHeaders(request))) {
    for (const value of typeof values === 'string' ? [values] : values) {
      if (!isFieldName(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value))
        throw new TypeError(`a header that is none: ${name}`);
      head += `${name}: ${value}\r\n`;
    }
  }
  return `${head}\r\n`;
}

const lost = ({ host }: URL): KubeError =>
  new KubeError('KUBE_CONNECTION_LOST', `the connection to ${host} was lost: the other side closed it`, {
    subjects: [host],
  });

const notInTime = ({ host }: URL): KubeError =>
  new KubeError('KUBE_UNREACHABLE', `${host} cannot be reached: no connection within ${CONNECT_MS / 1_000} s`, {
    subjects: [host],
  });
