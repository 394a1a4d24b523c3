/**
 * The snapshot of a server, as a replica gets it when it asks for everything: no access to its files is needed, and it is of one moment.
 * On a connection of its own, which carries nothing else.
 */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ReeveError } from '@reeve/runtime';
import type { SnapshotSource } from '../api/backup.ts';
import { type Endpoint, formatEndpoint } from '../api/view.ts';
import type { ConnectOptions } from './client.ts';
import { connectError, lostError, type Redact, redactor, replyError } from './errors.ts';

/**
 * A server that saves sends a line end each second: silence for so long means that it is gone. By Node's own timer, which begins anew with
 * every byte: it belongs to a real socket, and where time is simulated `SnapshotSource` is another one.
 */
const SILENCE_MS = 60_000;

export function snapshotSource(options: ConnectOptions): SnapshotSource {
  const redact = redactor(options.password);
  return { snapshot: (endpoint, signal) => snapshot(endpoint, options, redact, signal) };
}

async function* snapshot(
  endpoint: Endpoint,
  options: ConnectOptions,
  redact: Redact,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const where = formatEndpoint(endpoint);
  const socket = open(endpoint, options, signal);
  const wire = new Wire(socket, where, options.tls !== undefined, redact);
  try {
    for (const words of greeting(options)) {
      socket.write(encode(words));
      const reply = await wire.line();
      // A server that does not know this option goes on with a stream, which nobody reads.
      if (reply.startsWith('-') && words[0] === 'AUTH') throw replyError(redact(reply.slice(1)), 'AUTH', where);
    }
    socket.write(encode(['SYNC']));
    let header = await wire.line();
    while (header === '') header = await wire.line();
    if (header.startsWith('-')) throw replyError(redact(header.slice(1)), 'SYNC', where);
    const length = /^\$(\d+)$/.exec(header)?.[1];
    if (length === undefined) throw brokenOff(where, 'it did not say how long its snapshot is');
    yield* wire.bytes(Number(length));
  } finally {
    socket.destroy();
  }
}

function open({ host, port }: Endpoint, options: ConnectOptions, signal: AbortSignal): Socket {
  const { tls } = options;
  const socket = tls
    ? connectTls({ host, port, ...tls, rejectUnauthorized: tls.insecure !== true })
    : connectPlain({ host, port });
  socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error(`nothing came for ${SILENCE_MS / 1000} s`)));
  // Whoever reads hears of it; an error after the last byte is nobody's business.
  socket.on('error', () => undefined);
  const stop = () => socket.destroy(signal.reason as Error);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', stop));
  return socket;
}

function greeting({ username, password }: ConnectOptions): readonly (readonly string[])[] {
  const auth = password === undefined ? [] : [['AUTH', ...(username === undefined ? [] : [username]), password]];
  return [...auth, ['REPLCONF', 'rdb-only', '1']];
}

function encode(words: readonly string[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${words.length}\r\n${parts.join('')}`;
}

function brokenOff(where: string, why: string): ReeveError {
  return new ReeveError('SNAPSHOT_BROKEN_OFF', `the snapshot of ${where} is not whole: ${why}`, { subjects: [where] });
}

/** Lines, then bytes, from one socket. */
class Wire {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #where: string;
  readonly #usesTls: boolean;
  readonly #redact: Redact;
  #rest: Buffer = Buffer.alloc(0);
  #hasBegun = false;

  constructor(socket: Socket, where: string, usesTls: boolean, redact: Redact) {
    this.#chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    this.#where = where;
    this.#usesTls = usesTls;
    this.#redact = redact;
  }

  async line(): Promise<string> {
    let end = this.#rest.indexOf('\n');
    while (end < 0) {
      this.#rest = Buffer.concat([this.#rest, await this.#next()]);
      end = this.#rest.indexOf('\n');
    }
    const line = this.#rest.subarray(0, end).toString('latin1').replace(/\r$/, '');
    this.#rest = this.#rest.subarray(end + 1);
    return line;
  }

  async *bytes(length: number): AsyncGenerator<Buffer> {
    let left = length;
    while (left > 0) {
      const chunk = this.#rest.length > 0 ? this.#rest : await this.#next();
      this.#rest = chunk.subarray(left);
      const part = chunk.subarray(0, left);
      left -= part.length;
      yield part;
    }
  }

  async #next(): Promise<Buffer> {
    try {
      const next = await this.#chunks.next();
      if (next.done === true) throw brokenOff(this.#where, 'the server closed the connection');
      this.#hasBegun = true;
      return next.value;
    } catch (error) {
      if (error instanceof ReeveError) throw error;
      throw this.#hasBegun
        ? lostError(error, this.#where, this.#redact)
        : connectError(error, this.#usesTls, this.#where, this.#redact);
    }
  }
}
