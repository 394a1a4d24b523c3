import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReached } from '@reeve/runtime';
import fc from 'fast-check';
import { type Decided, isRefused } from '../api/operation.ts';
import { checkPlacement, placedMembers } from './check-placement.ts';
import { applyCommand, brief, pursue, viewWith, type World } from './moves-testing.ts';
import { placementScore } from './placement-score.ts';
import { type SpreadGoal, spreadOperation } from './spread.ts';
import { clusterNodes, idOf, type TestNode } from './testing.ts';

const spreadBy = ['zone', 'host'];

function worldOf(nodes: Readonly<Record<string, Partial<TestNode>>>, primaries = 3, replicas = 1): World {
  return clusterNodes({ primaries, replicas, nodes });
}

function at(zone: string, host = zone): Partial<TestNode> {
  return { annotations: { zone, host } };
}

function decided(world: World, moveReplicas = false): Decided<SpreadGoal> {
  const decision = spreadOperation.decide({ spreadBy, moveReplicas }, viewWith(world, {}));
  assert.ok(!isRefused(decision), isRefused(decision) ? JSON.stringify(decision.refused) : '');
  return decision;
}

function scoreOf(world: World): number {
  return placementScore(placedMembers(viewWith(world, {})), spreadBy);
}

test('primaries that failovers put on one host are spread again, as few as needed, one at a time', () => {
  const world = worldOf({ p0: at('a'), p1: at('a'), p2: at('c'), p0r0: at('b'), p1r0: at('b'), p2r0: at('a') });
  const { goal } = decided(world);
  assert.equal(goal.promotions.length, 1);
  const result = pursue(spreadOperation, goal, world);
  assert.ok(isReached(result.plan));
  assert.deepEqual(brief(result.commands), ['failover p1→p1r0 graceful']);
  assert.equal(decided(result.world).nothingToDo, true);
});

test('a primary that is to stay stays, and the others are spread around it', () => {
  const world = worldOf({ p0: at('a'), p1: at('a'), p2: at('c'), p0r0: at('b'), p1r0: at('b'), p2r0: at('a') });
  const keeping = (...keep: readonly string[]) => {
    const decision = spreadOperation.decide({ spreadBy, keep: keep.map(idOf) }, viewWith(world, {}));
    assert.ok(!isRefused(decision));
    return { primaries: decision.goal.promotions.map(({ primary }) => primary), reasons: decision.reasons.join('; ') };
  };
  assert.deepEqual(keeping('p1').primaries, [idOf('p0')]);
  assert.match(keeping('p1').reasons, /stay: a failover task put them there/);
  assert.deepEqual(keeping('p0', 'p1').primaries, []);
});

test('a replica that is not in sync is not promoted', () => {
  const world = worldOf({
    p0: at('a'),
    p1: at('a'),
    p2: at('c'),
    p0r0: { ...at('b'), flags: ['nofailover'] },
    p1r0: at('b'),
    p2r0: at('a'),
  });
  const { goal } = decided(world);
  assert.deepEqual(
    goal.promotions.map(({ replica }) => replica),
    [world.find(({ annotations, primaryId }) => annotations['zone'] === 'b' && primaryId === world[2]?.id)?.id],
  );
});

test('two failovers are made one after the other', () => {
  const zones = { p0: at('a'), p1: at('a'), p2: at('a'), p0r0: at('b'), p1r0: at('c'), p2r0: at('b') };
  const { goal } = decided(worldOf(zones));
  assert.equal(goal.promotions.length, 2);
  const plan = spreadOperation.plan(goal, viewWith(worldOf(zones), {}), 0, []);
  assert.equal(plan.commands.length, 1);
});

function promoted(world: World, shard: number): World {
  const [primary, replica] = [world[shard * 2], world[shard * 2 + 1]];
  assert.ok(primary && replica);
  const endpoint = { host: primary.host, port: primary.port };
  const [from, to] = [primary.id, replica.id].map((id) => ({ id, endpoint }));
  assert.ok(from && to);
  return applyCommand(world, { type: 'failover', primary: from, replica: to, mode: 'graceful', why: '' }) ?? world;
}

test('a failover is never made for nothing: it lowers the score, and fewer would not do as well', () => {
  const placements = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(1)), { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(placements, (places) => {
      const names = ['p0', 'p0r0', 'p1', 'p1r0', 'p2', 'p2r0', 'p3', 'p3r0'];
      const nodes = Object.fromEntries(
        names.map((name, index) => {
          const [zone, host] = places[index] ?? ['a', 0];
          return [name, at(zone, `${zone}${host}`)];
        }),
      );
      const world = worldOf(nodes, 4);
      const decision = spreadOperation.decide({ spreadBy }, viewWith(world, {}));
      assert.ok(!isRefused(decision));
      const before = scoreOf(world);
      const result = pursue(spreadOperation, decision.goal, world, { most: 10 });
      assert.ok(isReached(result.plan));
      const after = scoreOf(result.world);
      assert.ok(decision.goal.promotions.length === 0 ? after === before : after < before);
      // Every choice of primaries there is.
      let best = before;
      let fewest = 0;
      for (let bits = 0; bits < 16; bits++) {
        const chosen = [0, 1, 2, 3].filter((shard) => (bits >> shard) & 1);
        const score = scoreOf(chosen.reduce((next, shard) => promoted(next, shard), world));
        if (score < best || (score === best && chosen.length < fewest)) {
          best = score;
          fewest = chosen.length;
        }
      }
      assert.equal(after, best);
      assert.equal(decision.goal.promotions.length, fewest);
    }),
    { numRuns: 25 },
  );
});

const SHARING = { p0: at('a'), p1: at('b'), p2: at('c'), p0r0: at('b'), p1r0: at('a'), p2r0: at('c') };

test('a replica beside its primary changes places with another one, if that is asked for', () => {
  assert.equal(decided(worldOf(SHARING)).nothingToDo, true);
  const decision = decided(worldOf(SHARING), true);
  assert.match(decision.reasons.join('; '), /shares the zone or host of its primary.*has a replica less/);
  const result = pursue(spreadOperation, decision.goal, worldOf(SHARING));
  assert.ok(isReached(result.plan));
  assert.deepEqual(brief(result.commands), ['replicate p0r0→p2', 'replicate p2r0→p0']);
  assert.equal(scoreOf(result.world), 0);
  assert.equal(decided(result.world, true).nothingToDo, true);
});

test('it is waited for until the first one is in sync, and for one that is silent', () => {
  const { goal } = decided(worldOf(SHARING), true);
  const planOf = (world: World) => spreadOperation.plan(goal, viewWith(world, {}), 0, []);
  const half = { ...SHARING, p0r0: { ...at('b'), primaryId: idOf('p2') } };
  assert.deepEqual(brief(planOf(worldOf(half)).commands), ['replicate p2r0→p0']);
  const syncing = planOf(worldOf({ ...half, p0r0: { ...half.p0r0, linkUp: false } }));
  assert.deepEqual([syncing.commands.length, syncing.waitingFor?.[0]?.reason], [0, 'ReplicaSync']);
  const silent = planOf(worldOf({ ...half, p2r0: { ...at('c'), unreachable: 'refused' } }));
  assert.deepEqual([silent.commands.length, silent.waitingFor?.[0]?.reason], [0, 'NodeUnreachable']);
});

test('a replica that may be the only copy of its shard stays where it is, also when the goal is gone on with', () => {
  const { goal } = decided(worldOf(SHARING), true);
  const half = { ...SHARING, p0r0: { ...at('b'), primaryId: idOf('p2') } };
  const table: readonly (readonly [string, object, string])[] = [
    ['it cannot be read', { p0: { ...at('a'), unreachable: 'refused' } }, 'PrimaryUnavailable'],
    ['it is failed', { p0: { ...at('a'), unreachable: 'refused', flags: ['fail'] } }, 'PrimaryUnavailable'],
    ['it answers and is failed for others', { p0: { ...at('a'), flags: ['fail'] } }, 'PrimarySuspected'],
    ['it is suspected', { p0: { ...at('a'), flags: ['fail?'] } }, 'PrimarySuspected'],
    ['the link is down', { p0r0: { ...at('b'), linkUp: false } }, 'ReplicaSync'],
  ];
  for (const [what, nodes, reason] of table) {
    const plan = spreadOperation.plan(goal, viewWith(worldOf({ ...SHARING, ...nodes }), {}), 0, []);
    assert.deepEqual([what, brief(plan.commands), plan.waitingFor?.[0]?.reason], [what, [], reason]);
  }
  const second = worldOf({ ...half, p2: { ...at('c'), flags: ['fail?'] } });
  const plan = spreadOperation.plan(goal, viewWith(second, {}), 0, []);
  assert.deepEqual([brief(plan.commands), plan.waitingFor?.[0]?.reason], [[], 'PrimarySuspected']);
});

test('what was overtaken is not gone on with', () => {
  const { goal } = decided(worldOf(SHARING), true);
  const codes = (world: World) =>
    spreadOperation.plan(goal, viewWith(world, {}), 0, []).refused?.map(({ code }) => code);
  const elsewhere = { ...SHARING, p0r0: { ...at('b'), primaryId: idOf('p1') } };
  assert.deepEqual(codes(worldOf(elsewhere)), ['GOAL_OVERTAKEN']);
  assert.deepEqual(codes(promoted(worldOf(SHARING), 2)), ['GOAL_OVERTAKEN']);
  assert.deepEqual(codes(worldOf(SHARING).filter(({ id }) => id !== idOf('p0r0'))), ['GOAL_OVERTAKEN']);
});

test('a shard that lacks a replica, or has one that is not in sync, spares none', () => {
  const down = { ...SHARING, p0r0: { ...at('b'), linkUp: false }, p1r0: { ...at('a'), linkUp: false } };
  const decision = spreadOperation.decide({ spreadBy, moveReplicas: true }, viewWith(worldOf(down), {}));
  assert.ok(isRefused(decision) || (decision.goal.moves ?? []).length === 0);
});

test('moves and failovers end where nothing that these nodes allow to be better is amiss', () => {
  const place = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(1));
  const worlds = fc.record({
    places: fc.array(place, { minLength: 12, maxLength: 12 }),
    shape: fc.constantFrom<readonly [number, number]>([6, 1], [4, 2], [3, 3]),
  });
  fc.assert(
    fc.property(worlds, ({ places, shape: [primaries, replicas] }) => {
      const names = clusterNodes({ primaries, replicas }).map(({ id }) => id);
      let world: World = clusterNodes({ primaries, replicas }).map((node) => {
        const [zone, host] = places[names.indexOf(node.id)] ?? ['a', 0];
        return { ...node, annotations: { zone, host: `${zone}${host}` } };
      });
      for (let turn = 0; turn < 20; turn++) {
        const { goal, nothingToDo } = decided(world, true);
        if (nothingToDo) break;
        const before = scoreOf(world);
        const result = pursue(spreadOperation, goal, world, { most: 30 });
        assert.ok(isReached(result.plan), JSON.stringify(result.plan));
        // A pair that changes places may need a failover to be of use.
        assert.ok(goal.moves !== undefined || scoreOf(result.world) < before);
        world = result.world;
      }
      assert.equal(decided(world, true).nothingToDo, true);
      const shared = checkPlacement(viewWith(world, {}), ['zone']).filter(({ message }) =>
        message.includes('share zone'),
      );
      assert.deepEqual(
        shared.filter(({ severity }) => severity !== 'info'),
        [],
      );
    }),
    { numRuns: 40 },
  );
});
