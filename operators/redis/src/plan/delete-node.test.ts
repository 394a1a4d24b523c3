import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReached } from '@reeve/runtime';
import fc from 'fast-check';
import { isRefused } from '../api/operation.ts';
import { countSlots } from '../api/slots.ts';
import type { NodeReport } from '../api/view.ts';
import { deleteNodeOperation, type DeleteNodeRequest, fillUp } from './delete-node.ts';
import { brief, pursue, viewWith, type World } from './moves-testing.ts';
import { slotsFromText } from './moves-view.ts';
import { clusterNodes, idOf, testNode, type TestNode } from './testing.ts';

type Nodes = Readonly<Record<string, Partial<TestNode>>>;
const dead: Partial<TestNode> = { unreachable: 'refused', flags: ['fail'] };

function worldOf(nodes: Nodes = {}, primaries = 4, replicas = 1): World {
  return clusterNodes({ primaries, replicas, nodes });
}

function requestFor(name: string, change: Partial<DeleteNodeRequest> = {}): DeleteNodeRequest {
  return { id: idOf(name), engine: 'auto', pace: 'gentle', drain: true, reset: true, ...change };
}

function run(world: World, request: DeleteNodeRequest) {
  const decision = deleteNodeOperation.decide(request, viewWith(world, {}));
  assert.ok(!isRefused(decision), isRefused(decision) ? JSON.stringify(decision.refused) : '');
  const result = pursue(deleteNodeOperation, decision.goal, world, { most: 8 });
  assert.ok(isReached(result.plan), JSON.stringify(result.plan));
  return { ...result, decision, done: brief(result.commands) };
}

function refusedCodes(world: World, request: DeleteNodeRequest): readonly string[] {
  const decision = deleteNodeOperation.decide(request, viewWith(world, {}));
  assert.ok(isRefused(decision), JSON.stringify(decision));
  return decision.refused.map(({ code }) => code);
}

test('a primary: drained evenly, its replica moved, then forgotten by all and reset', () => {
  const { done, world } = run(worldOf(), requestFor('p3'));
  assert.deepEqual(done, [
    'migrate 12288-13653 p3→p0',
    'migrate 13654-15018 p3→p1',
    'migrate 15019-16383 p3→p2',
    'replicate p3r0→p0',
    'forget p3 by p0,p0r0,p1,p1r0,p2,p2r0,p3r0 reset',
  ]);
  const counts = world.filter(({ role }) => role === 'primary').map(({ slots }) => countSlots(slotsFromText(slots)));
  assert.deepEqual([...counts].sort(), [0, 5461, 5461, 5462]);
});

test('its replicas go one by one to those with fewest, in the best place', () => {
  const nodes: Nodes = {
    p3r0: { annotations: { host: 'x', zone: 'a' } },
    p3r1: { annotations: { host: 'y', zone: 'b' } },
    p0: { annotations: { host: 'x', zone: 'a' } },
  };
  const { done } = run(worldOf(nodes, 4, 2), requestFor('p3'));
  assert.deepEqual(
    done.filter((line) => line.startsWith('replicate')),
    ['replicate p3r0→p1', 'replicate p3r1→p0'],
  );
});

test('its replicas are kept apart by what was asked for', () => {
  const nodes: Nodes = {
    p3r0: { annotations: { host: 'x', zone: 'z', rack: 'r1' } },
    p0: { annotations: { host: 'a', zone: 'z', rack: 'r2' } },
    p1: { annotations: { host: 'b', zone: 'y', rack: 'r1' } },
    p2: { annotations: { host: 'c', zone: 'y', rack: 'r1' } },
  };
  const goesTo = (spreadBy?: readonly string[]) =>
    run(worldOf(nodes), requestFor('p3', spreadBy ? { spreadBy } : {})).done.find((line) => line.startsWith('repl'));
  assert.equal(goesTo(['rack']), 'replicate p3r0→p0');
  assert.equal(goesTo(['zone']), 'replicate p3r0→p1');
  assert.equal(goesTo(), 'replicate p3r0→p1');
});

test('a replica is forgotten; that its primary is left alone is said', () => {
  const { done, decision } = run(worldOf(), requestFor('p1r0'));
  assert.deepEqual(done, ['forget p1r0 by p0,p0r0,p1,p2,p2r0,p3,p3r0 reset']);
  assert.ok(decision.reasons.some((reason) => reason.includes('left without a replica')));
});

test('what may not go is refused', () => {
  assert.deepEqual(refusedCodes(worldOf({}, 3), requestFor('p0')), ['TOO_FEW_PRIMARIES']);
  assert.deepEqual(refusedCodes(worldOf(), requestFor('p0', { drain: false })), ['NODE_HAS_SLOTS']);
  assert.deepEqual(refusedCodes(worldOf(), requestFor('nobody')), ['UNKNOWN_NODE']);
  assert.ok(refusedCodes(worldOf({ p0: { slots: '0-9' } }), requestFor('p1')).includes('CLUSTER_NOT_CLEAN'));
});

test('a dead replica can go, and several dead ones one after the other', () => {
  const world = worldOf({ p1r0: dead, p2r0: dead });
  const { done, decision } = run(world, requestFor('p1r0'));
  assert.deepEqual(done, ['forget p1r0 by p0,p0r0,p1,p2,p3,p3r0']);
  assert.ok(decision.reasons.some((reason) => reason.includes('may bring')));
});

test('a node that we cannot read is dead only by the word of all', () => {
  const doubts = (report: NodeReport): NodeReport => ({
    ...report,
    others: report.others.map((line) => (line.id === idOf('p1r0') ? { ...line, flags: ['slave'] } : line)),
  });
  assert.deepEqual(refusedCodes(worldOf({ p1r0: { unreachable: 'x' } }), requestFor('p1r0')), ['NODE_NOT_FAILED']);
  assert.deepEqual(refusedCodes(worldOf({ p1r0: dead, p0: { report: doubts } }), requestFor('p1r0')), [
    'NODE_NOT_FAILED',
  ]);
});

test('a dead primary with slots is not forgotten: its replica must take over, or a fix give its slots away', () => {
  assert.ok(refusedCodes(worldOf({ p1: dead }), requestFor('p1')).includes('FAILOVER_PENDING'));
  assert.ok(refusedCodes(worldOf({ p1: dead, p1r0: dead }), requestFor('p1')).includes('NODE_HAS_SLOTS'));
});

test('a dead primary that was failed over can go', () => {
  const world = worldOf({ p1: { ...dead, slots: '' }, p1r0: { role: 'primary', slots: '4096-8191', epoch: 9 } });
  assert.deepEqual(run(world, requestFor('p1')).done, ['forget p1 by p0,p0r0,p1r0,p2,p2r0,p3,p3r0']);
});

test('a dead primary that a dead replica follows can go, whichever is asked for first', () => {
  const follower = testNode('x', { ...dead, host: '10.9.0.1', role: 'replica', primaryId: idOf('gone') });
  const world = [...worldOf(), testNode('gone', { ...dead, host: '10.9.0.2' }), follower];
  const all = 'p0,p0r0,p1,p1r0,p2,p2r0,p3,p3r0';
  for (const name of ['gone', 'x']) {
    assert.deepEqual(run(world, requestFor(name)).done, [`forget ${name} by ${all}`]);
  }
});

test('a dead primary waits for a replica that may be alive', () => {
  const worldWith = (follower: Partial<TestNode>) => [
    ...worldOf(),
    testNode('gone', { ...dead, host: '10.9.0.2' }),
    testNode('x', { host: '10.9.0.1', role: 'replica', primaryId: idOf('gone'), ...follower }),
  ];
  const decision = deleteNodeOperation.decide(requestFor('gone'), viewWith(worldWith(dead), {}));
  assert.ok(!isRefused(decision));
  const plan = deleteNodeOperation.plan(decision.goal, viewWith(worldWith({ unreachable: 'x' }), {}), 0, []);
  assert.deepEqual([plan.commands.length, plan.waitingFor?.[0]?.reason], [0, 'NodeUnreachable']);
});

test('nobody is forgotten while nodes are looked for at old addresses', () => {
  const lost = (report: NodeReport): NodeReport => ({
    ...report,
    others: report.others.map((line) =>
      line.id === idOf('p2r0') ? { ...line, host: '10.9.9.9', linkUp: false } : line,
    ),
  });
  const world = worldOf({ p0: { report: lost }, p1r0: dead });
  assert.deepEqual(refusedCodes(world, requestFor('p1r0')), ['ADDRESSES_CHANGED']);
  const calm = worldOf({ p1r0: dead });
  const decision = deleteNodeOperation.decide(requestFor('p1r0'), viewWith(calm, {}));
  assert.ok(!isRefused(decision));
  const plan = deleteNodeOperation.plan(decision.goal, viewWith(world, {}), 0, []);
  assert.deepEqual([plan.commands.length, plan.waitingFor?.[0]?.reason], [0, 'AddressSpread']);
});

test('nobody is forgotten while a member cannot hear it', () => {
  const decision = deleteNodeOperation.decide(requestFor('p1r0'), viewWith(worldOf(), {}));
  assert.ok(!isRefused(decision));
  const plan = deleteNodeOperation.plan(decision.goal, viewWith(worldOf({ p2r0: { unreachable: 'x' } }), {}), 0, []);
  assert.deepEqual(plan.commands, []);
  assert.ok(plan.waitingFor?.every(({ reason }) => reason === 'NodeUnreachable'));
});

test('a replica that may be the only copy of its shard is not reset, also when the goal is gone on with', () => {
  const decision = deleteNodeOperation.decide(requestFor('p1r0'), viewWith(worldOf(), {}));
  assert.ok(!isRefused(decision));
  const planOf = (nodes: Nodes) => deleteNodeOperation.plan(decision.goal, viewWith(worldOf(nodes), {}), 0, []);
  const kept = (nodes: Nodes) => [planOf(nodes).commands.length, planOf(nodes).waitingFor?.[0]?.reason];
  assert.deepEqual(kept({ p1: dead }), [0, 'PrimaryUnavailable']);
  assert.deepEqual(kept({ p1: { flags: ['fail?'] } }), [0, 'PrimarySuspected']);
  // Forgotten by all, and not reset yet; or by the first alone.
  const without = worldOf().flatMap(({ id }) => (id === idOf('p1r0') ? [] : [id]));
  for (const many of [without.length, 1]) {
    const forgotten = (nodes: Nodes) =>
      worldOf(nodes).map((node) =>
        node.id !== idOf('p1r0') && without.indexOf(node.id) < many ? { ...node, knows: without } : node,
      );
    const plan = deleteNodeOperation.plan(decision.goal, viewWith(forgotten({ p1: dead }), {}), 0, []);
    assert.deepEqual([plan.commands.length, plan.refused?.[0]?.code], [0, 'GOAL_OVERTAKEN'], `${many} forgot`);
    // Its primary answers, whatever others suspect: that is waited for.
    const suspected = deleteNodeOperation.plan(
      decision.goal,
      viewWith(forgotten({ p1: { flags: ['fail?'] } }), {}),
      0,
      [],
    );
    assert.deepEqual([suspected.commands.length, suspected.refused], [0, undefined]);
  }
  // One that is of no use to a primary that is there may go.
  assert.equal(planOf({ p1r0: { linkUp: false } }).commands.length, 1);
});

test('slots that came to the node after the approval stop it', () => {
  const decision = deleteNodeOperation.decide(requestFor('p1r0'), viewWith(worldOf(), {}));
  assert.ok(!isRefused(decision));
  const world = worldOf({
    p1r0: { role: 'primary', slots: '4096-8191', epoch: 9 },
    p1: { role: 'replica', slots: '', primaryId: idOf('p1r0') },
  });
  const { refused } = deleteNodeOperation.plan(decision.goal, viewWith(world, {}), 0, []);
  assert.deepEqual(
    refused?.map(({ code }) => code),
    ['GOAL_OVERTAKEN'],
  );
});

test('a drained node that was elected in place of a dead target is not waited for', () => {
  const decision = deleteNodeOperation.decide(requestFor('p3'), viewWith(worldOf(), {}));
  assert.ok(!isRefused(decision));
  const world = worldOf({ p3: { slots: '0-4095,12288-13653', epoch: 9 }, p0: { ...dead, slots: '' } });
  const { refused } = deleteNodeOperation.plan(decision.goal, viewWith(world, {}), 0, []);
  assert.deepEqual(
    refused?.map(({ code }) => code),
    ['GOAL_OVERTAKEN'],
  );
});

test('a replica of the node is not moved while it sees slots there', () => {
  const decision = deleteNodeOperation.decide(requestFor('p3'), viewWith(worldOf(), {}));
  assert.ok(!isRefused(decision));
  const late = (report: NodeReport): NodeReport => ({
    ...report,
    others: report.others.map((line) => (line.id === idOf('p3') ? { ...line, slots: [[12288, 12288]] } : line)),
  });
  const drained: Nodes = {
    p3: { slots: '' },
    p0: { slots: '0-4095,12288-13653' },
    p1: { slots: '4096-8191,13654-15018' },
    p2: { slots: '8192-12287,15019-16383' },
  };
  const planOf = (nodes: Nodes) =>
    deleteNodeOperation.plan(decision.goal, viewWith(worldOf({ ...drained, ...nodes }), {}), 0, []);
  assert.deepEqual(brief(planOf({}).commands), ['replicate p3r0→p0']);
  const plan = planOf({ p3r0: { report: late } });
  assert.deepEqual([brief(plan.commands), plan.waitingFor?.[0]?.reason], [[], 'GossipAgreement']);
});

test('a replica follows whoever took over for its new primary', () => {
  const goal = deleteNodeOperation.decide(requestFor('p3'), viewWith(worldOf(), {}));
  assert.ok(!isRefused(goal));
  const drained: Nodes = {
    p3: { slots: '' },
    p1: { slots: '4096-8191,13654-15018' },
    p2: { slots: '8192-12287,15019-16383' },
  };
  const heir = { role: 'primary', slots: '0-4095,12288-13653', epoch: 9 } as const;
  const plan = (nodes: Nodes) =>
    deleteNodeOperation.plan(goal.goal, viewWith(worldOf({ ...drained, ...nodes }), {}), 0, []);
  const back = plan({ p0: { role: 'replica', slots: '', primaryId: idOf('p0r0') }, p0r0: heir });
  assert.deepEqual(brief(back.commands), ['replicate p3r0→p0r0']);
  const away = plan({ p0: { ...dead, slots: '' }, p0r0: heir });
  assert.deepEqual(brief(away.commands), ['replicate p3r0→p0r0']);
});

test('half forgotten, it is forgotten by the rest; a node that was not reset is reset', () => {
  const world = worldOf();
  const all = world.map(({ id }) => id);
  const half = worldOf({ p0: { knows: all.filter((id) => id !== idOf('p1r0')) } });
  const decision = deleteNodeOperation.decide(requestFor('p1r0'), viewWith(half, {}));
  assert.ok(!isRefused(decision), JSON.stringify(decision));
  assert.deepEqual(brief(pursue(deleteNodeOperation, decision.goal, half).commands), [
    'forget p1r0 by p0,p0r0,p1,p2,p2r0,p3,p3r0 reset',
  ]);
  const without = all.filter((id) => id !== idOf('p1r0'));
  const forgotten = world.map((node) => (node.id === idOf('p1r0') ? node : { ...node, knows: without }));
  const plan = deleteNodeOperation.plan(decision.goal, viewWith(forgotten, {}), 0, []);
  assert.deepEqual(brief(plan.commands), ['forget p1r0 by p0,p0r0,p1,p2,p2r0,p3,p3r0 reset']);
});

test('poured over the lowest first: as even as can be, nobody loses', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(300), { minLength: 1, maxLength: 10 }), fc.nat(2000), (counts, amount) => {
      const holdings = counts.map((count, index) => ({ id: `n${index}`, count }));
      const gains = fillUp(holdings, amount);
      const after = holdings.map(({ id, count }) => count + (gains.get(id) ?? 0));
      assert.equal(
        [...gains.values()].reduce((sum, gain) => sum + gain, 0),
        amount,
      );
      assert.ok([...gains.values()].every((gain) => gain >= 0));
      const touched = holdings
        .filter(({ id }) => (gains.get(id) ?? 0) > 0)
        .map(({ id, count }) => count + (gains.get(id) ?? 0));
      assert.ok(touched.length === 0 || Math.max(...touched) - Math.min(...after) <= 1);
    }),
  );
});

test('a primary that holds keys without slots is refused: they would leave with it', () => {
  const full = worldOf({
    p3: { slots: '', keys: { 5: 300 } },
    p0: { slots: '0-5460' },
    p1: { slots: '5461-10922' },
    p2: { slots: '10923-16383' },
  });
  assert.deepEqual(refusedCodes(full, requestFor('p3')), ['NODE_NOT_EMPTY']);
});

test('a node that was taken into another cluster since is left alone there', () => {
  const decision = deleteNodeOperation.decide(requestFor('p1r0'), viewWith(worldOf(), {}));
  assert.ok(!isRefused(decision));
  const ours = worldOf().filter(({ id }) => id !== idOf('p1r0'));
  const ids = ours.map(({ id }) => id);
  const theirs = ['p1r0', 'x1'].map(idOf);
  const world = [
    ...ours.map((node) => ({ ...node, knows: ids })),
    testNode('p1r0', { host: '10.9.0.1', role: 'replica', primaryId: idOf('x1'), knows: theirs }),
    testNode('x1', { host: '10.9.0.2', slots: '0-16383', epoch: 50, knows: theirs }),
  ];
  const plan = deleteNodeOperation.plan(decision.goal, viewWith(world, {}), 0, []);
  assert.ok(isReached(plan), JSON.stringify(plan));
});

test('nothing is done when nobody of the cluster can be read', () => {
  const decision = deleteNodeOperation.decide(requestFor('p1r0'), viewWith(worldOf(), {}));
  assert.ok(!isRefused(decision));
  const alone = [testNode('p1r0', { host: '10.0.0.4', knows: [] })];
  const plan = deleteNodeOperation.plan(decision.goal, viewWith(alone, {}), 0, []);
  assert.deepEqual([plan.commands.length, plan.waitingFor?.[0]?.reason], [0, 'NodeUnreachable']);
});
