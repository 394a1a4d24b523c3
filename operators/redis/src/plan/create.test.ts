import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReached, known, unknown } from '@reeve/runtime';
import fc from 'fast-check';
import { isRefused } from '../api/operation.ts';
import { ALL_SLOTS, countSlots, parseSlots, unionSlots } from '../api/slots.ts';
import type { ClusterView, Endpoint } from '../api/view.ts';
import { type CreateGoal, type CreateRequest, createOperation } from './create.ts';
import { evenSlots } from './create-slots.ts';
import { clusterNodes, freshNode, idOf, type TestNode, testNode, viewOfNodes } from './testing.ts';

/** New servers n0, n1 …, each on a host of its own. */
function servers(count: number, changes: (index: number) => Partial<TestNode> = () => ({})): readonly TestNode[] {
  return Array.from({ length: count }, (_, i) => {
    const host = `10.0.0.${i + 1}`;
    return freshNode(`n${i}`, { host, annotations: { host }, ...changes(i) });
  });
}

function requestFor(
  nodes: readonly { host: string; port: number }[],
  changes: Partial<CreateRequest> = {},
): CreateRequest {
  const endpoints = nodes.map(({ host, port }): Endpoint => ({ host, port }));
  return { endpoints, replicasPerPrimary: 1, spreadBy: ['host'], ...changes };
}

function decide(nodes: readonly TestNode[], changes: Partial<CreateRequest> = {}, view = viewOfNodes(nodes)) {
  return createOperation.decide(requestFor(nodes, changes), view);
}

function goalFor(nodes: readonly TestNode[], changes: Partial<CreateRequest> = {}): CreateGoal {
  const decision = decide(nodes, changes);
  if (isRefused(decision)) assert.fail(JSON.stringify(decision.refused));
  return decision.goal;
}

function refusedCodes(
  nodes: readonly TestNode[],
  changes: Partial<CreateRequest> = {},
  view?: ClusterView,
): readonly string[] {
  const decision = decide(nodes, changes, view);
  assert.ok(isRefused(decision), 'refused');
  return [...new Set(decision.refused.map((refusal) => refusal.code))];
}

/** A cluster that was made, as servers: finished by the goal. */
function finished(nodes: readonly TestNode[], goal: CreateGoal): readonly TestNode[] {
  const ids = goal.members.map(({ id }) => id);
  return nodes.map((node): TestNode => {
    const member = goal.members.find(({ id }) => id === node.id);
    assert.ok(member);
    return {
      ...node,
      knows: ids,
      role: member.role,
      slots: member.slots ?? '',
      epoch: member.epoch,
      ...(member.primaryId === undefined ? {} : { primaryId: member.primaryId }),
    };
  });
}

test('slots: contiguous, complete, sizes differ by one at most', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), (count) => {
      const ranges = evenSlots(count);
      const sizes = ranges.map((range) => countSlots([range]));
      assert.equal(ranges.length, count);
      assert.deepEqual(unionSlots(ranges), ALL_SLOTS);
      assert.equal(
        sizes.reduce((sum, size) => sum + size, 0),
        16_384,
      );
      assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1);
    }),
  );
});

test('six new servers: three primaries with even slots, a replica each elsewhere, epochs of their own', () => {
  const decision = decide(servers(6));
  assert.ok(!isRefused(decision));
  const { members } = decision.goal;
  assert.deepEqual(
    members.map(({ slots }) => slots),
    ['0-5461', '5462-10922', '10923-16383', undefined, undefined, undefined],
  );
  assert.deepEqual(
    members.map(({ epoch }) => epoch),
    [1, 2, 3, 4, 5, 6],
  );
  assert.deepEqual(
    members.slice(3).map(({ primaryId }) => primaryId),
    members.slice(0, 3).map(({ id }) => id),
  );
  assert.ok(!decision.nothingToDo);
  assert.equal(decision.steps.length, 9);
});

test('requirements: three primaries, enough nodes, no address twice, addresses that can be met', () => {
  assert.deepEqual(refusedCodes(servers(5)), ['TOO_FEW_PRIMARIES']);
  assert.deepEqual(refusedCodes(servers(6), { primaries: 2 }), ['TOO_FEW_PRIMARIES']);
  assert.deepEqual(refusedCodes(servers(6), { primaries: 4 }), ['TOO_FEW_NODES']);
  assert.deepEqual(refusedCodes([]), ['TOO_FEW_PRIMARIES']);
  const nodes = servers(6);
  assert.deepEqual(refusedCodes([...nodes, nodes[0] as TestNode], {}, viewOfNodes(nodes)), ['ENDPOINT_TWICE']);
  assert.deepEqual(refusedCodes(servers(6, (i) => (i === 2 ? { host: 'redis-2' } : {}))), ['ADDRESS_NOT_IP']);
  assert.deepEqual(refusedCodes(servers(6, (i) => (i === 2 ? { host: '127.0.0.1' } : {}))), ['ADDRESS_LOOPBACK']);
  assert.ok(!isRefused(decide(servers(3), { replicasPerPrimary: 0 })));
});

test('nodes left over become more replicas', () => {
  const goal = goalFor(servers(8), { primaries: 3 });
  const counts = goal.members
    .slice(0, 3)
    .map(({ id }) => goal.members.filter(({ primaryId }) => primaryId === id).length);
  assert.deepEqual(
    counts.toSorted((a, b) => a - b),
    [1, 2, 2],
  );
});

test('a server that does not answer is refused with its address and the reason it gave', () => {
  const nodes = servers(6);
  const endpoint = { host: '10.0.0.3', port: 7000 };
  const silent = viewOfNodes(
    nodes.filter((node) => node.host !== endpoint.host),
    { silent: [{ endpoint, code: 'REDIS_AUTH', why: 'WRONGPASS invalid password' }] },
  );
  const decision = decide(nodes, {}, silent);
  assert.ok(isRefused(decision));
  assert.deepEqual(decision.refused, [
    { code: 'REDIS_AUTH', message: '10.0.0.3:7000: WRONGPASS invalid password', subjects: ['10.0.0.3:7000'] },
  ]);
  const elsewhere = viewOfNodes(nodes.map((node, i) => (i === 2 ? { ...node, host: '10.9.9.9' } : node)));
  assert.deepEqual(refusedCodes(nodes, {}, elsewhere), ['NODE_ELSEWHERE']);
  assert.deepEqual(refusedCodes(servers(6, (i) => (i === 2 ? { unreachable: 'twice' } : {}))), ['NODE_SILENT']);
});

test('kinds of servers: version, product', () => {
  const one = (changes: Partial<TestNode>) => servers(6, (i) => (i === 4 ? changes : {}));
  assert.deepEqual(refusedCodes(one({ version: '7.2.5' })), ['UNSUPPORTED_VERSION']);
  assert.deepEqual(refusedCodes(one({ version: '' })), ['UNSUPPORTED_VERSION']);
  assert.deepEqual(refusedCodes(servers(6, () => ({ product: 'redis', version: '6.2.14' }))), ['UNSUPPORTED_VERSION']);
  assert.deepEqual(refusedCodes(one({ product: 'redis', version: '7.4.0' })), ['MIXED_PRODUCTS']);
  assert.ok(!isRefused(decide(servers(6, () => ({ product: 'redis', version: '7.0.15' })))));
});

test('only empty nodes: keys in any database and function libraries are refused, unknown is not empty', () => {
  const one = (changes: Partial<TestNode>) => servers(6, (i) => (i === 4 ? changes : {}));
  assert.deepEqual(refusedCodes(one({ keys: { 7: 1 } })), ['NODE_NOT_EMPTY']);
  assert.deepEqual(refusedCodes(one({ report: (report) => ({ ...report, keyspace: { 3: 9 } }) })), ['NODE_NOT_EMPTY']);
  assert.deepEqual(refusedCodes(one({ functionLibraries: known(2) })), ['NODE_NOT_EMPTY']);
  assert.deepEqual(refusedCodes(one({ functionLibraries: unknown('NOPERM') })), ['EMPTINESS_UNKNOWN']);
});

test('a node of another cluster is refused and the other members are named', () => {
  const cluster = clusterNodes({ primaries: 3 });
  const ids = cluster.map(({ id }) => id);
  const nodes = servers(5, (i) => ({ host: `10.1.0.${i + 1}` }));
  const member = cluster[0] as TestNode;
  const view = viewOfNodes([...nodes, ...cluster.map((node): TestNode => ({ ...node, knows: ids }))]);
  const decision = decide([...nodes, member], {}, view);
  assert.ok(isRefused(decision));
  assert.deepEqual(
    decision.refused.map(({ code }) => code),
    ['NODE_OF_OTHER_CLUSTER'],
  );
  assert.match(decision.refused[0]?.message ?? '', /10\.0\.0\.2:7000.*10\.0\.0\.3:7000/);
});

test('the nodes of a cluster that is another than asked for are refused, those of the very same one are done', () => {
  const nodes = servers(6);
  const goal = goalFor(nodes);
  const done = finished(nodes, goal);
  const again = decide(done);
  assert.ok(!isRefused(again));
  assert.equal(again.nothingToDo, true);
  assert.deepEqual(refusedCodes(done, { replicasPerPrimary: 0 }), ['NODE_OF_OTHER_CLUSTER']);
  const withData = done.map((node) => (node.slots === '' ? node : { ...node, keys: { 5: 1 } }));
  assert.equal((decide(withData) as { nothingToDo?: boolean }).nothingToDo, true);
});

test('a lonely node with slots that do not fit is refused; with those of the plan an unfinished create goes on', () => {
  const wrong = servers(6, (i) => (i === 0 ? { slots: '9000-9010' } : {}));
  assert.deepEqual(refusedCodes(wrong), ['NODE_HAS_SLOTS']);
  const begun = decide(servers(6, (i) => (i === 0 ? { slots: '0-5461' } : {})));
  assert.ok(!isRefused(begun));
  assert.ok(begun.reasons.some((reason) => reason.includes('unfinished create goes on')));
});

test('the first turn gives slots and epochs, all at once, to nodes that are alone', () => {
  const nodes = servers(6);
  const goal = goalFor(nodes);
  const plan = createOperation.plan(goal, viewOfNodes(nodes), 1_000, []);
  assert.deepEqual(
    plan.commands.map(({ type }) => type),
    ['assign-slots', 'assign-slots', 'assign-slots', 'set-epochs'],
  );
  const again = createOperation.plan(
    goal,
    viewOfNodes(nodes),
    1_000,
    plan.commands.map((command) => ({ command, startedAt: 1_000 })),
  );
  assert.deepEqual(again.commands, []);
});

test('then every pair meets once; handshakes that run are waited for, lost ones are begun again', () => {
  const nodes = servers(6);
  const goal = goalFor(nodes);
  const prepared = finished(nodes, goal).map((node): TestNode => ({ ...node, knows: [], role: 'primary' }));
  const plan = createOperation.plan(goal, viewOfNodes(prepared), 1_000, []);
  assert.equal(plan.commands.length, 1);
  const [meet] = plan.commands;
  assert.ok(meet?.type === 'meet');
  assert.equal(meet.pairs.length, 15);
  assert.equal(new Set(meet.pairs.map(({ from, to }) => [from.id, to.id].toSorted().join())).size, 15);

  const shaking = prepared.map(
    (node, i): TestNode => ({
      ...node,
      report: (report) => ({
        ...report,
        others: prepared.slice(i + 1).map((other) => ({
          ...report.self,
          id: idOf(`x${i}${other.host}`),
          host: other.host,
          flags: ['handshake'],
          slots: [],
        })),
      }),
    }),
  );
  const waits = createOperation.plan(goal, viewOfNodes(shaking), 1_000, []);
  assert.deepEqual(waits.commands, []);
  assert.equal(waits.waitingFor?.[0]?.reason, 'GossipAgreement');

  const all = prepared.map(({ id }) => id);
  const lost = prepared.map((node, i): TestNode => ({ ...node, knows: i === 0 ? all.slice(0, 5) : all }));
  const repeats = createOperation.plan(goal, viewOfNodes(lost), 1_000, []);
  const repeated = repeats.commands.find((command) => command.type === 'meet');
  assert.deepEqual(
    repeated?.pairs.map(({ from, to }) => [from.id, to.id]),
    [[goal.members[0]?.id, goal.members[5]?.id]],
  );
});

test('a hundred nodes meet their neighbours in the list, not all pairs at once', () => {
  const nodes = servers(100);
  const goal = goalFor(nodes);
  const prepared = finished(nodes, goal).map((node): TestNode => ({ ...node, knows: [], role: 'primary' }));
  const [meet] = createOperation.plan(goal, viewOfNodes(prepared), 1_000, []).commands;
  assert.ok(meet?.type === 'meet');
  assert.equal(meet.pairs.length, 3_200);
});

test('given up when the limit is over, with what is missing; a renewed start gives it time again', () => {
  const nodes = servers(6);
  const goal = goalFor(nodes, { limitMs: 5_000 });
  const gone = finished(nodes, goal).map((node, i): TestNode => (i === 5 ? { ...node, unreachable: 'refused' } : node));
  const at = (now: number, of = goal) => createOperation.plan(of, viewOfNodes(gone), now, []);
  assert.equal(at(goal.startedAt + 5_000).waitingFor?.[0]?.reason, 'NodeReports');
  const late = at(goal.startedAt + 5_001);
  assert.equal(late.refused?.[0]?.code, 'CREATE_TIMEOUT');
  assert.match(late.refused?.[0]?.message ?? '', /no answer from .*10\.0\.0\.6:7000/);
  assert.equal(at(goal.startedAt + 5_001, { ...goal, startedAt: goal.startedAt + 5_000 }).refused, undefined);
});

test('what could be read at first and cannot just now is waited for, while the node must be empty', () => {
  const nodes = servers(6);
  const goal = goalFor(nodes);
  const unread = (all: readonly TestNode[]) => all.map((n) => ({ ...n, functionLibraries: unknown('it broke') }));
  const plan = createOperation.plan(goal, viewOfNodes(unread(nodes)), 1_000, []);
  assert.deepEqual([plan.refused, plan.commands], [undefined, []]);
  assert.deepEqual(
    plan.waitingFor?.map(({ reason, subjects }) => [reason, subjects.length]),
    [['EmptinessUnknown', 6]],
  );
  assert.ok(isReached(createOperation.plan(goal, viewOfNodes(unread(finished(nodes, goal))), 1_000, [])));
});

test('stops when somebody interferes: strangers, other slots, keys, another node at the address', () => {
  const nodes = servers(6);
  const goal = goalFor(nodes);
  const codeAfter = (change: (nodes: readonly TestNode[]) => readonly TestNode[], from = nodes) =>
    createOperation.plan(goal, viewOfNodes(change(from)), 1_000, []).refused?.[0]?.code;
  const stranger = testNode('zz', { host: '10.5.5.5' });
  assert.equal(
    codeAfter((all) => [...all.map((n, i) => (i === 0 ? { ...n, knows: [stranger.id] } : n)), stranger]),
    'NODE_OF_OTHER_CLUSTER',
  );
  assert.equal(
    codeAfter((all) => all.map((n, i) => (i === 1 ? { ...n, slots: '0' } : n))),
    'CREATE_CONFLICT',
  );
  assert.equal(
    codeAfter((all) => all.map((n, i) => (i === 1 ? { ...n, keys: { 1: 1 } } : n))),
    'NODE_NOT_EMPTY',
  );
  assert.equal(
    codeAfter((all) => all.map((n, i) => (i === 1 ? { ...n, id: idOf('new') } : n))),
    'NODE_REPLACED',
  );
  const wrongCopy = finished(nodes, goal).map((n) =>
    n.id === goal.members[3]?.id ? { ...n, primaryId: goal.members[1]?.id as string, keys: { 1: 1 } } : n,
  );
  assert.equal(
    codeAfter((all) => all, wrongCopy),
    'CREATE_CONFLICT',
  );
});

test('clients may write as soon as slots are served: keys on a finished primary do not stop the replicas', () => {
  const nodes = servers(6);
  const goal = goalFor(nodes);
  const half = finished(nodes, goal).map((node): TestNode => {
    const { primaryId: _primaryId, ...rest } = node;
    return node.role === 'replica'
      ? { ...rest, role: 'primary' }
      : { ...node, keys: { [parseSlots(node.slots)?.[0]?.[0] ?? 0]: 4 } };
  });
  const plan = createOperation.plan(goal, viewOfNodes(half), 1_000, []);
  assert.deepEqual(
    plan.commands.map(({ type }) => type),
    ['replicate', 'replicate', 'replicate'],
  );
  assert.ok(plan.commands.every((command) => command.type === 'replicate' && command.mustBeEmpty));
});

test('a replica that took over meanwhile counts as the primary of its shard', () => {
  const nodes = servers(6);
  const goal = goalFor(nodes);
  const [oldPrimary, newPrimary] = [goal.members[0], goal.members[3]];
  assert.ok(oldPrimary && newPrimary && newPrimary.primaryId === oldPrimary.id);
  const swapped = finished(nodes, goal).map((node): TestNode => {
    const { primaryId: _primaryId, ...rest } = node;
    if (node.id === newPrimary.id) return { ...rest, role: 'primary', slots: oldPrimary.slots ?? '', epoch: 9 };
    if (node.id === oldPrimary.id) return { ...node, role: 'replica', slots: '', primaryId: newPrimary.id };
    return node;
  });
  assert.ok(isReached(createOperation.plan(goal, viewOfNodes(swapped), 1_000, [])));
});

test('not reached before replicas are in sync, views agree and the check is clean', () => {
  const nodes = servers(6);
  const goal = goalFor(nodes);
  const done = finished(nodes, goal);
  const plan = (change: (node: TestNode, index: number) => TestNode) =>
    createOperation.plan(goal, viewOfNodes(done.map(change)), 1_000, []);
  assert.ok(isReached(plan((node) => node)));
  const syncing = plan((node) => (node.role === 'replica' ? { ...node, linkUp: false } : node));
  assert.equal(syncing.waitingFor?.[0]?.reason, 'ReplicaSync');
  assert.equal(syncing.waitingFor?.[0]?.subjects.length, 3);
  const collision = plan((node) => (node.role === 'primary' ? { ...node, epoch: 1 } : node));
  assert.equal(collision.waitingFor?.[0]?.reason, 'CleanCheck');
  const failing = plan((node, i) => (i === 0 ? { ...node, state: 'fail' } : node));
  assert.match(failing.waitingFor?.[0]?.message ?? '', /STATE_FAIL/);
});
