/** A place in the bytes of a snapshot that are there so far, and the parts that all its values are made of. */
import { ReeveError } from '@reeve/runtime';

/** Thrown when what is read reaches beyond what is there: the same is read again when there is more. */
export class NeedMore extends Error {}

export function unreadable(why: string): ReeveError {
  return new ReeveError('SNAPSHOT_UNREADABLE', `the snapshot cannot be read: ${why}`);
}

/** The two highest bits of the first byte of a length. */
const SIX_BITS = 0;
const FOURTEEN_BITS = 1;
const LONG = 2;
const LENGTH_32 = 0x80;
const LENGTH_64 = 0x81;
/** How a string is written that is no plain bytes. */
const INTEGERS: readonly number[] = [1, 2, 4];
const LZF = 3;

export class Cursor {
  readonly bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  take(length: number): Buffer {
    const end = this.at + length;
    if (end > this.bytes.length) throw new NeedMore();
    const taken = this.bytes.subarray(this.at, end);
    this.at = end;
    return taken;
  }

  byte(): number {
    return this.take(1)[0] as number;
  }

  /** Exact up to 2^53; beyond that nothing is counted, only passed over. */
  length(): number {
    const first = this.byte();
    switch (first >> 6) {
      case SIX_BITS:
        return first & 0x3f;
      case FOURTEEN_BITS:
        return ((first & 0x3f) << 8) | this.byte();
      case LONG:
        if (first === LENGTH_32) return this.take(4).readUInt32BE();
        if (first === LENGTH_64) return Number(this.take(8).readBigUInt64BE());
        break;
      default:
    }
    throw unreadable(`${first} is no length`);
  }

  lengths(count: number): void {
    for (let n = 0; n < count; n++) this.length();
  }

  skipString(): void {
    const encoding = this.#encoding();
    if (encoding === undefined) this.take(this.length());
    else if (encoding === LZF) {
      const packed = this.length();
      this.length();
      this.take(packed);
    } else this.take(integerBytes(encoding));
  }

  skipStrings(count: number): void {
    for (let n = 0; n < count; n++) this.skipString();
  }

  string(): Buffer {
    const encoding = this.#encoding();
    if (encoding === undefined) return this.take(this.length());
    if (encoding === LZF) {
      const packed = this.length();
      const length = this.length();
      return unpack(this.take(packed), length);
    }
    const width = integerBytes(encoding);
    return Buffer.from(String(this.take(width).readIntLE(0, width)));
  }

  /** Undefined: plain bytes, and nothing is taken. */
  #encoding(): number | undefined {
    const first = this.byte();
    if (first >> 6 === 3) return first & 0x3f;
    this.at--;
    return undefined;
  }
}

function integerBytes(encoding: number): number {
  const width = INTEGERS[encoding];
  if (width === undefined) throw unreadable(`strings of encoding ${encoding} are not known`);
  return width;
}

/** LZF: runs of plain bytes, and references to what came before. */
function unpack(packed: Buffer, length: number): Buffer {
  const plain = Buffer.alloc(length);
  let from = 0;
  let to = 0;
  while (from < packed.length) {
    const control = packed[from++] as number;
    if (control < 32) {
      to += packed.copy(plain, to, from, from + control + 1);
      from += control + 1;
      continue;
    }
    let count = control >> 5;
    if (count === 7) count += packed[from++] ?? 0;
    let source = to - ((control & 0x1f) << 8) - (packed[from++] ?? 0) - 1;
    if (source < 0) throw unreadable('a packed string refers to what is before it');
    // Byte by byte: a reference may reach into what it makes.
    for (let n = 0; n < count + 2; n++) plain[to++] = plain[source++] as number;
  }
  if (to !== length) throw unreadable(`a packed string has ${to} bytes, not ${length}`);
  return plain;
}
