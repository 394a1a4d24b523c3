import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barsOf } from './figures.ts';
import type { ScaleFigures } from './measure.ts';

/** Of a manager and agents that send 1 and 30 KB/s, keep 20 KB for each node, and need 10 KB more in a turn. */
const figures = (nodes: number, more: Partial<ScaleFigures> = {}): ScaleFigures => ({
  nodes,
  turnMs: [nodes],
  turnCpuMs: [nodes],
  keptBytes: nodes * 20_000,
  turnBytes: nodes * 10_000,
  idle: { seconds: 10, turns: 1, requests: 1, sentBytes: 10_000, receivedBytes: 10_000 },
  agents: { sentPerSecond: 30_000, receivedPerSecond: 1 },
  objectBytes: 1,
  creatingBytes: 1,
  ...more,
});
const missed = (largest: Partial<ScaleFigures>) =>
  barsOf([figures(100), figures(1_000, largest)])
    .filter(({ met }) => !met)
    .map(({ name }) => name);

test('what the manager and its agents send counts together', () => {
  assert.deepEqual(missed({}), []);
  const idle = { seconds: 10, turns: 1, requests: 1, sentBytes: 110_000, receivedBytes: 10_000 };
  assert.deepEqual(missed({ idle }), ['idle manager and 1000 agents, to the API, KB/s']);
});

test('what is kept, and needed in a turn, grows with the nodes and not faster', () => {
  assert.deepEqual(missed({ keptBytes: 1_000 * 29_000 }), []);
  assert.deepEqual(missed({ keptBytes: 1_000 * 31_000 }), ['kept heap for each node, 1000 nodes / 100 nodes']);
  assert.deepEqual(missed({ turnBytes: 1_000 * 16_000 }), ['heap in a turn for each node, 1000 nodes / 100 nodes']);
});
