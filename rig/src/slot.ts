/** The hash slot of a key, after the cluster specification: CRC16 (XMODEM) of the hash tag or the whole key, modulo 16384. */

const TABLE = new Uint16Array(256);
for (let byte = 0; byte < 256; byte++) {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  TABLE[byte] = crc & 0xffff;
}

export function keySlot(key: string | Buffer): number {
  const bytes = typeof key === 'string' ? Buffer.from(key) : key;
  let hashed = bytes;
  const open = bytes.indexOf(0x7b);
  if (open >= 0) {
    const close = bytes.indexOf(0x7d, open + 1);
    if (close > open + 1) hashed = bytes.subarray(open + 1, close);
  }
  let crc = 0;
  for (const byte of hashed) crc = ((crc << 8) & 0xffff) ^ (TABLE[((crc >> 8) ^ byte) & 0xff] as number);
  return crc & 16383;
}

/** A hash tag that lies in the given slot: keys `…{tag}…` go there. */
export function tagForSlot(slot: number): string {
  for (let number = 0; ; number++) {
    const tag = `t${number.toString(36)}`;
    if (keySlot(tag) === slot) return tag;
  }
}
