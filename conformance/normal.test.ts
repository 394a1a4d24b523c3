import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences, fits, judged } from './compare.ts';
import type { Explanation } from './explained.ts';
import { normalised } from './normal.ts';

const NOW = Date.UTC(2026, 5, 1);
const uid = (digit: string): string => `${digit.repeat(8)}-0000-4000-8000-000000000000`;
const made = (resourceVersion: string, more: object = {}) => ({
  metadata: { name: 'a', uid: uid('1'), resourceVersion, creationTimestamp: '2026-06-01T00:00:01Z', ...more },
});
const normal = (...recorded: readonly unknown[]) => normalised(recorded, NOW);

test('uids, versions and times are replaced by what can be compared', () => {
  assert.deepEqual(normal(made('17'), made('9'), { body: `uid ${uid('2')}, then ${uid('1')}` }), [
    { metadata: { name: 'a', uid: 'uid-1', resourceVersion: 'version-2', creationTimestamp: 'time' } },
    { metadata: { name: 'a', uid: 'uid-1', resourceVersion: 'version-1', creationTimestamp: 'time' } },
    { body: 'uid uid-2, then uid-1' },
  ]);
});

test('whether a write made a new version is not lost', () => {
  assert.deepEqual(normal(made('3'), made('4')), normal(made('30'), made('44')));
  assert.notDeepEqual(normal(made('3'), made('3')), normal(made('30'), made('44')));
});

test('a time that a case set itself stays, and so does the precision of others', () => {
  const [value] = normal({ spec: { a: '2020-01-01T00:00:00Z', b: '2026-06-01T10:00:00.000001Z' } });
  assert.deepEqual(value, { spec: { a: '2020-01-01T00:00:00Z', b: 'time with 6 digits' } });
});

test('versions of lists are there or not; their items are numbered', () => {
  const list = { metadata: { resourceVersion: '99', continue: 'abc' }, items: [made('7')] };
  const [value] = normal(list) as [{ metadata: unknown; items: { metadata: { resourceVersion: string } }[] }];
  assert.deepEqual(value.metadata, { resourceVersion: 'a version', continue: 'a token' });
  assert.equal(value.items[0]?.metadata.resourceVersion, 'version-1');
  assert.notDeepEqual(normal(list), normal({ ...list, metadata: { resourceVersion: '' } }));
});

test('a generated name must look like one', () => {
  const named = (name: string) => normal({ metadata: { generateName: 'a-', name } });
  assert.deepEqual(named('a-bcdfg'), named('a-xz245'));
  assert.notDeepEqual(named('a-bcdfg'), named('a-aeiou'));
});

test('several causes have one order, also in the message; a message that misses one is another', () => {
  const cause = (field: string) => ({ field, message: 'Invalid value', reason: 'x' });
  const status = (first: string, second: string, message = `[${first}: Invalid value, ${second}: Invalid value]`) =>
    normal({ message, details: { causes: [cause(first), cause(second)] } });
  assert.deepEqual(status('b', 'a'), status('a', 'b'));
  assert.notDeepEqual(status('b', 'a', '[a: Invalid value]'), status('a', 'b'));
});

test('managed fields are compared without their order, and with everything else', () => {
  const entry = (manager: string, field = 'f:a') => ({ manager, operation: 'Apply', fieldsV1: { [field]: {} } });
  const fields = (...managedFields: readonly object[]) => normal(made('1', { managedFields }));
  assert.deepEqual(fields(entry('x'), entry('y')), fields(entry('y'), entry('x')));
  assert.notDeepEqual(fields(entry('x')), fields(entry('x', 'f:b')));
});

test('differences name their way; a row explains what lies below it and nothing else', () => {
  const found = differences({ a: { b: [1, 2] }, c: 1 }, { a: { b: [1, 3] }, d: 1 });
  assert.deepEqual(
    found.map(({ field }) => field),
    ['a.b.1', 'c', 'd'],
  );
  assert.ok(fits('*.b', 'a.b.1') && fits('a', 'a.b.1') && !fits('a.c', 'a.b.1') && !fits('a.b.1.x', 'a.b.1'));
  const row = (field: string): Explanation => ({ area: '', case: '', field, why: '', kind: 'by design' });
  const rows = [row('a.b'), row('x')];
  const { unexplained, rows: used } = judged(found, rows);
  assert.deepEqual([unexplained.map(({ field }) => field), used], [['c', 'd'], [rows[0]]]);
});
