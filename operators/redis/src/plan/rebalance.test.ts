import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReached } from '@reeve/runtime';
import fc from 'fast-check';
import { type Decided, isRefused } from '../api/operation.ts';
import { countSlots, formatSlots, slotsOf } from '../api/slots.ts';
import type { ClusterView, NodeReport, SlotMeasure } from '../api/view.ts';
import type { MoveGoal } from './moves.ts';
import { pursue } from './moves-testing.ts';
import { slotsFromText } from './moves-view.ts';
import { balanceBySlots, rebalanceOperation, type RebalanceRequest } from './rebalance.ts';
import { balanceByCost, type Party } from './rebalance-cost.ts';
import { slotTargets } from './rebalance-slots.ts';
import { clusterNodes, idOf, testNode, viewOf, viewOfNodes } from './testing.ts';

const [p0, p1, p2, p3] = ['p0', 'p1', 'p2', 'p3'].map(idOf) as [string, string, string, string];
const request: RebalanceRequest = {
  by: 'slots',
  weights: {},
  threshold: 2,
  useEmpty: false,
  engine: 'auto',
  pace: 'gentle',
};

function decided(view: ClusterView, change: Partial<RebalanceRequest> = {}): Decided<MoveGoal> {
  const decision = rebalanceOperation.decide({ ...request, ...change }, view);
  assert.ok(!isRefused(decision), isRefused(decision) ? JSON.stringify(decision.refused) : '');
  return decision;
}

function refusedCodes(view: ClusterView, change: Partial<RebalanceRequest> = {}): readonly string[] {
  const decision = rebalanceOperation.decide({ ...request, ...change }, view);
  assert.ok(isRefused(decision));
  return decision.refused.map(({ code }) => code);
}

/** Three primaries and a fourth that has just joined. */
function withNewcomer(report?: (id: string) => (report: NodeReport) => NodeReport) {
  const nodes = Object.fromEntries(['p0', 'p1', 'p2'].map((name) => [name, report ? { report: report(name) } : {}]));
  const extra = testNode('p3', { host: '10.0.0.9', epoch: 9, ...(report ? { report: report('p3') } : {}) });
  return clusterNodes({ primaries: 3, nodes, extra: [extra] });
}

test('a new primary gets its share, and only what it gets is moved', () => {
  const { goal } = decided(viewOfNodes(withNewcomer()), { useEmpty: true });
  assert.deepEqual(
    goal.moves.map(({ source, target, slots }) => [source, target, countSlots(slotsFromText(slots))]),
    [
      [p0, p3, 1366],
      [p1, p3, 1365],
      [p2, p3, 1365],
    ],
  );
});

test('an empty primary stays empty unless asked for, by flag or by weight', () => {
  const view = viewOfNodes(withNewcomer());
  assert.equal(decided(view).nothingToDo, true);
  assert.equal(decided(view, { weights: { [p3]: 1 } }).goal.moves.length, 3);
});

test('weight 0 drains, other weights are shares', () => {
  const view = viewOf({ primaries: 4 });
  const drained = decided(view, { weights: { [p0]: 0 } }).goal.moves;
  assert.ok(drained.every(({ source }) => source === p0));
  assert.equal(
    drained.reduce((sum, { slots }) => sum + countSlots(slotsFromText(slots)), 0),
    4096,
  );
  const { world } = pursue(
    rebalanceOperation,
    decided(view, { weights: { [p1]: 3 } }).goal,
    clusterNodes({ primaries: 4 }),
  );
  assert.deepEqual(
    world.map(({ slots }) => countSlots(slotsFromText(slots))),
    [2731, 8192, 2731, 2730],
  );
});

test('nothing is moved within the threshold', () => {
  const view = viewOf({ primaries: 4, nodes: { p0: { slots: '0-4145' }, p1: { slots: '4146-8191' } } });
  assert.equal(decided(view).nothingToDo, true);
  const tight = decided(view, { threshold: 1 }).goal.moves;
  assert.deepEqual(tight, [{ source: p0, target: p1, slots: '0-49' }]);
});

test('bad requests are refused by code', () => {
  const view = viewOf({ primaries: 4, replicas: 1 });
  assert.deepEqual(refusedCodes(view, { weights: { ['f'.repeat(40)]: 1 } }), ['UNKNOWN_NODE']);
  assert.deepEqual(refusedCodes(view, { weights: { [idOf('p0r0')]: 1 } }), ['NOT_A_PRIMARY']);
  assert.deepEqual(refusedCodes(view, { weights: { [p0]: -1 } }), ['BAD_WEIGHT']);
  assert.deepEqual(refusedCodes(view, { threshold: Number.NaN }), ['BAD_WEIGHT']);
  assert.deepEqual(refusedCodes(view, { weights: { [p0]: 0, [p1]: 0, [p2]: 0, [p3]: 0 } }), ['BAD_WEIGHT']);
  assert.deepEqual(refusedCodes(view, { weights: { [p0]: 0, [p1]: 0 } }), ['TOO_FEW_PRIMARIES']);
});

/** Every slot of a node measured alike, except those given. */
function measured(of: (slot: number) => SlotMeasure) {
  return () =>
    (report: NodeReport): NodeReport => ({
      ...report,
      slotMeasures: Object.fromEntries([...slotsOf(report.self.slots)].map((slot) => [slot, of(slot)])),
    });
}

test('what is measured is asked for, and refused when a node does not tell it', () => {
  assert.deepEqual(rebalanceOperation.needs(request, viewOf({ primaries: 3 })), {});
  assert.deepEqual(rebalanceOperation.needs({ ...request, by: 'load' }, viewOf({ primaries: 3 })), {
    measureSlots: 'load',
  });
  const keysOnly = viewOfNodes(withNewcomer(measured(() => ({ keys: 1 }))));
  for (const by of ['bytes', 'load'] as const)
    assert.deepEqual(refusedCodes(keysOnly, { by }), ['MEASURE_UNAVAILABLE']);
  assert.deepEqual(refusedCodes(viewOfNodes(withNewcomer()), { by: 'keys' }), ['MEASURE_UNAVAILABLE']);
  assert.equal(decided(keysOnly, { by: 'keys', useEmpty: true }).goal.moves.length, 3);
});

test('load is CPU time, or network traffic where that is not measured', () => {
  const cpu = viewOfNodes(withNewcomer(measured((slot) => ({ keys: 0, cpuUsec: slot < 100 ? 1000 : 1 }))));
  assert.ok(decided(cpu, { by: 'load', useEmpty: true }).reasons.some((reason) => reason.includes('CPU')));
  const traffic = measured((slot) => ({ keys: 0, networkBytesIn: slot, networkBytesOut: 1 }));
  const { reasons } = decided(viewOfNodes(withNewcomer(traffic)), { by: 'load', useEmpty: true });
  assert.ok(reasons.some((reason) => reason.includes('network')));
});

test('a hot slot is moved for itself, not with thousands of others', () => {
  const nodes: readonly Party[] = [
    { id: 'a', weight: 1, slots: [[0, 999]] },
    { id: 'b', weight: 1, slots: [[1000, 1999]] },
  ];
  const costs = new Map(Array.from({ length: 2000 }, (_, slot) => [slot, 1]));
  costs.set(500, 1001);
  costs.set(501, 1001);
  // 1000 too much: the slot of 1001 is close enough.
  assert.deepEqual(balanceByCost(nodes, costs, 5).moves, [{ source: 'a', target: 'b', slots: '500' }]);
  costs.set(501, 1101);
  assert.deepEqual(balanceByCost(nodes, costs, 0).moves, [{ source: 'a', target: 'b', slots: '0-48,500' }]);
});

const parties = fc
  .array(fc.record({ slots: fc.nat(120), weight: fc.constantFrom(0, 1, 1, 1, 2, 0.5) }), {
    minLength: 2,
    maxLength: 12,
  })
  .filter((nodes) => nodes.some(({ weight }) => weight > 0))
  .map((nodes): readonly Party[] => {
    let next = 0;
    return nodes.map(({ slots, weight }, index) => {
      const first = next;
      next += slots;
      return { id: `n${String(index).padStart(2, '0')}`, weight, slots: slots === 0 ? [] : [[first, next - 1]] };
    });
  });

/** All whole targets within one slot of the ideal: the least that any of them moves. */
function leastMoved(holdings: readonly { readonly weight: number; readonly slots: number }[]): number {
  const total = holdings.reduce((sum, { slots }) => sum + slots, 0);
  const weights = holdings.reduce((sum, { weight }) => sum + weight, 0);
  // least[k]: fewest moved when the targets so far add up to k.
  let least = new Map<number, number>([[0, 0]]);
  for (const { weight, slots } of holdings) {
    const ideal = (total * weight) / weights;
    const next = new Map<number, number>();
    for (const target of new Set([Math.floor(ideal + 1e-6), Math.ceil(ideal - 1e-6)])) {
      for (const [sum, moved] of least) {
        const better = moved + Math.max(0, slots - target);
        if (better < (next.get(sum + target) ?? Number.POSITIVE_INFINITY)) next.set(sum + target, better);
      }
    }
    least = next;
  }
  return least.get(total) ?? Number.NaN;
}

test('by slots: within one slot of the share, the fewest slots, at most one pair less than nodes', () => {
  fc.assert(
    fc.property(parties, (nodes) => {
      const { moves } = balanceBySlots(nodes, 0);
      const counts = new Map(nodes.map(({ id, slots }) => [id, countSlots(slots)]));
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
      const weights = nodes.reduce((sum, { weight }) => sum + weight, 0);
      const sources = new Set<string>();
      const targets = new Set<string>();
      let moved = 0;
      const seen = new Set<number>();
      for (const { source, target, slots } of moves) {
        const list = [...slotsOf(slotsFromText(slots))];
        for (const slot of list) {
          assert.ok(!seen.has(slot));
          seen.add(slot);
        }
        moved += list.length;
        sources.add(source);
        targets.add(target);
        counts.set(source, (counts.get(source) ?? 0) - list.length);
        counts.set(target, (counts.get(target) ?? 0) + list.length);
      }
      assert.ok([...sources].every((id) => !targets.has(id)));
      assert.ok(moves.length < nodes.length);
      for (const { id, weight } of nodes) {
        assert.ok(Math.abs((counts.get(id) ?? 0) - (total * weight) / weights) < 1 + 1e-6);
      }
      if (moves.length > 0) {
        const holdings = nodes.map(({ weight, slots }) => ({ weight, slots: countSlots(slots) }));
        assert.equal(moved, leastMoved(holdings));
      }
    }),
    { numRuns: 300 },
  );
});

test('targets add up and leave a balanced cluster alone', () => {
  fc.assert(
    fc.property(parties, (nodes) => {
      const holdings = nodes.map(({ id, weight, slots }) => ({ id, weight, slots: countSlots(slots) }));
      const targets = slotTargets(holdings);
      const total = holdings.reduce((sum, { slots }) => sum + slots, 0);
      assert.equal(
        [...targets.values()].reduce((sum, count) => sum + count, 0),
        total,
      );
      const settled = holdings.map((holding) => ({ ...holding, slots: targets.get(holding.id) ?? 0 }));
      assert.deepEqual(slotTargets(settled), targets);
    }),
  );
});

test('by cost: nobody ends further from its share, drained nodes are empty, few pairs, the same every time', () => {
  fc.assert(
    fc.property(
      parties,
      fc.array(fc.nat(50), { minLength: 1, maxLength: 97 }),
      fc.nat(20),
      (nodes, prices, threshold) => {
        const costs = new Map(
          nodes.flatMap(({ slots }) => [...slotsOf(slots)]).map((slot) => [slot, prices[slot % prices.length] ?? 0]),
        );
        const balance = balanceByCost(nodes, costs, threshold);
        assert.deepEqual(balanceByCost(nodes, costs, threshold), balance);
        const costOf = (slots: Iterable<number>) => [...slots].reduce((sum, slot) => sum + (costs.get(slot) ?? 0), 0);
        const total = costOf(costs.keys());
        const weights = nodes.reduce((sum, { weight }) => sum + weight, 0);
        const held = new Map(nodes.map(({ id, slots }) => [id, new Set(slotsOf(slots))]));
        const seen = new Set<number>();
        for (const { source, target, slots } of balance.moves) {
          for (const slot of slotsOf(slotsFromText(slots))) {
            assert.ok(!seen.has(slot), 'a slot moves once');
            seen.add(slot);
            assert.ok(held.get(source)?.delete(slot));
            held.get(target)?.add(slot);
          }
        }
        const drains = nodes.filter(({ weight, slots }) => weight === 0 && countSlots(slots) > 0);
        for (const { id } of drains) assert.equal(held.get(id)?.size, 0);
        if (drains.length > 0) return;
        for (const { id, weight, slots } of nodes) {
          const ideal = (total * weight) / weights;
          const before = Math.abs(costOf(slotsOf(slots)) - ideal);
          const after = Math.abs(costOf(held.get(id) ?? []) - ideal);
          assert.ok(after <= before + 1e-6, `${id} ${before} ${after}`);
        }
        assert.ok(balance.moves.length < nodes.length);
      },
    ),
    { numRuns: 200 },
  );
});

test('by cost with small slots: the threshold is met', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 200, max: 2000 }), { minLength: 2, maxLength: 8 }), (sizes) => {
      let next = 0;
      const nodes = sizes.map((size, index): Party => {
        const first = next;
        next += size;
        return { id: `n${index}`, weight: 1, slots: [[first, next - 1]] };
      });
      const costs = new Map(Array.from({ length: next }, (_, slot) => [slot, 90 + ((slot * 7) % 21)]));
      const { moves } = balanceByCost(nodes, costs, 2);
      const cost = new Map(
        nodes.map(({ id, slots }) => [id, [...slotsOf(slots)].reduce((sum, s) => sum + (costs.get(s) ?? 0), 0)]),
      );
      for (const { source, target, slots } of moves) {
        const moved = [...slotsOf(slotsFromText(slots))].reduce((sum, slot) => sum + (costs.get(slot) ?? 0), 0);
        cost.set(source, (cost.get(source) ?? 0) - moved);
        cost.set(target, (cost.get(target) ?? 0) + moved);
      }
      const ideal = [...cost.values()].reduce((sum, each) => sum + each, 0) / nodes.length;
      for (const each of cost.values()) assert.ok(Math.abs(each - ideal) <= ideal * 0.02, `${each} of ${ideal}`);
    }),
    { numRuns: 100 },
  );
});

test('by cost: what a node could not give exactly to any of several does not add up', () => {
  let next = 0;
  const nodes = [10, 13, 10, 156, 90].map((size, index): Party => {
    next += size;
    return { id: `n${index}`, weight: 1, slots: [[next - size, next - 1]] };
  });
  const costs = new Map(Array.from({ length: next }, (_, slot) => [slot, 90 + ((slot * 7) % 21)]));
  const { reasons } = balanceByCost(nodes, costs, 2);
  assert.deepEqual(reasons, ['the furthest from its share is 179.6 % off before and 1.6 % off after']);
});

test('any rebalance is pursued to its goal and then finds nothing to do', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 16383 }), { minLength: 2, maxLength: 5 }), (cuts) => {
      const bounds = [0, ...new Set(cuts), 16384].sort((a, b) => a - b);
      const count = Math.max(3, bounds.length - 1);
      const nodes = Object.fromEntries(
        Array.from({ length: count }, (_, i) => {
          const [first, end] = [bounds[i], bounds[i + 1]];
          return [`p${i}`, { slots: end === undefined || first === undefined ? '' : formatSlots([[first, end - 1]]) }];
        }),
      );
      const world = clusterNodes({ primaries: count, nodes });
      const { goal } = decided(viewOfNodes(world), { useEmpty: true, threshold: 0 });
      const result = pursue(rebalanceOperation, goal, world, { most: 3 });
      assert.ok(isReached(result.plan));
      assert.equal(decided(viewOfNodes(result.world), { useEmpty: true, threshold: 0 }).nothingToDo, true);
    }),
    { numRuns: 30 },
  );
});
