/** A bare connection for loading data and for the measuring client: as little of its own in the figures as possible. */
import { connect, type Socket } from 'node:net';

type Waiting = (reply: WireReply) => void;
export type WireReply = string | number | null | Error | WireReply[];

export class Wire {
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  #head = 0;
  #out: string[] = [];
  #buffer: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(host: string, port: number) {
    this.#socket = connect({ host, port, noDelay: true });
    this.#socket.on('data', (data) => this.#receive(data));
    this.#socket.on('error', () => this.#fail());
    this.#socket.on('close', () => this.#fail());
  }

  /** An error reply, and a lost connection, resolve with an Error: the caller decides what it means. */
  call(args: readonly string[]): Promise<WireReply> {
    return new Promise((resolve) => this.send(args, resolve));
  }

  send(args: readonly string[], then: Waiting): void {
    this.#waiting.push(then);
    let text = `*${args.length}\r\n`;
    for (const arg of args) text += `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`;
    this.#out.push(text);
    if (this.#out.length === 1) queueMicrotask(() => this.#flush());
  }

  close(): void {
    this.#socket.destroy();
  }

  #flush(): void {
    const text = this.#out.join('');
    this.#out = [];
    this.#socket.write(text);
  }

  #fail(): void {
    while (this.#head < this.#waiting.length) this.#next(new Error('connection lost'));
  }

  #next(reply: WireReply): void {
    const then = this.#waiting[this.#head++] as Waiting;
    if (this.#head > 10_000) {
      this.#waiting.splice(0, this.#head);
      this.#head = 0;
    }
    then(reply);
  }

  #receive(data: Buffer): void {
    this.#buffer = this.#at < this.#buffer.length ? Buffer.concat([this.#buffer.subarray(this.#at), data]) : data;
    this.#at = 0;
    while (this.#head < this.#waiting.length) {
      const from = this.#at;
      const reply = this.#parse();
      if (reply === undefined) {
        this.#at = from;
        return;
      }
      this.#next(reply);
    }
  }

  #parse(): WireReply | undefined {
    const end = this.#buffer.indexOf('\r\n', this.#at, 'latin1');
    if (end < 0) return undefined;
    const kind = this.#buffer[this.#at];
    const line = this.#buffer.toString('latin1', this.#at + 1, end);
    this.#at = end + 2;
    if (kind === 0x2b) return line;
    if (kind === 0x2d) return new Error(line);
    if (kind === 0x3a) return Number(line);
    const length = Number(line);
    if (length < 0) return null;
    if (kind === 0x24) {
      if (this.#at + length + 2 > this.#buffer.length) return undefined;
      const text = this.#buffer.toString('utf8', this.#at, this.#at + length);
      this.#at += length + 2;
      return text;
    }
    const items: WireReply[] = [];
    for (let index = 0; index < length; index++) {
      const item = this.#parse();
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  }
}
