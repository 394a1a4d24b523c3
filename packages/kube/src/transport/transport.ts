/**
 * The port to an API server: a request goes out, a response comes back, its body whole or bit by bit. Everything above
 * speaks through it, so that a server in this process (embedded, simulated) takes the place of the network.
 */
import { KubeError } from '../errors/errors.ts';

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query, without host. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  /** The answer comes for as long as the server likes, as of a watch: it gets a connection it keeps nobody from. */
  readonly streaming?: boolean;
  /**
   * Whoever asks keeps nothing of a piece of the body when it asks for the next one: pieces may lie in memory that is used again. Only
   * of answers that are no refusals.
   */
  readonly borrows?: boolean;
  /** Ends request and body; whoever waits gets its reason. */
  readonly signal?: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** An iterable must be read to its end or left with `return`; otherwise its connection stays taken. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/**
 * Rejects with a KubeError: KUBE_UNREACHABLE when nothing was sent, KUBE_CONNECTION_LOST when it is not known whether
 * the server acted. A body may end with the latter, too.
 */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

/** A whole body, up to `limit` bytes. */
export async function readBody(body: TransportResponse['body'], limit: number): Promise<Buffer> {
  const tooLarge = (): KubeError => new KubeError('KUBE_TOO_LARGE', `an answer of more than ${limit} bytes`);
  if (body instanceof Uint8Array) {
    if (body.length > limit) throw tooLarge();
    return Buffer.from(body.buffer, body.byteOffset, body.length);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Lets go of a body that nobody wants. */
export async function discardBody(body: TransportResponse['body']): Promise<void> {
  if (body instanceof Uint8Array) return;
  await body[Symbol.asyncIterator]().return?.();
}
