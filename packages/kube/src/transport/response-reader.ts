/**
 * Reads one HTTP/1.1 answer out of its bytes (RFC 9112), however they are cut. For streams, which have a connection of their own: a
 * general library costs twice what the rest of a watch does, and what can go wrong between two answers cannot happen here.
 */
export interface ResponseHead {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

const LINE_FEED = 10;
const MOST_HEAD = 64 * 1024;
const MOST_SIZE_LINE = 1024;

/** `gap`: the end of line behind the data of a chunk. `open`: up to the end of the connection. */
type Part = 'head' | 'size' | 'data' | 'gap' | 'trailer' | 'counted' | 'open' | 'done';

export class ResponseReader {
  #part: Part = 'head';
  #head: ResponseHead | undefined;
  /** The beginning of a line whose end has not come yet. */
  #line = '';
  #lines: string[] = [];
  /** The bytes of all lines of this part. */
  #size = 0;
  /** The bytes that are left of a chunk, or of a body of known length. */
  #left = 0;

  /** Set when it has been read. */
  get head(): ResponseHead | undefined {
    return this.#head;
  }

  /** Nothing more belongs to the answer. */
  get isDone(): boolean {
    return this.#part === 'done';
  }

  /** Whether the answer is whole if the connection ends here. */
  get mayEnd(): boolean {
    return this.#part === 'done' || this.#part === 'open';
  }

  /** Takes bytes in; those of the body are told as views of them. @throws what is no HTTP/1.1. */
  read(bytes: Buffer, tell: (piece: Buffer) => void): void {
    let at = 0;
    while (at < bytes.length && this.#part !== 'done') {
      if (this.#part === 'open') {
        tell(at === 0 ? bytes : bytes.subarray(at));
        return;
      }
      at = this.#part === 'data' || this.#part === 'counted' ? this.#readData(bytes, at, tell) : this.#read(bytes, at);
    }
  }

  #readData(bytes: Buffer, at: number, tell: (piece: Buffer) => void): number {
    const to = Math.min(bytes.length, at + this.#left);
    tell(bytes.subarray(at, to));
    this.#left -= to - at;
    if (this.#left === 0) this.#part = this.#part === 'data' ? 'gap' : 'done';
    return to;
  }

  #read(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(LINE_FEED, at);
    const to = end < 0 ? bytes.length : end;
    this.#line += bytes.toString('latin1', at, to);
    this.#size += to - at + 1;
    if (this.#size > (this.#part === 'size' ? MOST_SIZE_LINE : MOST_HEAD)) throw new Error('a head that is too long');
    if (end < 0) return to;
    if (!this.#line.endsWith('\r')) throw new Error('a line that ends without a carriage return');
    const line = this.#line.slice(0, -1);
    this.#line = '';
    this.#takeLine(line);
    return end + 1;
  }

  #takeLine(line: string): void {
    switch (this.#part) {
      case 'size':
        this.#left = chunkSize(line);
        this.#begin(this.#left === 0 ? 'trailer' : 'data');
        break;
      case 'gap':
        if (line !== '') throw new Error('a chunk that is longer than it said');
        this.#begin('size');
        break;
      case 'trailer':
        if (line === '') this.#begin('done');
        break;
      default:
        if (line !== '') this.#lines.push(line);
        else this.#takeHead();
    }
  }

  #begin(part: Part): void {
    this.#part = part;
    this.#size = 0;
  }

  #takeHead(): void {
    const head = readHead(this.#lines);
    this.#lines = [];
    // Another one follows.
    if (head.status < 200) return this.#begin('head');
    this.#head = head;
    const { part, length } = bodyOf(head);
    this.#left = length;
    this.#begin(part);
  }
}

export function isFieldName(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

function readHead([first = '', ...lines]: readonly string[]): ResponseHead {
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1];
  if (status === undefined || status === '101') throw new Error('an answer that is no HTTP/1.1');
  const headers = Object.create(null) as Record<string, string>;
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!isFieldName(name)) throw new Error('a head with a line that is no field');
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { status: Number(status), headers };
}

function bodyOf({ status, headers }: ResponseHead): { readonly part: Part; readonly length: number } {
  if (status === 204 || status === 304) return { part: 'done', length: 0 };
  const coding = headers['transfer-encoding'];
  if (coding?.toLowerCase() === 'chunked') return { part: 'size', length: 0 };
  if (coding !== undefined) throw new Error(`a body in an encoding that was not asked for: ${coding}`);
  const length = headers['content-length'];
  if (length === undefined) return { part: 'open', length: 0 };
  if (!/^\d{1,15}$/.test(length)) throw new Error('a length that is no number');
  return { part: Number(length) === 0 ? 'done' : 'counted', length: Number(length) };
}

/** What follows a semicolon is an extension; nobody has any. */
function chunkSize(line: string): number {
  const digits = /^([\da-f]{1,12})[ \t]*(?:;|$)/i.exec(line)?.[1];
  if (digits === undefined) throw new Error('a chunk whose size is no number');
  return Number.parseInt(digits, 16);
}
