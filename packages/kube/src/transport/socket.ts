/** A WebSocket to a server, for what goes both ways: a command in a container. */
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Access } from '../auth/access.ts';
import { KubeError } from '../errors/errors.ts';
import { unlessAborted } from './abort.ts';
import { networkError, pathOn, tlsOptions } from './wire.ts';

/** Loaded with the first socket: few programs need one. */
const load = createRequire(import.meta.url);

export interface SocketRequest {
  /** With its query, without host. */
  readonly path: string;
  /** Of which the server chooses one. */
  readonly protocols: readonly string[];
  readonly signal?: AbortSignal;
}

export interface KubeSocket extends Disposable {
  /** What the server chose. */
  readonly protocol: string;
  /** Done when there is room for the next one; at once if nobody is there any more. */
  send(message: Uint8Array): Promise<void>;
  /** To be read once. Ends when the other side closes; throws what broke it. */
  readonly messages: AsyncIterable<Uint8Array>;
}

export type OpenSocket = (request: SocketRequest) => Promise<KubeSocket>;

const CONNECT_MS = 30_000;
const NORMAL = 1000;

/** @throws KUBE_UNREACHABLE and the like, or KUBE_REFUSED if the server makes no socket of it, whose reason a socket is not told. */
export function socketTransport(access: Access): OpenSocket {
  return async ({ path, protocols, signal }) => {
    const { server } = access;
    const { headers, tls } = await unlessAborted(access.identity(), signal);
    const Agent = load('undici/lib/dispatcher/agent') as typeof import('undici').Agent;
    const buildConnector = load('undici/lib/core/connect') as typeof import('undici').buildConnector;
    const { WebSocket } = load('undici/lib/web/websocket/websocket') as Pick<typeof import('undici'), 'WebSocket'>;
    const url = new URL(pathOn(server, path), server);
    url.protocol = server.protocol === 'https:' ? 'wss:' : 'ws:';
    const connector = buildConnector({ allowH2: false, ...tlsOptions(server, tls), timeout: CONNECT_MS });
    let connection: Socket | undefined;
    let unconnected: unknown;
    const dispatcher = new Agent({
      allowH2: false,
      connect: (options, connected) =>
        connector(options, (...result) => {
          unconnected ??= result[0] ?? undefined;
          connection = result[1] ?? undefined;
          connected(...result);
        }),
    });
    const named = Object.entries(headers).flatMap(([name, value]) =>
      (typeof value === 'string' ? [value] : value).map((one): [string, string] => [name, one]),
    );
    const socket = new WebSocket(url.href, { protocols: [...protocols], headers: named, dispatcher });
    socket.binaryType = 'arraybuffer';
    const leave = (): void => {
      socket.close();
      // Whoever does not answer a farewell is not waited for, nor who does not read what stands before it.
      if (connection?.writableNeedDrain) connection.destroy();
      else connection?.destroySoon();
    };
    signal?.addEventListener('abort', leave, { once: true });
    const inbox = new Inbox();
    socket.addEventListener('message', ({ data }) => inbox.add(bytesOf(data)));
    return new Promise((resolve, reject) => {
      let isOpen = false;
      socket.addEventListener('close', ({ code }) => {
        signal?.removeEventListener('abort', leave);
        void dispatcher.destroy();
        const subjects = [server.host];
        if (!isOpen) {
          // The library tells of a refusal that it was one, and no more.
          const refused = new KubeError('KUBE_REFUSED', `GET ${titleOf(path)}: the server makes no socket`, {
            subjects,
          });
          reject(unconnected === undefined && !signal?.aborted ? refused : networkError(unconnected, server, signal));
        }
        const lost = new KubeError('KUBE_CONNECTION_LOST', `the connection to ${server.host} was lost`, { subjects });
        inbox.end(signal?.aborted ? signal.reason : code === NORMAL ? undefined : lost);
      });
      socket.addEventListener('open', () => {
        isOpen = true;
        resolve({
          protocol: socket.protocol,
          send: async (message) => {
            socket.send(message);
            if (connection?.writableNeedDrain) await hasRoom(connection);
          },
          messages: inbox,
          [Symbol.dispose]: leave,
        });
      });
    });
  };
}

function hasRoom(connection: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      connection.off('drain', done).off('close', done);
      resolve();
    };
    connection.on('drain', done).on('close', done);
  });
}

const titleOf = (path: string): string => path.split('?', 1)[0] ?? '';

function bytesOf(data: unknown): Uint8Array {
  return data instanceof ArrayBuffer ? new Uint8Array(data) : Buffer.from(String(data));
}

/** Messages in the order they came, for one reader. */
class Inbox implements AsyncIterable<Uint8Array> {
  readonly #waiting: Uint8Array[] = [];
  #end: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  add(message: Uint8Array): void {
    this.#waiting.push(message);
    this.#wake?.();
  }

  end(error: unknown): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next) yield next;
      else if (this.#end?.error !== undefined) throw this.#end.error;
      else if (this.#end) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
