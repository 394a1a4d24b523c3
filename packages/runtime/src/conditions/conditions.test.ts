import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionOf, microTimestamp, setCondition, setConditions, timestamp, withoutCondition } from './conditions.ts';

const ready = { type: 'Ready', status: 'False', reason: 'Syncing', message: '', observedGeneration: 1 } as const;

test('lastTransitionTime moves only when the status does', () => {
  const first = setCondition(undefined, ready, 1_000);
  assert.equal(first[0]?.lastTransitionTime, '1970-01-01T00:00:01Z');
  const other = setCondition(first, { ...ready, reason: 'Waiting', message: 'for b' }, 60_000);
  assert.equal(other[0]?.lastTransitionTime, '1970-01-01T00:00:01Z');
  assert.equal(other[0]?.reason, 'Waiting');
  const now = setCondition(other, { ...ready, status: 'True' }, 60_000);
  assert.equal(now[0]?.lastTransitionTime, '1970-01-01T00:01:00Z');
});

test('the same again is the same array, so that nothing is written', () => {
  const first = setCondition([], ready, 1_000);
  assert.equal(setCondition(first, { ...ready }, 99_000), first);
  assert.notEqual(setCondition(first, { ...ready, observedGeneration: 2 }, 99_000), first);
  assert.equal(withoutCondition(first, 'Other'), first);
});

test('what was judged of an older generation does not overwrite what was judged of a newer', () => {
  const first = setCondition([], { ...ready, observedGeneration: 5 }, 1_000);
  assert.equal(setCondition(first, { ...ready, status: 'True', observedGeneration: 4 }, 2_000), first);
});

test('others keep their place and their values', () => {
  const theirs = { ...ready, type: 'Theirs', lastTransitionTime: 'then' };
  const all = setConditions([theirs], [ready, { ...ready, type: 'Last' }], 0);
  assert.deepEqual(
    all.map(({ type }) => type),
    ['Theirs', 'Ready', 'Last'],
  );
  assert.equal(all[0], theirs);
  assert.equal(conditionOf(all, 'Ready')?.reason, 'Syncing');
  assert.deepEqual(
    withoutCondition(all, 'Ready').map(({ type }) => type),
    ['Theirs', 'Last'],
  );
});

test('times are written as Kubernetes writes them', () => {
  assert.equal(timestamp(1_500), '1970-01-01T00:00:01Z');
  assert.equal(microTimestamp(1_500), '1970-01-01T00:00:01.500000Z');
});
