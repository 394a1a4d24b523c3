import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Batch } from './journal.ts';
import { batchesIn, batchesLeft, DamagedLog, encodeRecord, PAGE, recordAt, refuseGaps } from './log-record.ts';

const LIFE = Buffer.alloc(16, 7);
const ANOTHER = Buffer.alloc(16, 8);
const NONE = Buffer.alloc(0);

const text = fc.string({ unit: 'binary' });
const plain = { noNullPrototype: true };
const row = fc.record(
  {
    revision: fc.nat(),
    key: fc.record({ resource: text, namespace: text, name: text }, plain),
    deleted: fc.boolean(),
    body: fc.oneof(
      text,
      fc.integer({ min: 0, max: 9_000 }).map((length) => 'ü'.repeat(length)),
    ),
  },
  plain,
);
const batch: fc.Arbitrary<Batch> = fc.record(
  {
    rows: fc.array(row, { maxLength: 4 }),
    garbage: fc.array(fc.nat(), { maxLength: 4 }),
    compacted: fc.nat(),
  },
  plain,
);

const one = (revision: number, body = 'x'): Batch => ({
  rows: [{ revision, key: { resource: 'pods', namespace: 'n', name: `p${revision}` }, deleted: false, body }],
  garbage: [],
  compacted: 0,
});
/** The bytes of a file; `turn` by `turn`, as they lie there. */
const file = (...records: readonly (readonly [turn: number, batch: Batch])[]): Buffer =>
  Buffer.concat(records.map(([turn, written]) => encodeRecord(written, { life: LIFE, turn }, NONE)));
const revisions = (batches: readonly Batch[]) => batches.flatMap(({ rows }) => rows.map(({ revision }) => revision));
const left = (...files: readonly Buffer[]) => revisions(batchesLeft(files, LIFE));

test('a record gives back what was put into it, also from memory that was used before', () => {
  const scratch = Buffer.alloc(64 * 1024, 'old');
  fc.assert(
    fc.property(batch, fc.integer({ min: 1, max: 2 ** 32 - 1 }), (written, turn) => {
      for (const memory of [NONE, scratch]) {
        const bytes = encodeRecord(written, { life: LIFE, turn }, memory);
        assert.equal(bytes.length % PAGE, 0);
        assert.deepEqual(recordAt(bytes, 0, LIFE), { turn, batch: written, size: bytes.length });
        assert.equal(recordAt(bytes, 0, ANOTHER), undefined, 'it is of one life only');
      }
    }),
  );
});

test('wherever a crash cuts the last record, all before it are there and it is not', () => {
  fc.assert(
    fc.property(fc.array(batch, { minLength: 1, maxLength: 5 }), fc.nat(), fc.boolean(), (batches, cut, isZero) => {
      const records = batches.map((written) => encodeRecord(written, { life: LIFE, turn: 3 }, NONE));
      const last = records.at(-1) as Buffer;
      // Pages reach a disk in any order; of the last one nothing counts that lies behind the text.
      const from = cut % (32 + last.readUInt32BE(8));
      const torn = Buffer.from(last);
      torn.fill(isZero ? 0 : 0x55, from, isZero ? undefined : from + 1);
      const isTheSame = torn.equals(last);
      const found = batchesLeft([Buffer.concat([...records.slice(0, -1), torn]), NONE], LIFE);
      assert.deepEqual(found, isTheSame ? batches : batches.slice(0, -1));
    }),
  );
});

test('turns are told apart: what is behind the newest was folded before', () => {
  const five = file([5, one(50)], [5, one(51)], [5, one(52)]);
  const six = file([6, one(53)], [6, one(54)]);
  assert.deepEqual(left(five, six), [50, 51, 52, 53, 54]);
  assert.deepEqual(left(six, five), [50, 51, 52, 53, 54], 'either file may be the newer one');
  const over = Buffer.concat([file([7, one(55)]), five.subarray(PAGE)]);
  assert.deepEqual(left(over, six), [53, 54, 55]);
  const torn = Buffer.concat([Buffer.alloc(PAGE, 1), five.subarray(PAGE)]);
  assert.deepEqual(left(torn, six), [53, 54], 'the first record of a turn was not finished');
  assert.deepEqual(left(NONE, NONE), []);
  assert.deepEqual(batchesLeft([five, six], ANOTHER), []);
});

test('a hole among what was acknowledged is not taken for its end', () => {
  const six = file([6, one(1)], [6, one(2)], [6, one(3)]);
  const holed = Buffer.from(six);
  holed[PAGE + 40] = (holed[PAGE + 40] as number) ^ 1;
  assert.throws(() => left(holed, NONE), DamagedLog);
  const beheaded = Buffer.concat([Buffer.alloc(PAGE), six.subarray(PAGE)]);
  assert.throws(() => left(beheaded, NONE), DamagedLog);
  assert.throws(() => left(beheaded, file([5, one(0)])), DamagedLog);
  assert.throws(() => batchesIn(holed, { life: LIFE, turn: 6 }), DamagedLog);
  assert.throws(() => batchesIn(six, { life: LIFE, turn: 5 }), DamagedLog);
  assert.throws(() => batchesIn(six.subarray(0, 2 * PAGE + 8), { life: LIFE, turn: 6 }), DamagedLog);
  assert.deepEqual(revisions(batchesIn(six, { life: LIFE, turn: 6 })), [1, 2, 3]);
});

test('revisions follow each other, and the first follows what the database has', () => {
  const rows: readonly [revisions: readonly number[], last: number, isFine: boolean][] = [
    [[], 5, true],
    [[6, 7], 5, true],
    [[4, 5, 6], 5, true],
    [[7], 5, false],
    [[5, 7], 5, false],
    [[6, 6], 5, false],
  ];
  for (const [given, last, isFine] of rows) {
    const check = () =>
      refuseGaps(
        given.map((revision) => one(revision)),
        last,
      );
    if (isFine) check();
    else assert.throws(check, DamagedLog, given.join());
  }
});

test('a record begins with a byte that is in no text: what an object says cannot look like one', () => {
  const [first = 0] = encodeRecord(one(9), { life: LIFE, turn: 9 }, NONE);
  assert.ok(first >= 0xf8, 'UTF-8 has none of these');
});
