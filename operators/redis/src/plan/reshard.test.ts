import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReached } from '@reeve/runtime';
import fc from 'fast-check';
import { type Decided, isRefused } from '../api/operation.ts';
import { countSlots, formatSlots, rangesOf } from '../api/slots.ts';
import type { ClusterView } from '../api/view.ts';
import type { MoveGoal } from './moves.ts';
import { shareOut } from './moves-share.ts';
import { openAt, pursue } from './moves-testing.ts';
import { slotsFromText } from './moves-view.ts';
import { reshardOperation, type ReshardRequest } from './reshard.ts';
import { clusterNodes, idOf, type TestNode, viewOf, viewOfNodes } from './testing.ts';

const [p0, p1, p2, p3] = ['p0', 'p1', 'p2', 'p3'].map(idOf) as [string, string, string, string];
const request: ReshardRequest = { slots: 300, to: p3, from: 'all', engine: 'auto', pace: 'gentle' };

function decided(view: ClusterView, change: Partial<ReshardRequest> = {}): Decided<MoveGoal> {
  const decision = reshardOperation.decide({ ...request, ...change }, view);
  assert.ok(!isRefused(decision), isRefused(decision) ? JSON.stringify(decision.refused) : '');
  return decision;
}

function refusedCodes(view: ClusterView, change: Partial<ReshardRequest> = {}): readonly string[] {
  const decision = reshardOperation.decide({ ...request, ...change }, view);
  assert.ok(isRefused(decision));
  return decision.refused.map(({ code }) => code);
}

test('from all: the lowest slots of each, in proportion', () => {
  const { goal, steps, reasons } = decided(viewOf({ primaries: 4, replicas: 1 }));
  assert.deepEqual(goal.moves, [
    { source: p0, target: p3, slots: '0-99' },
    { source: p1, target: p3, slots: '4096-4195' },
    { source: p2, target: p3, slots: '8192-8291' },
  ]);
  assert.equal(steps.length, 3);
  assert.match(reasons[0] ?? '', /exactly 300 slots/);
});

test('exactly as many as asked for, also when they do not divide', () => {
  const view = viewOf({ primaries: 4, replicas: 1 });
  const { goal } = decided(view, { slots: 2 });
  assert.deepEqual(goal.moves, [
    { source: p0, target: p3, slots: '0' },
    { source: p1, target: p3, slots: '4096' },
  ]);
  assert.equal(decided(view, { slots: 4096 + 4095, from: [p0, p1] }).goal.moves.length, 2);
});

test('named sources give, the others do not', () => {
  const { goal } = decided(viewOf({ primaries: 4 }), { slots: 7, from: [p1] });
  assert.deepEqual(goal.moves, [{ source: p1, target: p3, slots: '4096-4102' }]);
});

test('bad requests are refused by code', () => {
  const view = viewOf({ primaries: 4, replicas: 1 });
  assert.deepEqual(refusedCodes(view, { to: idOf('p3r0') }), ['NOT_A_PRIMARY']);
  assert.deepEqual(refusedCodes(view, { to: 'f'.repeat(40) }), ['UNKNOWN_NODE']);
  assert.deepEqual(refusedCodes(view, { from: [p3, p1] }), ['SOURCE_IS_TARGET']);
  assert.deepEqual(refusedCodes(view, { from: [p1], slots: 4097 }), ['NOT_ENOUGH_SLOTS']);
  assert.deepEqual(refusedCodes(view, { slots: 0 }), ['BAD_SLOT_COUNT']);
  assert.deepEqual(refusedCodes(view, { slots: 1.5 }), ['BAD_SLOT_COUNT']);
});

test('only on a clean check; placement and missing replicas are said, not refused', () => {
  const broken: readonly Partial<TestNode>[] = [
    { slots: '0-4094' },
    { migrating: openAt([5], p1) },
    { flags: ['fail?'] },
    { unreachable: 'refused', flags: ['fail'] },
    { epoch: 2 },
  ];
  for (const change of broken) {
    const codes = refusedCodes(viewOf({ primaries: 4, replicas: 1, nodes: { p0: change } }));
    assert.ok(
      codes.every((code) => code === 'CLUSTER_NOT_CLEAN'),
      JSON.stringify([change, codes]),
    );
  }
  const job = {
    name: 'j',
    operation: 'export' as const,
    slots: [],
    sourceId: p0,
    targetId: p1,
    state: '',
    message: '',
  };
  assert.deepEqual(refusedCodes(viewOf({ primaries: 4, nodes: { p0: { atomicJobs: [job] } } })), ['SLOTS_BUSY']);
  const bare = clusterNodes({ primaries: 4, replicas: 1 }).filter(({ id }) => id !== idOf('p0r0'));
  assert.ok(decided(viewOfNodes(bare)).reasons.some((reason) => reason.includes('does not stand in the way')));
});

test('a source that gives everything away is named', () => {
  const { reasons } = decided(viewOf({ primaries: 4 }), { slots: 4096, from: [p0] });
  assert.ok(reasons.some((reason) => reason.includes('no vote')));
});

test('shares add up, are within one of the exact share, and nobody gives more than it has', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(5000), { minLength: 1, maxLength: 30 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (weights, part) => {
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        const count = Math.floor(total * part);
        const shares = shareOut(
          count,
          weights.map((weight, index) => ({ id: `n${index}`, weight })),
        );
        assert.equal(
          [...shares.values()].reduce((sum, share) => sum + share, 0),
          count,
        );
        for (const [index, weight] of weights.entries()) {
          const share = shares.get(`n${index}`) ?? 0;
          assert.ok(share <= weight);
          assert.ok(total === 0 || Math.abs(share - (count * weight) / total) < 1 + 1e-9);
        }
      },
    ),
  );
});

/** Slots dealt at random to some primaries. */
const maps = fc
  .tuple(
    fc.integer({ min: 3, max: 6 }),
    fc.array(fc.integer({ min: 1, max: 16383 }), { maxLength: 12 }),
    fc.infiniteStream(fc.nat()),
  )
  .map(([count, cuts, stream]) => {
    const bounds = [0, ...new Set(cuts), 16384].sort((a, b) => a - b);
    const ranges: [number, number][][] = Array.from({ length: count }, () => []);
    for (let i = 0; i + 1 < bounds.length; i++) {
      const owner = i < count ? i : Number(stream.next().value) % count;
      ranges[owner]?.push([bounds[i] as number, (bounds[i + 1] as number) - 1]);
    }
    return ranges.map((each) => formatSlots(each));
  });

test('any reshard that is not refused moves exactly that many and reaches its goal', () => {
  fc.assert(
    fc.property(maps, fc.integer({ min: 1, max: 3000 }), fc.nat(5), (slots, count, to) => {
      const nodes = Object.fromEntries(slots.map((text, index) => [`p${index}`, { slots: text }]));
      const world = clusterNodes({ primaries: slots.length, nodes });
      const target = idOf(`p${to % slots.length}`);
      const decision = reshardOperation.decide({ ...request, slots: count, to: target }, viewOfNodes(world));
      if (isRefused(decision)) {
        const others = 16384 - countSlots(slotsFromText(slots[to % slots.length] ?? ''));
        assert.ok(others < count, JSON.stringify(decision));
        return;
      }
      const result = pursue(reshardOperation, decision.goal, world, { most: 3 });
      assert.ok(isReached(result.plan));
      const before = countSlots(slotsFromText(slots[to % slots.length] ?? ''));
      const after = countSlots(slotsFromText(result.world.find(({ id }) => id === target)?.slots ?? ''));
      assert.equal(after - before, count);
      const all = result.world.flatMap((node) => [...slotsFromText(node.slots)].flatMap(([a, b]) => [a, b]));
      assert.equal(countSlots(rangesOf(all)) > 0, true);
    }),
    { numRuns: 40 },
  );
});
