/** Messages over a connection that has become a WebSocket. Whoever sends faster than is read is made to wait. */
import type { Duplex } from 'node:stream';
import { CLOSE, closePayload, type Frame, FrameReader, frameOf, OPCODE, ProtocolError } from './frames.ts';

export interface MessageSocket {
  /** Ends when the client has closed or is gone. To be read once. */
  readonly messages: AsyncIterable<Buffer>;
  /** Aborts when the client is gone, whether it said so or not. */
  readonly gone: AbortSignal;
  /** Resolves when the connection takes more. Does nothing once it is closed. */
  send(payload: Uint8Array): Promise<void>;
  close(code: number, reason?: string): void;
}

/** What a connection becomes. */
export interface Upgraded {
  /** Agreed upon. */
  readonly protocol: string;
  /** Until it is closed. Does not reject. */
  run(socket: MessageSocket): Promise<void>;
}

/** Bytes of messages that nobody has read yet, before the client is made to wait. */
const MOST_UNREAD = 1 << 20;
const MOST_MESSAGE = 4 << 20;

export class WebSocketConnection implements MessageSocket {
  readonly #stream: Duplex;
  readonly #frames = new FrameReader();
  readonly #gone = new AbortController();
  #parts: Buffer[] = [];
  #partial = 0;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #isEnded = false;
  #isClosing = false;
  #wake: () => void = () => undefined;

  /** @param head what came over the connection before it was handed over */
  constructor(stream: Duplex, head: Uint8Array) {
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    stream.on('error', () => this.#lost());
    stream.on('end', () => this.#lost());
    stream.on('close', () => this.#lost());
    if (head.length > 0) this.#receive(head);
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get messages(): AsyncIterable<Buffer> {
    return this.#read();
  }

  async send(payload: Uint8Array): Promise<void> {
    if (this.#isClosing || this.gone.aborted) return;
    if (this.#stream.write(frameOf(OPCODE.binary, payload))) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stream.once('drain', resolve).once('close', resolve);
    await promise;
    // A connection that is often waited for must not gather who waited.
    this.#stream.removeListener('drain', resolve).removeListener('close', resolve);
  }

  close(code: number, reason = ''): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    if (!this.gone.aborted) this.#stream.end(frameOf(OPCODE.close, closePayload(code, reason)));
    this.#finish();
  }

  async *#read(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const next = this.#unread.shift();
      if (next) {
        this.#unreadBytes -= next.length;
        if (this.#unreadBytes < MOST_UNREAD) this.#stream.resume();
        yield next;
      } else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #receive(chunk: Uint8Array): void {
    if (this.#isEnded) return;
    try {
      for (const frame of this.#frames.push(chunk)) this.#take(frame);
    } catch (error) {
      const code = error instanceof ProtocolError ? error.code : CLOSE.failed;
      this.close(code, error instanceof ProtocolError ? error.message : '');
      this.#gone.abort(error);
    }
  }

  #take({ opcode, isFinal, payload }: Frame): void {
    if (opcode === OPCODE.ping) {
      if (!this.#isClosing) this.#stream.write(frameOf(OPCODE.pong, payload));
      return;
    }
    if (opcode === OPCODE.pong) return;
    if (opcode === OPCODE.close) {
      this.close(CLOSE.normal);
      return this.#lost();
    }
    if ((opcode === OPCODE.continuation) !== this.#parts.length > 0) {
      throw new ProtocolError(CLOSE.protocol, 'a part of a message is out of place');
    }
    this.#parts.push(payload);
    this.#partial += payload.length;
    if (this.#partial > MOST_MESSAGE) throw new ProtocolError(CLOSE.tooLarge, 'the message is too large');
    if (!isFinal) return;
    this.#add(this.#parts.length === 1 ? payload : Buffer.concat(this.#parts));
    this.#parts = [];
    this.#partial = 0;
  }

  #add(message: Buffer): void {
    this.#unread.push(message);
    this.#unreadBytes += message.length;
    if (this.#unreadBytes >= MOST_UNREAD) this.#stream.pause();
    this.#wake();
  }

  #lost(): void {
    this.#finish();
    if (!this.gone.aborted) this.#gone.abort(new Error('the client went away'));
  }

  #finish(): void {
    this.#isEnded = true;
    this.#wake();
  }
}
