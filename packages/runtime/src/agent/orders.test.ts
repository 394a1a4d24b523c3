import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { done, type DoneCheck, failed, type Outcome } from '../command/command.ts';
import { order } from './agent-testing.ts';
import type { Member, Order, OrderResult } from './member.ts';
import { type AgentMemory, commandOf, isOnlyProgress, judgeOrders, orderKey } from './orders.ts';

const member = (orders: readonly Order[], results: readonly OrderResult[] = [], highestLease = 0): Member => ({
  metadata: { name: 'pod-0' },
  spec: { system: 'test', endpoint: { host: 'a', port: 1 }, host: 'a', orders },
  status: { results, highestLease },
});
const memory = (more: Partial<AgentMemory> = {}): AgentMemory => ({
  life: 'me',
  begun: new Set(),
  progress: new Map(),
  ended: new Map(),
  checked: new Map(),
  ...more,
});
const result = (id: string, more: Partial<OrderResult> = {}): OrderResult => ({
  id,
  attempt: 1,
  phase: 'Started',
  by: 'me',
  ...more,
});
const keys = (orders: readonly Order[]) => orders.map(orderKey);

test('a new order is recorded and begun; one that is cancelled before is only recorded', () => {
  const turn = judgeOrders(member([order('a'), order('b', { cancel: true })]), memory());
  assert.deepEqual(turn.results, [
    result('a'),
    result('b', { phase: 'Cancelled', message: 'cancelled before it began' }),
  ]);
  assert.deepEqual(keys(turn.begin), ['1:a']);
});

test('two attempts of one order never run side by side', () => {
  const world = member([order('a', { attempt: 2 })], [result('a')]);
  const running = judgeOrders(world, memory({ begun: new Set(['1:a']) }));
  assert.deepEqual([running.stop, running.begin, running.results], [['1:a'], [], [result('a')]]);
  const still = memory({ begun: new Set(['1:a']), ended: new Map([['1:a', failed('STOPPED', '')]]) });
  const next = judgeOrders(world, still);
  assert.deepEqual([next.stop, keys(next.begin), next.results], [[], ['2:a'], [result('a', { attempt: 2 })]]);
});

test('what was taken away is stopped, kept until it is still, and then forgotten', () => {
  const world = member([], [result('a'), result('b', { phase: 'Done' })]);
  const running = judgeOrders(world, memory({ begun: new Set(['1:a']) }));
  assert.deepEqual([running.stop, running.results], [['1:a'], [result('a')]]);
  const still = memory({ begun: new Set(['1:a']), ended: new Map([['1:a', done]]) });
  assert.deepEqual(judgeOrders(world, still).results, []);
});

test('what this life recorded and did not begin is begun; what another life began is asked about', () => {
  const world = member([order('a'), order('b')], [result('a'), result('b', { by: 'another' })]);
  const turn = judgeOrders(world, memory());
  assert.deepEqual([keys(turn.begin), keys(turn.check)], [['1:a'], ['1:b']]);
  assert.deepEqual(turn.results, world.status?.results, 'nothing to write yet');
  const cancelled = member([order('a', { cancel: true })], [result('a')]);
  const turned = judgeOrders(cancelled, memory());
  assert.deepEqual([turned.begin, turned.results[0]?.phase], [[], 'Cancelled']);
  for (const [check, phase] of Object.entries({ done: 'Done', 'not-done': 'NotDone', unknown: 'Unknown' })) {
    const answered = judgeOrders(world, memory({ checked: new Map([['1:b', check as DoneCheck]]) }));
    assert.deepEqual([answered.results[1]?.phase, answered.check], [phase, []]);
  }
});

test('how it ended is in the result, in short', () => {
  const ends: readonly [Outcome, Partial<OrderResult>][] = [
    [done, { phase: 'Done' }],
    [
      { status: 'stale', message: 'x'.repeat(600) },
      { phase: 'Stale', message: `${'x'.repeat(511)}…` },
    ],
    [failed('DISK_FULL', 'no'), { phase: 'Failed', code: 'DISK_FULL', message: 'no' }],
    [failed('ORDER_CANCELLED', 'no'), { phase: 'Cancelled', code: 'ORDER_CANCELLED', message: 'no' }],
  ];
  for (const [outcome, expected] of ends) {
    const known = memory({ begun: new Set(['1:a']), ended: new Map([['1:a', outcome]]) });
    assert.deepEqual(judgeOrders(member([order('a')], [result('a')]), known).results, [result('a', expected)]);
  }
});

test('progress is written as the schema takes it', () => {
  const progress = { done: 1.4, total: Number.NaN, unit: 'u'.repeat(40), note: 'n'.repeat(300) };
  const known = memory({ begun: new Set(['1:a']), progress: new Map([['1:a', progress]]) });
  const [written] = judgeOrders(member([order('a')], [result('a')]), known).results;
  assert.deepEqual(written?.progress, { done: 1, total: 0, unit: `${'u'.repeat(31)}…`, note: `${'n'.repeat(255)}…` });
});

test('an order is a command and back', () => {
  assert.deepEqual(commandOf(order('a')), { type: 'say', word: 'a', why: 'test' });
  assert.deepEqual(commandOf(order('a', { arguments: { type: 'evil' } })), { type: 'say', why: 'ordered' });
});

test('progress alone can wait, everything else cannot', () => {
  const progress = { done: 1, total: 2, unit: 'x' };
  const before = { results: [result('a')] };
  assert.ok(isOnlyProgress(before, { results: [result('a', { progress })] }));
  assert.ok(!isOnlyProgress(before, { results: [result('a', { phase: 'Done', progress })] }));
  assert.ok(!isOnlyProgress(before, { ...before, observedGeneration: 2 }));
});

test('whatever the orders, results and memory are: nothing is begun twice, and an end is final', () => {
  const ids = fc.constantFrom('a', 'b', 'c');
  const attempt = fc.constantFrom(1, 2);
  const anyOrder = fc.record({ id: ids, attempt, lease: fc.constantFrom(1, 2), cancel: fc.boolean() });
  const anyResult = fc.record({
    id: ids,
    attempt,
    phase: fc.constantFrom('Started', 'Done', 'Failed', 'Unknown'),
    by: fc.constantFrom('me', 'another'),
  });
  const key = fc.tuple(attempt, ids).map(([number, id]) => `${number}:${id}`);
  const unique = <T extends { id: string }>(of: fc.Arbitrary<T>) =>
    fc.uniqueArray(of, { selector: ({ id }) => id, maxLength: 3 });
  fc.assert(
    fc.property(
      unique(anyOrder),
      unique(anyResult),
      fc.uniqueArray(key),
      fc.uniqueArray(key),
      (orders, results, begun, ended) => {
        const known = memory({
          begun: new Set(begun),
          ended: new Map(ended.filter((one) => begun.includes(one)).map((one) => [one, done])),
        });
        const world = member(
          orders.map(({ id, ...more }) => order(id, more)),
          results.map(({ id, ...more }) => result(id, more)),
          1,
        );
        const turn = judgeOrders(world, known);
        for (const one of turn.begin) {
          assert.ok(!turn.results.some((other) => other.id === one.id && other.attempt !== one.attempt));
          assert.ok(turn.results.some(({ id, phase, by }) => id === one.id && phase === 'Started' && by === 'me'));
          const before = results.find(({ id }) => id === one.id);
          if (before?.attempt === one.attempt) assert.ok(!known.begun.has(orderKey(one)), 'begun before');
        }
        for (const before of results.filter(({ phase }) => phase !== 'Started')) {
          const after = turn.results.find(({ id, attempt: number }) => id === before.id && number === before.attempt);
          if (after) assert.equal(after.phase, before.phase);
        }
        assert.ok(turn.results.length <= 6);
      },
    ),
    { numRuns: 100 },
  );
});
