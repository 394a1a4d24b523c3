/**
 * One client that creates, on a connection of its own, one request after the other. Node's own client takes as long for a request as the
 * faster of the measured servers does for its answer; this one writes the bytes and waits for the end of the answer.
 */
import { readFileSync } from 'node:fs';
import { connect, type TLSSocket } from 'node:tls';
import type { Access } from './wire.ts';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const END_OF_CHUNKS = Buffer.from('\r\n0\r\n\r\n');

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export class Creator implements Disposable {
  readonly #socket: TLSSocket;
  readonly #host: string;
  #waiting: Waiting | undefined;
  #received: Buffer[] = [];

  static open({ url, caFile, certFile, keyFile }: Access): Promise<Creator> {
    const { hostname, port, host } = new URL(url);
    const tls = { ca: readFileSync(caFile), cert: readFileSync(certFile), key: readFileSync(keyFile) };
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), ...tls }, () => resolve(new Creator(socket, host)));
      socket.once('error', reject);
    });
  }

  private constructor(socket: TLSSocket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => this.#hear(bytes));
    socket.on('error', (error: Error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('the server closed the connection')));
  }

  /** Resolves when the answer is whole, and says that it is created. */
  create(path: string, body: string): Promise<void> {
    const head = `POST ${path} HTTP/1.1\r\nhost: ${this.#host}\r\naccept: application/json\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(head + body);
    });
  }

  #hear(bytes: Buffer): void {
    this.#received.push(bytes);
    const all = this.#received.length === 1 ? bytes : Buffer.concat(this.#received);
    this.#received = [all];
    if (!isWhole(all)) return;
    this.#received = [];
    const waiting = this.#waiting;
    this.#waiting = undefined;
    const status = all.toString('latin1', 9, 12);
    if (status === '201') waiting?.resolve();
    else waiting?.reject(new Error(`a create was answered with ${all.toString('utf8', 0, 400)}`));
  }

  [Symbol.dispose](): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }
}

/** One answer is awaited at a time, so what has arrived is a part of it, or all of it. */
function isWhole(bytes: Buffer): boolean {
  const headEnd = bytes.indexOf(END_OF_HEAD);
  if (headEnd < 0) return false;
  const head = bytes.toString('latin1', 0, headEnd).toLowerCase();
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
  if (length !== undefined) return bytes.length >= headEnd + END_OF_HEAD.length + Number(length);
  return bytes.subarray(-END_OF_CHUNKS.length).equals(END_OF_CHUNKS);
}
