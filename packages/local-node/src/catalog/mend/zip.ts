/**
 * One file of a zip archive changed, everything else kept as it is, byte for byte. For archives as jars are: on one disk, smaller than
 * 4 GB, no entry encrypted. Anything else is refused.
 */
import { crc32, inflateRawSync } from 'node:zlib';

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
const MOST_COMMENT = 0xffff;
const STORED = 0;
const DEFLATED = 8;
/** Bits of an entry's flags: encrypted; its sums stand behind its content. */
const ENCRYPTED = 1;
const SUMS_BEHIND = 8;
/** What stands in a field whose value is in a longer one elsewhere. */
const ELSEWHERE = 0xffffffff;

export class ZipProblem extends Error {}

interface Entry {
  /** Its place in the table of contents, and that of its header. */
  readonly central: number;
  readonly local: number;
  readonly name: string;
}

/**
 * The archive with another content of that file.
 * @param change gets what the file holds
 */
export function changeInZip(archive: Uint8Array, name: string, change: (content: Buffer) => Uint8Array): Buffer {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = endOf(bytes);
  const entries = entriesOf(bytes, end);
  const entry = entries.find((one) => one.name === name);
  if (!entry) throw new ZipProblem(`there is no ${name} in it`);
  const { from, to } = extentOf(bytes, entry, entries, end);
  const replacement = storedEntry(bytes, entry, change(contentOf(bytes, entry)));
  const shift = replacement.length - (to - from);
  const table = bytes.readUInt32LE(end + 16);
  const moved = Buffer.from(bytes.subarray(table));
  for (const { central, local } of entries) {
    if (local > from) moved.writeUInt32LE(local + shift, central - table + 42);
  }
  describe(moved, entry.central - table, replacement);
  moved.writeUInt32LE(table + shift, end - table + 16);
  return Buffer.concat([bytes.subarray(0, from), replacement, bytes.subarray(to, table), moved]);
}

/** Where the record is that ends an archive: a comment of any length may follow it. */
function endOf(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_BYTES - MOST_COMMENT);
  for (let at = bytes.length - END_BYTES; at >= first; at--) {
    if (bytes.readUInt32LE(at) === END && at + END_BYTES + bytes.readUInt16LE(at + 20) === bytes.length) return at;
  }
  throw new ZipProblem('it is no zip archive');
}

function entriesOf(bytes: Buffer, end: number): readonly Entry[] {
  const entries: Entry[] = [];
  const table = bytes.readUInt32LE(end + 16);
  if (table === ELSEWHERE) throw new ZipProblem('it is of the form for more than 4 GB');
  let at = table;
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    if (at + CENTRAL_BYTES > end || bytes.readUInt32LE(at) !== CENTRAL) throw new ZipProblem('it is damaged');
    const nameBytes = bytes.readUInt16LE(at + 28);
    const name = bytes.toString('utf8', at + CENTRAL_BYTES, at + CENTRAL_BYTES + nameBytes);
    const local = bytes.readUInt32LE(at + 42);
    if (local === ELSEWHERE) throw new ZipProblem('it is of the form for more than 4 GB');
    if (local + LOCAL_BYTES > table || bytes.readUInt32LE(local) !== LOCAL) throw new ZipProblem('it is damaged');
    entries.push({ central: at, local, name });
    // Behind the name stand what programs add, and a comment.
    at += CENTRAL_BYTES + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

/** From its header to the next one, with whatever stands behind its content. */
function extentOf(bytes: Buffer, { local }: Entry, entries: readonly Entry[], end: number) {
  const later = entries.map((one) => one.local).filter((at) => at > local);
  return { from: local, to: Math.min(bytes.readUInt32LE(end + 16), ...later) };
}

function contentOf(bytes: Buffer, { central, local, name }: Entry): Buffer {
  if ((bytes.readUInt16LE(central + 8) & ENCRYPTED) !== 0) throw new ZipProblem(`${name} is encrypted`);
  const method = bytes.readUInt16LE(central + 10);
  const from = local + LOCAL_BYTES + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
  const packed = bytes.subarray(from, from + bytes.readUInt32LE(central + 20));
  if (method !== STORED && method !== DEFLATED) throw new ZipProblem(`${name} is packed in a way that is not known`);
  const content = method === STORED ? packed : inflateRawSync(packed);
  if (crc32(content) !== bytes.readUInt32LE(central + 16)) throw new ZipProblem(`${name} is damaged`);
  return content;
}

/** Header and content, not packed: it is small, or it would not be changed by hand. */
function storedEntry(bytes: Buffer, { local, name }: Entry, content: Uint8Array): Buffer {
  const header = Buffer.from(bytes.subarray(local, local + LOCAL_BYTES));
  header.writeUInt16LE(header.readUInt16LE(6) & ~SUMS_BEHIND, 6);
  header.writeUInt16LE(STORED, 8);
  header.writeUInt32LE(crc32(content), 14);
  header.writeUInt32LE(content.length, 18);
  header.writeUInt32LE(content.length, 22);
  header.writeUInt16LE(0, 28);
  return Buffer.concat([header, Buffer.from(name), content]);
}

/** The same in the table of contents. */
function describe(table: Buffer, at: number, entry: Buffer): void {
  for (const [from, to, count] of [
    [6, 8, 4],
    [14, 16, 12],
  ] as const) {
    entry.copy(table, at + to, from, from + count);
  }
}
