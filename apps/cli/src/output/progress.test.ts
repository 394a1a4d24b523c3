import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MigrateSlots } from '@reeve/redis';
import { ProgressView, progressLine, sumItems } from './progress.ts';
import { Rate } from './rate.ts';
import { styleFor } from './style.ts';

test('a rate is what was done in the last seconds, and the rest follows from it', () => {
  const rate = new Rate(10_000);
  assert.equal(rate.perSecond(), undefined);
  rate.add(0, 0);
  assert.equal(rate.perSecond(), undefined);
  rate.add(1000, 100);
  assert.equal(rate.perSecond(), 100);
  assert.equal(rate.remainingMs(1000), 9000);
  assert.equal(rate.remainingMs(100), 0);
});

test('what is older than the window no longer counts', () => {
  const rate = new Rate(2000);
  for (let second = 0; second <= 10; second++) rate.add(second * 1000, Math.min(second, 5) * 100);
  assert.equal(rate.perSecond(), 0);
  assert.equal(rate.remainingMs(1000), undefined);
});

test('a rate is never negative, even when a count starts again', () => {
  const rate = new Rate();
  rate.add(0, 500);
  rate.add(1000, 100);
  assert.equal(rate.perSecond(), 0);
});

test('several commands add up in the unit of the first', () => {
  const sum = sumItems([
    { done: 10, total: 100, unit: 'slots' },
    { done: 5, total: 50, unit: 'slots' },
    { done: 1, total: 9, unit: 'keys' },
  ]);
  assert.deepEqual(sum, { done: 15, total: 150, unit: 'slots' });
  assert.equal(sumItems([]), undefined);
});

test('the line has percent, count, rate and time left', () => {
  const item = { done: 1024, total: 4096, unit: 'slots' };
  assert.equal(progressLine(item, 512, 6000), '25 %, 1,024 of 4,096 slots, 512 slots/s, 6 s left');
  assert.equal(progressLine({ ...item, done: 4096 }, undefined, 0), '100 %, 4,096 of 4,096 slots');
});

const command: MigrateSlots = {
  type: 'migrate-slots',
  why: '100 slots from a to b',
  source: { id: 'a', endpoint: { host: 'h', port: 1 } },
  target: { id: 'b', endpoint: { host: 'h', port: 2 } },
  slots: '0-99',
  others: [],
  engine: 'auto',
  pace: 'gentle',
};

function viewOn(isTerminal: boolean) {
  let written = '';
  let now = 0;
  const view = new ProgressView({
    write: (text) => {
      written += text;
    },
    isTerminal,
    columns: () => 40,
    style: styleFor(false, {}),
    clock: { now: () => now, sleep: () => Promise.resolve() },
  });
  return {
    view,
    at: (ms: number, done: number) => {
      now = ms;
      view.report({ event: 'progress', number: 1, done, total: 100, unit: 'slots' });
    },
    written: () => written,
  };
}

test('without a terminal: plain lines, at most one every five seconds', () => {
  const { view, at, written } = viewOn(false);
  view.report({ event: 'started', number: 1, command });
  for (let second = 0; second <= 10; second++) at(second * 1000, second * 10);
  view.report({ event: 'ended', number: 1, command, status: 'failed', message: 'broke' });
  const lines = written().trimEnd().split('\n');
  assert.deepEqual(lines, [
    '  move 100 slots (0-99) from a (h:1) to b (h:2) (engine auto, gentle)',
    '  0 %, 0 of 100 slots',
    '  50 %, 50 of 100 slots, 10 slots/s, 5 s left',
    '  100 %, 100 of 100 slots, 10 slots/s',
    '  migrate-slots failed: broke',
  ]);
  assert.ok(!written().includes('\u001b') && !written().includes('\r'));
});

test('on a terminal: one line that is rewritten, never wider than the screen, and kept below what is printed', () => {
  const { view, at, written } = viewOn(true);
  at(0, 0);
  at(1000, 50);
  view.report({ event: 'waiting', waitingFor: [{ reason: 'X', message: 'for gossip', subjects: [] }] });
  view.end();
  const shown = written().split('\r\u001b[2K');
  assert.ok(
    shown.every((part) => part.split('\n').every((line) => line.length < 40)),
    JSON.stringify(shown),
  );
  assert.match(shown[2] ?? '', /waiting: for gossip\n {2}50 %/);
  assert.equal(shown.at(-1), '');
});
