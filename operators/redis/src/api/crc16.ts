/** The hash slot of a key, as every cluster server computes it: CRC16/XMODEM of the key or of its hash tag, modulo 16384. */
import { SLOT_COUNT } from './slots.ts';

const POLYNOMIAL = 0x1021;

function makeTable(): Uint16Array {
  const table = new Uint16Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let remainder = byte << 8;
    for (let bit = 0; bit < 8; bit++) {
      remainder = remainder & 0x8000 ? (remainder << 1) ^ POLYNOMIAL : remainder << 1;
    }
    table[byte] = remainder;
  }
  return table;
}

const TABLE = makeTable();

export function crc16(bytes: Uint8Array, from = 0, to = bytes.length): number {
  let crc = 0;
  for (let index = from; index < to; index++) {
    crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ (bytes[index] as number)] as number);
  }
  return crc;
}

const OPEN = 0x7b; // {
const CLOSE = 0x7d; // }

/** Only what stands between the first `{` and the next `}` counts, if there is anything between them. */
export function slotOfKey(key: string | Buffer): number {
  const bytes = typeof key === 'string' ? Buffer.from(key) : key;
  const open = bytes.indexOf(OPEN);
  const close = open < 0 ? -1 : bytes.indexOf(CLOSE, open + 1);
  const crc = close > open + 1 ? crc16(bytes, open + 1, close) : crc16(bytes);
  return crc % SLOT_COUNT;
}
