/**
 * Walks through a snapshot as it comes: key by key, each with its value as bytes that RESTORE takes. Never holds more than one value and
 * the chunks around it. A snapshot that ends early, or whose checksum is wrong, is none.
 */
import { Cursor, NeedMore, unreadable } from './cursor.ts';
import { Crc64 } from './crc64.ts';
import { type Family, skipModuleParts, skipValue } from './values.ts';

export interface SnapshotHeader {
  readonly family: Family;
  /** Of the format. */
  readonly version: number;
}

export interface SnapshotKey {
  readonly item: 'key';
  readonly database: number;
  readonly key: Buffer;
  /** The kind of the value, and the value. */
  readonly value: Buffer;
  readonly expireAt?: number;
}

export type SnapshotItem =
  | (SnapshotHeader & { readonly item: 'header' })
  | SnapshotKey
  | { readonly item: 'library'; readonly code: Buffer };

const MAGIC = /^(REDIS|VALKEY)(\d+)$/;
const MAGIC_BYTES = 9;
const CHECKSUM_BYTES = 8;
const NO_CHECKSUM = Buffer.alloc(CHECKSUM_BYTES);

const SLOT_INFO = 244;
const LIBRARY = 245;
const MODULE_AUX = 247;
const IDLE = 248;
const FREQUENCY = 249;
const AUX = 250;
const SIZES = 251;
const EXPIRES_MS = 252;
const EXPIRES_S = 253;
const SELECT = 254;
const END = 255;
/** Everything from here on says something about the snapshot, and is no kind of value. */
const FIRST_MARK = 243;

/** What RESTORE takes: the value, the version of its format, and a checksum over both. */
export function dumpOf(value: Buffer, version: number): Buffer {
  const footer = Buffer.alloc(2);
  footer.writeUInt16LE(version);
  const crc = new Crc64().update(value).update(footer).bytes();
  return Buffer.concat([value, footer, crc]);
}

/** What one step of the walk found. */
type Step = { readonly item?: SnapshotItem; readonly isEnd?: boolean };

export async function* walkSnapshot(source: AsyncIterable<Buffer>): AsyncGenerator<SnapshotItem> {
  const input = new Input(source);
  const header = await input.step(readHeader);
  yield { item: 'header', ...header };
  const state = { database: 0 };
  for (;;) {
    const { item, isEnd } = await input.step((place) => readStep(place, header, state));
    if (item) yield item;
    if (isEnd) break;
  }
  const sum = input.sum();
  const told = await input.step((place) => place.take(CHECKSUM_BYTES));
  if (!told.equals(NO_CHECKSUM) && !told.equals(sum)) throw unreadable('its checksum is wrong');
  if (!(await input.isOver())) throw unreadable('there is something behind its end');
}

function readHeader(place: Cursor): SnapshotHeader {
  const magic = place.take(MAGIC_BYTES).toString('latin1');
  const [, name, version] = MAGIC.exec(magic) ?? [];
  if (name === undefined) throw unreadable('it does not begin as a snapshot does');
  return { family: name === 'VALKEY' ? 'valkey' : 'redis', version: Number(version) };
}

/** One key with all that is said of it, or one mark. */
function readStep(place: Cursor, { family }: SnapshotHeader, state: { database: number }): Step {
  let expireAt: number | undefined;
  for (;;) {
    const kind = place.byte();
    if (kind === EXPIRES_MS) expireAt = Number(place.take(8).readBigInt64LE());
    else if (kind === EXPIRES_S) expireAt = place.take(4).readInt32LE() * 1_000;
    else if (kind === IDLE) place.length();
    else if (kind === FREQUENCY) place.byte();
    else if (kind >= FIRST_MARK) return readMark(place, kind, state);
    else {
      const key = place.string();
      const from = place.at;
      skipValue(place, kind, family);
      const value = Buffer.concat([Buffer.from([kind]), place.bytes.subarray(from, place.at)]);
      const { database } = state;
      return { item: { item: 'key', database, key, value, ...(expireAt !== undefined && { expireAt }) } };
    }
  }
}

function readMark(place: Cursor, kind: number, state: { database: number }): Step {
  switch (kind) {
    case END:
      return { isEnd: true };
    case SELECT:
      state.database = place.length();
      return {};
    case SIZES:
      place.lengths(2);
      return {};
    case SLOT_INFO:
      place.lengths(3);
      return {};
    case AUX:
      place.skipStrings(2);
      return {};
    case LIBRARY:
      return { item: { item: 'library', code: place.string() } };
    case MODULE_AUX:
      place.lengths(3);
      skipModuleParts(place);
      return {};
    default:
      throw unreadable(`mark ${kind} is not known to this version of Reeve`);
  }
}

/** Bytes that come in chunks, read step by step: a step for which not all is there is taken again with at least twice as much. */
class Input {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #crc = new Crc64();
  #bytes: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  async step<T>(read: (place: Cursor) => T): Promise<T> {
    for (;;) {
      const place = new Cursor(this.#bytes);
      try {
        const result = read(place);
        this.#crc.update(this.#bytes.subarray(0, place.at));
        this.#bytes = this.#bytes.subarray(place.at);
        return result;
      } catch (error) {
        if (!(error instanceof NeedMore)) throw error;
        if (!(await this.#fill())) throw unreadable('it ends too early');
      }
    }
  }

  sum(): Buffer {
    return this.#crc.bytes();
  }

  async isOver(): Promise<boolean> {
    return this.#bytes.length === 0 && !(await this.#fill());
  }

  async #fill(): Promise<boolean> {
    const parts = [this.#bytes];
    let length = this.#bytes.length;
    const wanted = length * 2 + 1;
    while (length < wanted) {
      const next = await this.#chunks.next();
      if (next.done === true) break;
      parts.push(next.value);
      length += next.value.length;
    }
    const hasMore = length > this.#bytes.length;
    this.#bytes = parts.length === 1 ? this.#bytes : Buffer.concat(parts);
    return hasMore;
  }
}
