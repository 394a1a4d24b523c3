import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReached, known } from '@reeve/runtime';
import { isRefused } from '../api/operation.ts';
import type { NodeReport } from '../api/view.ts';
import { addNodeOperation, type AddNodeRequest } from './add-node.ts';
import { brief, openAt, pursue, viewWith, type World } from './moves-testing.ts';
import { clusterNodes, freshNode, idOf, testNode, type TestNode, viewOfNodes } from './testing.ts';

const endpoint = { host: '10.0.1.1', port: 7000 };
const asPrimary: AddNodeRequest = { endpoint, as: 'primary', spreadBy: ['host'] };
const asReplica: AddNodeRequest = { endpoint, as: 'replica', spreadBy: ['host'] };
type Nodes = Readonly<Record<string, Partial<TestNode>>>;

function worldOf(newcomer: Partial<TestNode> = {}, nodes: Nodes = {}, replicas = 1): World {
  const fresh = freshNode('new', { host: endpoint.host, annotations: { host: endpoint.host }, ...newcomer });
  return clusterNodes({ primaries: 3, replicas, nodes, extra: [fresh] });
}

function decide(world: World, request: AddNodeRequest) {
  return addNodeOperation.decide(request, viewWith(world, {}));
}

function run(world: World, request: AddNodeRequest) {
  const decision = decide(world, request);
  assert.ok(!isRefused(decision), isRefused(decision) ? JSON.stringify(decision.refused) : '');
  const result = pursue(addNodeOperation, decision.goal, world, { most: 8 });
  assert.ok(isReached(result.plan), JSON.stringify(result.plan));
  return { ...result, decision, done: brief(result.commands) };
}

function refusedCodes(world: World, request: AddNodeRequest): readonly string[] {
  const decision = decide(world, request);
  assert.ok(isRefused(decision));
  return decision.refused.map(({ code }) => code);
}

const meetAll = 'meet new→p0 new→p0r0 new→p1 new→p1r0 new→p2 new→p2r0';

test('a primary meets every member at once, and how it gets slots is said', () => {
  const { done, decision } = run(worldOf(), asPrimary);
  assert.deepEqual(done, [meetAll]);
  assert.ok(decision.reasons.some((reason) => reason.includes('rebalance --use-empty')));
  assert.deepEqual(addNodeOperation.needs(asPrimary, viewWith([], {})), { alsoAsk: [endpoint] });
});

test('a primary gets the functions of the cluster before it joins', () => {
  const libraries = { functionLibraries: known(2) };
  const { done } = run(worldOf({}, { p0: libraries, p1: libraries, p2: libraries }), asPrimary);
  assert.deepEqual(done, ['copy-functions p0→new', meetAll]);
  assert.deepEqual(run(worldOf({}, { p0: libraries }), asReplica).done[0], meetAll);
});

test('a replica follows the named primary, or the one with fewest replicas in the best place', () => {
  assert.deepEqual(run(worldOf(), { ...asReplica, primaryId: idOf('p2') }).done, [meetAll, 'replicate new→p2']);
  const uneven = worldOf({}, { p2r0: { primaryId: idOf('p0') } });
  assert.deepEqual(run(uneven, asReplica).done.at(-1), 'replicate new→p2');
  const beside = worldOf({}, { p0: { annotations: { host: endpoint.host } } });
  assert.deepEqual(run(beside, asReplica).done.at(-1), 'replicate new→p1');
});

test('a replica takes the place of one that cannot be read, wherever else it would be placed as well', () => {
  const dead = { unreachable: 'no answer', annotations: {} };
  for (const shard of ['p0', 'p1', 'p2']) {
    const { done } = run(worldOf({}, { [`${shard}r0`]: dead }), asReplica);
    assert.deepEqual(done.at(-1), `replicate new→${shard}`);
  }
});

test('what may not join is refused', () => {
  const cases: readonly (readonly [Partial<TestNode>, string])[] = [
    [{ keys: { 1: 3 } }, 'NODE_NOT_EMPTY'],
    [{ slots: '1', knows: [] }, 'NODE_HAS_SLOTS'],
    [{ importing: openAt([1], idOf('p0')) }, 'NODE_NOT_EMPTY'],
    [{ version: '8.1.0' }, 'VERSION_INCOMPATIBLE'],
    [{ product: 'redis', version: '9.9.0' }, 'VERSION_INCOMPATIBLE'],
    [
      { report: (r: NodeReport) => ({ ...r, others: [{ ...r.self, id: 'e'.repeat(40), flags: ['master'] }] }) },
      'NODE_OF_OTHER_CLUSTER',
    ],
  ];
  for (const [change, code] of cases) assert.deepEqual(refusedCodes(worldOf(change), asPrimary), [code]);
  const second: Partial<TestNode> = { report: (r: NodeReport) => ({ ...r, keyspace: { 1: 4 } }) };
  assert.deepEqual(refusedCodes(worldOf(second), asPrimary), ['NODE_NOT_EMPTY']);
  assert.deepEqual(refusedCodes(worldOf(), { ...asReplica, primaryId: idOf('p0r0') }), ['NOT_A_PRIMARY']);
  assert.deepEqual(refusedCodes(worldOf(), { ...asReplica, primaryId: 'f'.repeat(40) }), ['UNKNOWN_NODE']);
});

/** As `mergeViews` has it: whom only the newcomer knows is a node of the view, too. */
function withUnreadStranger(newcomer: Partial<TestNode>): World {
  const ours = ['p0', 'p0r0', 'p1', 'p1r0', 'p2', 'p2r0'];
  const nodes = Object.fromEntries(ours.map((name) => [name, { knows: ours.map(idOf) }]));
  const fresh = { host: endpoint.host, annotations: { host: endpoint.host }, ...newcomer };
  const stranger = testNode('x0', { host: '10.9.0.1', slots: '0-16383', epoch: 40, unreachable: 'timeout', knows: [] });
  return clusterNodes({
    primaries: 3,
    replicas: 1,
    nodes,
    extra: [freshNode('new', { ...fresh, knows: [idOf('x0')] }), stranger],
  });
}

test('a node of another cluster is refused, also when nobody else of it can be read', () => {
  for (const request of [asPrimary, asReplica]) {
    assert.deepEqual(refusedCodes(withUnreadStranger({}), request), ['NODE_OF_OTHER_CLUSTER']);
    const replica: Partial<TestNode> = { role: 'replica', primaryId: idOf('x0'), keys: { 5: 500 } };
    assert.deepEqual(refusedCodes(withUnreadStranger(replica), request), ['NODE_OF_OTHER_CLUSTER', 'NODE_NOT_EMPTY']);
  }
});

test('a node that became one of another cluster since it was approved does not join', () => {
  const decision = decide(worldOf(), asPrimary);
  assert.ok(!isRefused(decision));
  const codesIn = (world: World) => {
    const plan = addNodeOperation.plan(decision.goal, viewOfNodes(world), 0, []);
    assert.deepEqual(plan.commands, []);
    return plan.refused?.map(({ code }) => code);
  };
  assert.deepEqual(codesIn(withUnreadStranger({ slots: '0-100', keys: { 7: 1 } })), [
    'NODE_OF_OTHER_CLUSTER',
    'NODE_NOT_EMPTY',
    'NODE_HAS_SLOTS',
  ]);
  const ours = ['p0', 'p0r0', 'p1', 'p1r0', 'p2', 'p2r0'];
  const theirs = ['new', 'x1', 'x2'].map(idOf);
  const other = [
    testNode('new', { host: endpoint.host, slots: '0-5460', epoch: 31, knows: theirs }),
    testNode('x1', { host: '10.9.0.1', slots: '5461-10922', epoch: 32, knows: theirs }),
    testNode('x2', { host: '10.9.0.2', slots: '10923-16383', epoch: 33, knows: theirs }),
  ];
  const nodes = Object.fromEntries(ours.map((name) => [name, { knows: ours.map(idOf) }]));
  const two = clusterNodes({ primaries: 3, replicas: 1, nodes, extra: other });
  assert.deepEqual(codesIn(two), ['CLUSTER_NOT_CLEAN']);
  assert.deepEqual(refusedCodes(two, asPrimary).slice(0, 2), ['NODE_OF_OTHER_CLUSTER', 'NODE_HAS_SLOTS'], 'at first');
});

test('an address that does not answer is refused with what is known of it', () => {
  const silent = [{ endpoint, code: 'REDIS_AUTH', why: 'wrong password' }];
  const decision = addNodeOperation.decide(asPrimary, viewOfNodes(clusterNodes({ primaries: 3 }), { silent }));
  assert.ok(isRefused(decision));
  assert.deepEqual(
    decision.refused.map(({ code }) => code),
    ['REDIS_AUTH'],
  );
});

test('a broken cluster takes nobody in; one with a dead replica does', () => {
  assert.ok(refusedCodes(worldOf({}, { p0: { slots: '0-100' } }), asPrimary).includes('CLUSTER_NOT_CLEAN'));
  const dead: Partial<TestNode> = { unreachable: 'refused', flags: ['fail'] };
  assert.deepEqual(run(worldOf({}, { p1r0: dead }), asReplica).done.at(-1), 'replicate new→p1');
});

test('a run that was cut off goes on, one that is over has nothing to do', () => {
  const { world } = run(worldOf(), asPrimary);
  const again = decide(world, asPrimary);
  assert.ok(!isRefused(again) && again.nothingToDo);
  assert.deepEqual(run(world, { ...asReplica, primaryId: idOf('p1') }).done, ['replicate new→p1']);
});

test('a handshake is waited for, not repeated', () => {
  const decision = decide(worldOf(), asPrimary);
  assert.ok(!isRefused(decision));
  const shaking = (report: NodeReport): NodeReport => ({
    ...report,
    others: clusterNodes({ primaries: 3, replicas: 1 }).map(({ host, port }, index) => ({
      ...report.self,
      id: String(index).repeat(40),
      host,
      port,
      flags: ['handshake'],
    })),
  });
  const plan = addNodeOperation.plan(decision.goal, viewWith(worldOf({ report: shaking }), {}), 0, []);
  assert.deepEqual([plan.commands.length, plan.waitingFor?.[0]?.reason], [0, 'Handshake']);
});

test('a handshake that left one side without the other is made good from that side', () => {
  const decision = decide(worldOf(), asPrimary);
  assert.ok(!isRefused(decision));
  const ours = ['p0', 'p0r0', 'p1', 'p1r0', 'p2', 'p2r0'].map(idOf);
  const unaware = ['p0', 'p1r0'];
  const nodes = Object.fromEntries(unaware.map((name) => [name, { knows: ours }]));
  const world = worldOf({ knows: [...ours, idOf('new')] }, nodes);
  const plan = addNodeOperation.plan(decision.goal, viewWith(world, {}), 0, []);
  assert.deepEqual(brief(plan.commands), ['meet p0→new p1r0→new']);
  const [meet] = plan.commands;
  assert.deepEqual(meet?.type === 'meet' && [...(meet.within ?? [])].sort(), [...ours, idOf('new')].sort());
});

test('another node at the address is not taken for the one that was approved', () => {
  const decision = decide(worldOf(), asPrimary);
  assert.ok(!isRefused(decision));
  const other = worldOf({ id: idOf('other') });
  const { refused } = addNodeOperation.plan(decision.goal, viewWith(other, {}), 0, []);
  assert.deepEqual(
    refused?.map(({ code }) => code),
    ['GOAL_OVERTAKEN'],
  );
});

test('a primary that was failed over meanwhile is followed in the person of its heir', () => {
  const world = worldOf();
  const decision = decide(world, { ...asReplica, primaryId: idOf('p1') });
  assert.ok(!isRefused(decision));
  const result = pursue(addNodeOperation, decision.goal, world, {
    meanwhile: (next) =>
      next.map((node) => {
        if (node.id === idOf('p1')) return { ...node, role: 'replica', primaryId: idOf('p1r0'), slots: '' };
        return node.id === idOf('p1r0') ? { ...node, role: 'primary', slots: '5462-10922', epoch: 9 } : node;
      }),
  });
  assert.deepEqual(brief(result.commands).at(-1), 'replicate new→p1r0');
});

test('the sync of a new replica is waited for', () => {
  const { world, decision } = run(worldOf(), { ...asReplica, primaryId: idOf('p1') });
  const syncing = world.map((node) => (node.id === idOf('new') ? { ...node, linkUp: false } : node));
  const plan = addNodeOperation.plan(decision.goal, viewWith(syncing, {}), 0, []);
  assert.deepEqual([plan.commands.length, plan.waitingFor?.[0]?.reason], [0, 'ReplicaSync']);
});
