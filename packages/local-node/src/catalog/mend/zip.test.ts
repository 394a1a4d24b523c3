import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { changeInZip, ZipProblem } from './zip.ts';

interface File {
  readonly name: string;
  readonly content: Buffer;
  readonly isPacked: boolean;
  /** Sums behind the content, as programs write that do not know them before. */
  readonly isStreamed: boolean;
}

const SIGNATURE = { local: 0x04034b50, behind: 0x08074b50, central: 0x02014b50, end: 0x06054b50 };

/** Fields of two or four bytes, one after the other. */
function fields(...values: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer {
  const out = Buffer.alloc(values.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of values) {
    out.writeUIntLE(value, at, bytes);
    at += bytes;
  }
  return out;
}

/** An archive as other programs write them. */
function zip(files: readonly File[], comment = ''): Buffer {
  const bodies: Buffer[] = [];
  const table: Buffer[] = [];
  let at = 0;
  for (const { name, content, isPacked, isStreamed } of files) {
    const packed = isPacked ? deflateRawSync(content) : content;
    const sums = [
      [4, crc32(content)],
      [4, packed.length],
      [4, content.length],
    ] as const;
    const none = sums.map(([bytes]) => [bytes, 0] as const);
    const kind = [
      [2, isStreamed ? 8 : 0],
      [2, isPacked ? 8 : 0],
      [4, 0x5a5a5a5a],
    ] as const;
    const extra = Buffer.from('extra');
    const sizes = [
      [2, name.length],
      [2, extra.length],
    ] as const;
    const body = Buffer.concat([
      fields([4, SIGNATURE.local], [2, 20], ...kind, ...(isStreamed ? none : sums), ...sizes),
      Buffer.from(name),
      extra,
      packed,
      isStreamed ? fields([4, SIGNATURE.behind], ...sums) : Buffer.alloc(0),
    ]);
    const rest = [
      [2, 3],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, at],
    ] as const;
    table.push(
      fields([4, SIGNATURE.central], [2, 20], [2, 20], ...kind, ...sums, ...sizes, ...rest),
      Buffer.from(`${name}extrapsi`),
    );
    bodies.push(body);
    at += body.length;
  }
  const central = Buffer.concat(table);
  const end = fields(
    [4, SIGNATURE.end],
    [2, 0],
    [2, 0],
    [2, files.length],
    [2, files.length],
    [4, central.length],
    [4, at],
    [2, comment.length],
  );
  return Buffer.concat([...bodies, central, end, Buffer.from(comment)]);
}

/** By its table of contents, as programs read. */
function unzip(bytes: Buffer): Readonly<Record<string, string>> {
  const end = bytes.lastIndexOf(fields([4, SIGNATURE.end]));
  const found: Record<string, string> = {};
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    assert.equal(bytes.readUInt32LE(at), SIGNATURE.central);
    const name = bytes.toString('utf8', at + 46, at + 46 + bytes.readUInt16LE(at + 28));
    const local = bytes.readUInt32LE(at + 42);
    assert.equal(bytes.readUInt32LE(local), SIGNATURE.local);
    const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const packed = bytes.subarray(from, from + bytes.readUInt32LE(at + 20));
    const content = bytes.readUInt16LE(at + 10) === 8 ? inflateRawSync(packed) : packed;
    assert.equal(crc32(content), bytes.readUInt32LE(at + 16));
    assert.equal(content.length, bytes.readUInt32LE(at + 24));
    found[name] = content.toString('latin1');
    at += 46 + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  assert.equal(at, end, 'the table of contents ends where the archive does');
  return found;
}

const files = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[a-z/]{1,12}$/),
    content: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    isPacked: fc.boolean(),
    isStreamed: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6, selector: ({ name }) => name },
);

test('in any archive one file is changed, and all others are what they were', () => {
  fc.assert(
    fc.property(files, fc.nat(), fc.uint8Array({ maxLength: 300 }), fc.string(), (all, pick, after, comment) => {
      const chosen = all[pick % all.length] as File;
      const archive = zip(
        all,
        Buffer.from(comment)
          .toString('latin1')
          .replaceAll(/[^ -~]/g, '-'),
      );
      const changed = changeInZip(archive, chosen.name, (before) => {
        assert.deepEqual(before, chosen.content);
        return after;
      });
      const expected = Object.fromEntries(all.map(({ name, content }) => [name, content.toString('latin1')]));
      assert.deepEqual(unzip(changed), { ...expected, [chosen.name]: Buffer.from(after).toString('latin1') });
    }),
  );
});

test('what is no archive, is damaged, or has no such file is refused', () => {
  const good = zip([{ name: 'a', content: Buffer.from('hello hello'), isPacked: false, isStreamed: false }]);
  const same = (content: Buffer) => content;
  assert.throws(() => changeInZip(Buffer.from('hello'), 'a', same), ZipProblem);
  assert.throws(() => changeInZip(good, 'b', same), /there is no b in it/);
  const damaged = Buffer.from(good);
  damaged.write('J', 36);
  assert.throws(() => changeInZip(damaged, 'a', same), /a is damaged/);
});
