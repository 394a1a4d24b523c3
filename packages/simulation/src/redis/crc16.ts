/** The hash slot of a key: CRC16 (XMODEM) of the key or of its hash tag, modulo 16384. */
export const SLOT_COUNT = 16384;

const table: Uint16Array = (() => {
  const entries = new Uint16Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    entries[byte] = crc & 0xffff;
  }
  return entries;
})();

/** `key` holds one byte per character (latin1), the form in which the model keeps keys. */
export function slotOfKey(key: string): number {
  let first = 0;
  let last = key.length;
  const open = key.indexOf('{');
  if (open !== -1) {
    const close = key.indexOf('}', open + 1);
    if (close > open + 1) {
      first = open + 1;
      last = close;
    }
  }
  let crc = 0;
  for (let at = first; at < last; at++) {
    crc = ((crc << 8) & 0xffff) ^ (table[((crc >> 8) ^ key.charCodeAt(at)) & 0xff] as number);
  }
  return crc % SLOT_COUNT;
}
