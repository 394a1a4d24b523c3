import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Taint } from '../../kinds/node.ts';
import type { Pod, Toleration } from '../../kinds/pod.ts';
import { expelling, stayOf } from './plan.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const SEEN = START + 60_000;

const pod = (...tolerations: readonly Toleration[]): Pod => ({
  metadata: { name: 'p' },
  spec: { containers: [], tolerations },
  status: { startTime: '2026-01-01T00:00:00Z' },
});
const taint = (key: string, timeAdded?: string): Taint => ({
  key,
  effect: 'NoExecute',
  ...(timeAdded !== undefined && { timeAdded }),
});
const tolerant = (key: string, tolerationSeconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});

const stays = { type: 'stays' } as const;
const goes = (at: number) => ({ type: 'goes', at }) as const;

const rows: readonly (readonly [string, Pod, readonly Taint[], ReturnType<typeof stayOf>])[] = [
  ['tolerates nothing', pod(), [taint('a')], goes(SEEN)],
  ['tolerates one of two', pod(tolerant('a')), [taint('a'), taint('b')], goes(SEEN)],
  ['tolerates all', pod(tolerant('a')), [taint('a')], stays],
  ['tolerates everything', pod({ operator: 'Exists' }), [taint('a'), taint('b')], stays],
  ['for a while', pod(tolerant('a', 30)), [taint('a')], goes(SEEN + 30_000)],
  ['the shortest counts', pod(tolerant('a', 30), tolerant('b', 10)), [taint('a'), taint('b')], goes(SEEN + 10_000)],
  ['the first that fits counts', pod(tolerant('a'), tolerant('a', 5)), [taint('a')], stays],
  ['a negative time is none', pod(tolerant('a', -5)), [taint('a')], goes(SEEN)],
  ['since the taint', pod(tolerant('a', 30)), [taint('a', '2026-01-01T00:00:40Z')], goes(START + 70_000)],
  ['the pod is younger', pod(tolerant('a', 30)), [taint('a', '2025-01-01T00:00:00Z')], goes(START + 30_000)],
];

for (const [name, of, taints, expected] of rows) {
  test(`a pod on a node that expels: ${name}`, () => assert.deepEqual(stayOf(of, taints, SEEN), expected));
}

test('only one effect makes pods go', () => {
  const all: readonly Taint[] = [
    taint('a'),
    { key: 'b', effect: 'NoSchedule' },
    { key: 'c', effect: 'PreferNoSchedule' },
  ];
  assert.deepEqual(expelling(all), [taint('a')]);
  assert.deepEqual(expelling(undefined), []);
});
