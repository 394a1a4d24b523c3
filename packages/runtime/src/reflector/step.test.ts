/** The step function as a table: no clock, no client. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Failure } from './port.ts';
import { failureOf } from './port.ts';
import { type Effect, type Input, initial, type ReflectorState, reflectorDefaults } from './state.ts';
import { step } from './step.ts';

const run = (inputs: readonly Input[], from: ReflectorState = initial, random = 0) => {
  let state = from;
  let effects: readonly Effect[] = [];
  for (const input of inputs) ({ state, effects } = step(state, input, { now: 10_000_000, random }, reflectorDefaults));
  return { state, effects };
};
const failed = (failure: Partial<Failure>): Input => ({ type: 'failed', failure: { message: 'x', ...failure } });
const start: Input = { type: 'start' };
const synced: Input = { type: 'bookmark', version: '100', isInitialEnd: true };

test('the first request is a streaming list of the newest state, with a random length and a limit for silence', () => {
  const at = (random: number) => {
    const effect = run([start], initial, random).effects[1];
    assert.ok(effect?.do === 'watch');
    assert.equal(effect.request.resourceVersion, '');
    assert.equal(effect.request.sendInitialEvents, true);
    return [effect.request.timeoutSeconds, effect.silenceMs];
  };
  assert.deepEqual(at(0), [300, 75_000]);
  assert.deepEqual(at(1), [600, 90_000]);
});

test('RV during initial stream: versions of objects do not count before the end mark, bookmarks before it neither', () => {
  const before = run([
    start,
    { type: 'event', version: '999' },
    { type: 'bookmark', version: '998', isInitialEnd: false },
  ]);
  assert.equal(before.state.version, undefined);
  const after = run([synced, { type: 'event', version: '101' }], before.state);
  assert.equal(after.state.version, '101');
  assert.deepEqual(after.effects, [{ do: 'apply' }]);
});

test('a version never goes back while watching', () => {
  const { state } = run([
    start,
    synced,
    { type: 'event', version: '99' },
    { type: 'bookmark', version: '98', isInitialEnd: false },
  ]);
  assert.equal(state.version, '100');
});

test('backoff: 0.8 s, doubled, 30 s at most, afresh after 120 s without failure', () => {
  let { state } = run([start, synced]);
  let now = 10_000_000;
  const waits: number[] = [];
  const fail = () => {
    const next = step(state, failed({ status: 500 }), { now, random: 0 }, reflectorDefaults);
    const [wait] = next.effects;
    assert.ok(wait?.do === 'wait');
    waits.push(wait.ms);
    now += wait.ms;
    state = step(next.state, { type: 'due' }, { now, random: 0 }, reflectorDefaults).state;
  };
  for (let i = 0; i < 7; i++) fail();
  now += 120_001;
  fail();
  assert.deepEqual(waits, [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 800]);
});

test('whatever comes after the stop switch is without effect', () => {
  const stopped = run([start, synced, { type: 'stop' }]);
  assert.deepEqual(stopped.effects, [{ do: 'end' }]);
  const inputs: Input[] = [
    start,
    synced,
    { type: 'due' },
    { type: 'ended' },
    { type: 'silent' },
    failed({ status: 410 }),
  ];
  for (const input of inputs) assert.deepEqual(run([input], stopped.state).effects, []);
});

test('what failed requests are read from: a Status, an error with one, or anything that was thrown', () => {
  const status = { kind: 'Status', code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 2 } };
  for (const thrown of [status, Object.assign(new Error('busy'), { code: 'KUBE_X', status })]) {
    const { status: code, reason, retryAfterMs } = failureOf(thrown);
    assert.deepEqual({ code, reason, retryAfterMs }, { code: 429, reason: 'TooManyRequests', retryAfterMs: 2_000 });
  }
  assert.equal(failureOf({ code: 504, details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } }).isTooLarge, true);
  assert.deepEqual(failureOf(new Error('socket hang up')), { message: 'socket hang up' });
  assert.deepEqual(failureOf(undefined), { message: 'undefined' });
});
