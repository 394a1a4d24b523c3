/** The checksum that servers put behind snapshots and dumps: CRC-64 with Jones' polynomial, reflected. In two halves of 32 bits. */

interface Table {
  readonly low: Uint32Array;
  readonly high: Uint32Array;
}

/** 0xad93d23594c935a9, its bits in reverse order. */
const POLYNOMIAL = { low: 0xac4bc9b5, high: 0x95ac9329 } as const;

function tableOf(): Table {
  const low = new Uint32Array(256);
  const high = new Uint32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let l = byte;
    let h = 0;
    for (let bit = 0; bit < 8; bit++) {
      const isSet = (l & 1) === 1;
      l = ((l >>> 1) | ((h & 1) << 31)) >>> 0;
      h >>>= 1;
      if (isSet) {
        l = (l ^ POLYNOMIAL.low) >>> 0;
        h = (h ^ POLYNOMIAL.high) >>> 0;
      }
    }
    low[byte] = l;
    high[byte] = h;
  }
  return { low, high };
}

const TABLE = tableOf();

export class Crc64 {
  #low = 0;
  #high = 0;

  update(bytes: Uint8Array): this {
    const { low, high } = TABLE;
    let l = this.#low;
    let h = this.#high;
    for (let at = 0; at < bytes.length; at++) {
      const index = (l ^ (bytes[at] as number)) & 0xff;
      l = ((l >>> 8) | (h << 24)) ^ (low[index] as number);
      h = (h >>> 8) ^ (high[index] as number);
    }
    this.#low = l >>> 0;
    this.#high = h >>> 0;
    return this;
  }

  /** As servers write it: eight bytes, the lowest first. */
  bytes(): Buffer {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt32LE(this.#low, 0);
    bytes.writeUInt32LE(this.#high, 4);
    return bytes;
  }
}
