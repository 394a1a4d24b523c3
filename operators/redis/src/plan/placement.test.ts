import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bestPrimaries, placeNodes } from './placement.ts';
import { domainOf, type Placeable, type Placed, placementProblems, placementScore } from './placement-score.ts';

const ZONE_HOST = ['zone', 'host'];

function node(name: string, zone: string, host: string): Placeable {
  return { id: name, annotations: { zone, host } };
}

/** Nodes on hosts; each host in one zone when `nested`, as in life; else zones cross hosts. */
function nodesArbitrary(most: number, hosts: number, nested: boolean): fc.Arbitrary<readonly Placeable[]> {
  const place = fc.tuple(fc.nat({ max: hosts - 1 }), fc.nat({ max: 2 }));
  return fc
    .array(place, { minLength: 3, maxLength: most })
    .map((places) => places.map(([host, zone], i) => node(`n${i}`, `z${nested ? host % 3 : zone}`, `h${host}`)));
}

/** Every way to cut nodes into `count` shards of even size, with every choice of primaries. */
function* everyArrangement(nodes: readonly Placeable[], count: number): Generator<readonly Placed[]> {
  const most = Math.ceil(nodes.length / count);
  const least = Math.floor(nodes.length / count);
  const shards: Placeable[][] = [];
  function* cut(next: number): Generator<void> {
    const taken = nodes[next];
    if (!taken) {
      if (shards.length === count && shards.every((shard) => shard.length >= least)) yield;
      return;
    }
    for (const shard of shards) {
      if (shard.length >= most) continue;
      shard.push(taken);
      yield* cut(next + 1);
      shard.pop();
    }
    if (shards.length < count) {
      shards.push([taken]);
      yield* cut(next + 1);
      shards.pop();
    }
  }
  function* choose(shard: number): Generator<readonly Placed[]> {
    const members = shards[shard];
    if (!members) {
      yield [];
      return;
    }
    for (const primary of members) {
      const placed = members.map(
        (member): Placed =>
          member === primary ? { ...member, role: 'primary' } : { ...member, role: 'replica', primaryId: primary.id },
      );
      for (const rest of choose(shard + 1)) yield [...placed, ...rest];
    }
  }
  for (const _ of cut(0)) yield* choose(0);
}

function bestScore(nodes: readonly Placeable[], count: number, spreadBy: readonly string[]): number {
  let best = Number.POSITIVE_INFINITY;
  for (const members of everyArrangement(nodes, count)) {
    best = Math.min(best, placementScore(members, spreadBy));
    if (best === 0) break;
  }
  return best;
}

/**
 * What redis-cli does at create, by its description: interleave over hosts, the first ones are primaries, each takes
 * free nodes of another host where there are any, and what is left goes round.
 */
function asRedisCli(nodes: readonly Placeable[], count: number): readonly Placed[] {
  const byHost = [...Map.groupBy(nodes, (each) => domainOf(each, 'host')).values()].map((group) => [...group]);
  const interleaved: Placeable[] = [];
  while (byHost.some((group) => group.length > 0)) {
    for (const group of byHost) {
      const first = group.shift();
      if (first) interleaved.push(first);
    }
  }
  const primaries = interleaved.slice(0, count);
  const free = interleaved.slice(count);
  const rotated = free.shift();
  if (rotated) free.push(rotated);
  const placed: Placed[] = primaries.map((primary) => ({ ...primary, role: 'primary' }));
  const each = Math.floor(nodes.length / count) - 1;
  const take = (primary: Placeable) => {
    const apart = free.findIndex((candidate) => domainOf(candidate, 'host') !== domainOf(primary, 'host'));
    const [taken] = free.splice(Math.max(apart, 0), 1);
    if (taken) placed.push({ ...taken, role: 'replica', primaryId: primary.id });
  };
  for (const primary of primaries) for (let r = 0; r < each; r++) take(primary);
  for (const primary of primaries) if (free.length > 0) take(primary);
  return placed;
}

test('three hosts with two nodes each: a primary on each, no replica beside its primary', () => {
  const nodes = ['a', 'b', 'c'].flatMap((host) => [node(`${host}1`, 'z', host), node(`${host}2`, 'z', host)]);
  const placed = placeNodes(nodes, 3, ['host']);
  assert.equal(placementScore(placed, ['host']), 0);
  const hosts = placed.filter((member) => member.role === 'primary').map((member) => domainOf(member, 'host'));
  assert.deepEqual(hosts.toSorted(), ['a', 'b', 'c']);
});

test('where domains decide nothing, the nodes given first are the primaries', () => {
  const nodes = Array.from({ length: 7 }, (_, i) => node(`n${i}`, 'z', 'h'));
  const placed = placeNodes(nodes, 3, ZONE_HOST);
  assert.deepEqual(
    placed.map((member) => member.role),
    ['primary', 'primary', 'primary', 'replica', 'replica', 'replica', 'replica'],
  );
  assert.deepEqual(
    placed.slice(3).map((member) => member.primaryId),
    ['n0', 'n1', 'n2', 'n0'],
  );
});

test('zones weigh more than hosts when they are named first', () => {
  // Two zones with two hosts each: replicas must cross the zone, not only the host.
  const nodes = ['a1', 'a2', 'b1', 'b2'].flatMap((host) => [
    node(`${host}x`, host.slice(0, 1), host),
    node(`${host}y`, host.slice(0, 1), host),
  ]);
  const placed = placeNodes(nodes, 4, ZONE_HOST);
  const zoneOf = new Map(placed.map((member) => [member.id, domainOf(member, 'zone')]));
  for (const member of placed) {
    if (member.primaryId !== undefined) assert.notEqual(zoneOf.get(member.id), zoneOf.get(member.primaryId));
  }
  assert.equal(placementScore(placed, ZONE_HOST), 0);
});

test('as good as the best of all arrangements (hosts inside zones)', () => {
  fc.assert(
    fc.property(
      nodesArbitrary(7, 5, true),
      fc.integer({ min: 2, max: 3 }),
      fc.constantFrom(ZONE_HOST, ['host', 'zone'], ['host']),
      (nodes, count, spreadBy) => {
        const ours = placementScore(placeNodes(nodes, count, spreadBy), spreadBy);
        assert.equal(ours, bestScore(nodes, count, spreadBy));
      },
    ),
    { numRuns: 120 },
  );
});

test('finds a perfect arrangement where there is one, also when zones cross hosts', () => {
  fc.assert(
    fc.property(nodesArbitrary(7, 5, false), fc.integer({ min: 2, max: 3 }), (nodes, count) => {
      const ours = placementScore(placeNodes(nodes, count, ZONE_HOST), ZONE_HOST);
      if (ours > 0) assert.ok(bestScore(nodes, count, ZONE_HOST) > 0);
    }),
    { numRuns: 120 },
  );
});

test('never worse than the way of redis-cli, up to forty nodes', () => {
  fc.assert(
    fc.property(nodesArbitrary(40, 9, true), fc.integer({ min: 3, max: 10 }), (nodes, wanted) => {
      const count = Math.min(wanted, nodes.length);
      const ours = placementScore(placeNodes(nodes, count, ['host']), ['host']);
      assert.ok(ours <= placementScore(asRedisCli(nodes, count), ['host']));
    }),
    { numRuns: 100 },
  );
});

test('every node has one role, replicas are even, the same input gives the same answer', () => {
  fc.assert(
    fc.property(nodesArbitrary(30, 6, false), fc.integer({ min: 1, max: 8 }), (nodes, wanted) => {
      const count = Math.min(wanted, nodes.length);
      const placed = placeNodes(nodes, count, ZONE_HOST);
      assert.deepEqual(
        placed.map((member) => member.id),
        nodes.map((each) => each.id),
      );
      const primaries = placed.filter((member) => member.role === 'primary');
      assert.equal(primaries.length, count);
      const replicas = primaries.map((primary) => placed.filter((member) => member.primaryId === primary.id).length);
      assert.equal(
        replicas.reduce((sum, each) => sum + each, 0),
        nodes.length - count,
      );
      assert.ok(Math.max(...replicas) - Math.min(...replicas) <= 1);
      assert.deepEqual(placeNodes(nodes, count, ZONE_HOST), placed);
    }),
    { numRuns: 60 },
  );
});

test('a hundred nodes over ten hosts in three zones are placed without any sharing', () => {
  const nodes = Array.from({ length: 100 }, (_, i) => node(`n${i}`, `z${(i % 10) % 3}`, `h${i % 10}`));
  const placed = placeNodes(nodes, 50, ZONE_HOST);
  const kinds = new Set(placementProblems(placed, ZONE_HOST).map((problem) => problem.kind));
  assert.ok(!kinds.has('shared'));
  assert.ok(!kinds.has('majority'));
});

test('problems are named exactly when the score is not zero', () => {
  fc.assert(
    fc.property(nodesArbitrary(12, 4, false), fc.integer({ min: 2, max: 4 }), (nodes, wanted) => {
      const members = asRedisCli(nodes, Math.min(wanted, nodes.length));
      const problems = placementProblems(members, ZONE_HOST);
      assert.equal(placementScore(members, ZONE_HOST) === 0, problems.length === 0);
    }),
    { numRuns: 100 },
  );
});

test('nodes without the annotation count as one place', () => {
  const nodes = ['a', 'b', 'c', 'd', 'e', 'f'].map((id): Placeable => ({ id, annotations: { host: id } }));
  assert.equal(placementScore(placeNodes(nodes, 3, ['host']), ['host']), 0);
  assert.ok(placementScore(placeNodes(nodes, 3, ['zone']), ['zone']) > 0);
});

test('the best primaries of given shards: exact, with as few changes as possible', () => {
  fc.assert(
    fc.property(nodesArbitrary(8, 4, true), fc.integer({ min: 2, max: 3 }), (nodes, count) => {
      const shards: Placeable[][] = Array.from({ length: count }, () => []);
      for (const [i, each] of nodes.entries()) shards[i % count]?.push(each);
      const current = shards.map((shard) => (shard[0] as Placeable).id);
      const chosen = bestPrimaries(shards, new Set(current), ZONE_HOST);
      const scoreOf = (ids: readonly string[]) =>
        placementScore(
          shards.flatMap((shard, s) =>
            shard.map(
              (member): Placed =>
                member.id === ids[s]
                  ? { ...member, role: 'primary' }
                  : { ...member, role: 'replica', primaryId: ids[s] as string },
            ),
          ),
          ZONE_HOST,
        );
      const choices = shards.reduce<readonly (readonly string[])[]>(
        (lists, shard) => lists.flatMap((list) => shard.map((member) => [...list, member.id])),
        [[]],
      );
      const best = Math.min(...choices.map(scoreOf));
      assert.equal(scoreOf(chosen), best);
      const changes = (ids: readonly string[]) => ids.filter((id, s) => id !== current[s]).length;
      const fewest = Math.min(...choices.filter((ids) => scoreOf(ids) === best).map(changes));
      assert.equal(changes(chosen), fewest);
    }),
    { numRuns: 150 },
  );
});
