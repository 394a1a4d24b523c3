import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLIENT_PORT } from './children.ts';
import { checkCluster } from './check.ts';
import { desiredOf } from './desired.ts';
import { nextSteps, type OperationWish } from './next.ts';
import { type PodFacts, podMembers } from './pods.ts';
import { testPods } from './pods-testing.ts';
import { clusterNodes, freshNode, idOf, type TestNode, viewOfNodes } from './testing.ts';

const desired = desiredOf({ primaries: 3, replicasPerPrimary: 1 });

function look(
  nodes: readonly TestNode[],
  changes: { readonly spec?: object; readonly configured?: boolean; readonly pods?: readonly Partial<PodFacts>[] } = {},
) {
  const at = nodes.map((node) => ({ ...node, port: CLIENT_PORT, annotations: { host: node.host, zone: node.host } }));
  const view = viewOfNodes(at);
  const pods = testPods(at, (ordinal) => changes.pods?.[ordinal]);
  const want = changes.spec ? desiredOf({ primaries: 3, replicasPerPrimary: 1, ...changes.spec }) : desired;
  return nextSteps({
    desired: want,
    members: podMembers(pods, view),
    view,
    findings: checkCluster(view, { replicasPerPrimary: want.replicasPerPrimary, spreadBy: want.spreadBy }),
    configured: changes.configured ?? true,
  });
}

const kinds = ({ wishes }: ReturnType<typeof look>) =>
  wishes.map((wish) => (wish.what === 'operation' ? wish.kind : `restart ${wish.pod.name}`));

const fresh = (count: number) =>
  Array.from({ length: count }, (_, at) => freshNode(`f${at}`, { host: `10.2.0.${at + 1}` }));
const whole = clusterNodes({ primaries: 3, replicas: 1 });

test('a whole cluster needs nothing', () => {
  assert.deepEqual(look(whole), { wishes: [], waitingFor: [] });
});

test('empty servers become a cluster when all are there, by themselves or by approval; what was one once only by approval', () => {
  const wish = (...args: Parameters<typeof look>) => look(...args).wishes[0] as OperationWish | undefined;
  assert.deepEqual(kinds(look(fresh(5), { configured: false })), []);
  assert.match(look(fresh(5), { configured: false }).waitingFor[0]?.message ?? '', /5 of 6 pods/);
  assert.equal(wish(fresh(6), { configured: false })?.needsApproval, false);
  assert.equal(wish(fresh(6), { configured: false, spec: { creation: 'manual' } })?.needsApproval, true);
  assert.equal(wish(fresh(6), { configured: true })?.needsApproval, true);
});

test('with creation by hand a server that owns a slot is no cluster: nobody joins it, and it is mended by approval only', () => {
  const stray = (spec: object, configured = false) =>
    look([freshNode('s', { host: '10.2.0.9', slots: '7' }), ...fresh(5)], { configured, spec });
  const manual = stray({ creation: 'manual' });
  assert.deepEqual(kinds(manual), ['create', 'fix']);
  assert.ok(manual.wishes.every((wish) => wish.what === 'operation' && wish.needsApproval));
  assert.match(manual.waitingFor.map(({ reason, message }) => `${reason}: ${message}`).join(), /NotCreated: .*manual/);
  assert.ok(kinds(stray({ creation: 'automatic' })).includes('add-node'));
  assert.ok(kinds(stray({ creation: 'manual' }, true)).includes('add-node'), 'of a cluster that was created once');
  assert.deepEqual(kinds(stray({ creation: 'manual', fix: 'off' })), ['create']);
});

test('servers that own a slot and hold nothing wait until all pods are there; what holds keys, or most slots, is looked after', () => {
  const some = (stray: Partial<TestNode>, more = 0) =>
    kinds(look([freshNode('s', { host: '10.2.0.9', slots: '7', ...stray }), ...fresh(more)], { configured: false }));
  assert.deepEqual(some({}, 4), []);
  assert.deepEqual(some({}, 5)[0], 'create');
  assert.ok(some({ keys: { 7: 1 } }, 4).includes('fix'));
  assert.ok(some({ slots: '7-16383' }, 4).includes('fix'));
});

test('a dead member without a home is forgotten, and who lives in its place becomes a replica', () => {
  const dead = { unreachable: 'no answer', flags: ['fail'], slots: '' } as const;
  const nodes = [
    ...clusterNodes({ primaries: 3, replicas: 1, nodes: { p0r0: dead } }).filter(({ id }) => id !== idOf('p0r0')),
    ...fresh(1),
  ];
  const ghost = clusterNodes({ primaries: 3, replicas: 1, nodes: { p0r0: dead } }).find(
    ({ id }) => id === idOf('p0r0'),
  );
  assert.ok(ghost);
  const view = viewOfNodes([...nodes, ghost].map((node) => ({ ...node, port: CLIENT_PORT })));
  const pods = testPods(nodes);
  const facts = { desired, view, findings: checkCluster(view), configured: true };
  const next = nextSteps({ ...facts, members: podMembers(pods, view) });
  assert.deepEqual(kinds(next).slice(-2), ['delete-node', 'add-node']);
  // With a pod in which nobody answers it could still come back there.
  const silent = [...pods.slice(0, -1), { ...(pods.at(-1) as PodFacts), ip: '10.9.9.9' }];
  assert.ok(!kinds(nextSteps({ ...facts, members: podMembers(silent, view) })).includes('delete-node'));
  // Nor is it lost while its pod is only on its way back.
  assert.ok(!kinds(nextSteps({ ...facts, members: podMembers(pods.slice(0, -1), view) })).includes('delete-node'));
});

test('newcomers are primaries first; those without slots get some before replicas come', () => {
  const grown = { spec: { primaries: 4 } };
  assert.deepEqual(kinds(look([...whole, ...fresh(2)], grown)), ['add-node', 'add-node']);
  const [first] = look([...whole, ...fresh(2)], grown).wishes as readonly OperationWish[];
  assert.equal((first?.request as { readonly as?: string } | undefined)?.as, 'primary');
  const joined = clusterNodes({ primaries: 4, replicas: 1, nodes: { p0: { slots: '' }, p1: { slots: '0-8191' } } });
  const without = joined.filter(({ id }) => id !== idOf('p0r0'));
  const steps = kinds(look([...without, ...fresh(1)], grown));
  assert.deepEqual(
    steps.filter((kind) => kind !== 'fix'),
    ['rebalance', 'add-node'],
  );
});

test('a newcomer waits a while where a shard has lost its primary, and its replica is about to take over', () => {
  const settleOf = (changes: Readonly<Record<string, Partial<TestNode>>>) => {
    const nodes = [...clusterNodes({ primaries: 3, replicas: 1, nodes: changes }), ...fresh(1)].map((node) => ({
      ...node,
      port: CLIENT_PORT,
    }));
    const view = viewOfNodes(nodes);
    const members = podMembers(testPods(nodes.filter(({ unreachable }) => unreachable === undefined)), view);
    const { wishes } = nextSteps({ desired, view, members, findings: checkCluster(view), configured: true });
    const wish = wishes.find((one) => one.what === 'operation' && one.kind === 'add-node') as OperationWish | undefined;
    return [(wish?.request as { readonly as?: string } | undefined)?.as, wish?.settleMs];
  };
  const dead = { unreachable: 'no answer', flags: ['fail'] };
  assert.deepEqual(settleOf({ p0: { ...dead, flags: [] } }), ['replica', 20_000]);
  assert.deepEqual(settleOf({ p0: dead }), ['replica', 20_000]);
  const elected = { p0: { ...dead, slots: '' }, p0r0: { role: 'primary', slots: '0-5460', epoch: 9 } } as const;
  assert.deepEqual(settleOf(elected), ['replica', 0]);
  assert.deepEqual(settleOf({ p0r0: dead }), ['replica', 0], 'nothing is elected');
});

test('pods beyond the size leave, replicas first, and a primary hands over to one who stays if too few would be left', () => {
  const six = clusterNodes({ primaries: 4, replicas: 1 });
  const [wish] = look(six, { spec: { primaries: 3 } }).wishes as readonly OperationWish[];
  assert.equal(wish?.kind, 'delete-node');
  assert.equal((wish?.request as { readonly id?: string } | undefined)?.id, idOf('p3r0'));
});

test('old pods are made anew one by one: replicas, then primaries after a failover; spreading waits until all are new', () => {
  const old = whole.map(() => ({ isCurrent: false }));
  assert.deepEqual(kinds(look(whole, { pods: old, spec: { storage: { size: '1Gi' } } })), ['restart c-5']);
  const primariesOld = whole.map(({ role }) => ({ isCurrent: role === 'replica' }));
  assert.deepEqual(kinds(look(whole, { pods: primariesOld })), ['failover']);
  const oneAway = primariesOld.map((one, at) => (at === 1 ? { ...one, isReady: false } : one));
  assert.deepEqual(kinds(look(whole, { pods: oneAway })), [], 'one of the new ones is not well');
  const leaving = old.map((one, at) => (at === 0 ? { ...one, isDeleting: true } : one));
  assert.deepEqual(kinds(look(whole, { pods: leaving })), []);
});

test('why old pods stay as they are is said, whatever keeps them', () => {
  const reasons = (...args: Parameters<typeof look>) =>
    look(...args).waitingFor.map(({ reason, subjects }) => `${reason} ${subjects.join()}`);
  const old = whole.map(() => ({ isCurrent: false }));
  assert.deepEqual(reasons(whole, { pods: old }), [], 'one is made anew');
  const unready = old.map((one, at) => (at === 5 ? { isReady: false } : one));
  assert.deepEqual(reasons(whole, { pods: unready }), ['PodNotReady c-5']);
  const away = old.map((one, at) => (at === 5 ? { isReady: false, isDeleting: true } : one));
  assert.deepEqual(reasons(whole, { pods: away }), [], 'it goes on in a moment');
  const allNew = unready.map((one, at) => (at === 5 ? one : {}));
  assert.deepEqual(reasons(whole, { pods: allNew }), [], 'none is old');
  const lagging = clusterNodes({ primaries: 3, replicas: 1, nodes: { p1r0: { linkUp: false } } });
  const { waitingFor } = look(lagging, { pods: old });
  assert.deepEqual(
    waitingFor.map(({ reason }) => reason),
    ['CheckNotClean'],
  );
  assert.match(waitingFor[0]?.message ?? '', /before the check is clean: .*10\.\d/);
  const alone = { spec: { replicasPerPrimary: 0 }, pods: old };
  const primaries = clusterNodes({ primaries: 3, replicas: 0 });
  assert.deepEqual(reasons(primaries, alone), ['UpgradeLosesData c-0,c-1,c-2']);
  const kept = { ...alone, spec: { replicasPerPrimary: 0, storage: { size: '1Gi' } } };
  assert.deepEqual(reasons(primaries, kept), []);
  const ill = old.map((one, at) => (at === 2 || at === 3 ? { ...one, isReady: false, isServing: false } : one));
  assert.deepEqual(reasons(whole, { pods: ill }), ['NoStandIn c-2,c-3']);
});

test('an old pod of which only the agent does not come up is made anew first, and holds nobody up', () => {
  // Places: p0 p0r0 p1 p1r0 p2 p2r0.
  const podsOf = (at: number, ill: Partial<PodFacts>) =>
    whole.map((_, ordinal) => ({ isCurrent: false, ...(ordinal === at && ill) }));
  const withoutAgent = { isReady: false, isServing: true };
  assert.deepEqual(kinds(look(whole, { pods: podsOf(1, withoutAgent) })), ['restart c-1']);
  assert.deepEqual(kinds(look(whole, { pods: podsOf(0, withoutAgent) })), ['restart c-5'], 'a primary waits its turn');
  const taken = whole.map(() => ({ ...withoutAgent, isCurrent: false }));
  assert.deepEqual(kinds(look(whole, { pods: taken })), ['restart c-5'], 'all are so');
  const backed = whole.map((_, at) => (at === 3 ? { ...withoutAgent, isCurrent: false } : {}));
  assert.deepEqual(kinds(look(whole, { pods: backed })), ['restart c-3'], 'the spec was taken back');
  const stuck = whole.map((_, at) => ({ isCurrent: at === 3, ...(at === 3 && withoutAgent) }));
  assert.deepEqual(kinds(look(whole, { pods: stuck })), [], 'the new kind itself is what does not come up');
});

test('the last of a shard that serves is not taken, and takes over from one that does not', () => {
  const podsOf = (...ill: readonly number[]) =>
    whole.map((_, at) => ({ isCurrent: false, ...(ill.includes(at) && { isReady: false, isServing: false }) }));
  assert.deepEqual(kinds(look(whole, { pods: podsOf(3) })), ['restart c-3'], 'before any that serves');
  const [over, ...others] = look(whole, { pods: podsOf(2) }).wishes as readonly OperationWish[];
  assert.deepEqual([over?.kind, over?.request], ['failover', { id: idOf('p1r0'), mode: 'graceful' }]);
  assert.equal(over?.settleMs, 8_000, 'it may be back in a moment');
  assert.deepEqual(others, []);
  assert.deepEqual(kinds(look(whole, { pods: podsOf(2, 3) })), [], 'nobody of them serves');
  assert.deepEqual(kinds(look(whole, { pods: podsOf(2, 3, 5) })), ['restart c-5']);
});

test('of the replicas too many in one shard the one leaves that is better placed in the other', () => {
  // p0 has a replica too many, p1 one too few: two of p0's are in p1's zone.
  const zone = (name: string) => ({ annotations: { host: name, zone: name.slice(0, 1) } });
  const nodes = clusterNodes({
    primaries: 3,
    replicas: 2,
    nodes: {
      p0: zone('a0'),
      p0r0: zone('c0'),
      p0r1: zone('b0'),
      p1: zone('b1'),
      p1r0: { ...zone('b3'), primaryId: idOf('p0') },
      p1r1: zone('a1'),
      p2: zone('c2'),
      p2r0: zone('a2'),
      p2r1: zone('b2'),
    },
  }).map((node) => ({ ...node, port: CLIENT_PORT }));
  const view = viewOfNodes(nodes);
  const want = desiredOf({ primaries: 3, replicasPerPrimary: 2 });
  const members = podMembers(testPods(nodes), view);
  const { wishes } = nextSteps({ desired: want, members, view, findings: [], configured: true });
  const [first] = wishes as readonly OperationWish[];
  assert.equal(first?.kind, 'delete-node');
  assert.equal((first?.request as { readonly id?: string } | undefined)?.id, idOf('p0r0'));
});

test('an old replica that does not get in step with its new primary is made anew: it may not read what a newer one writes', () => {
  const behind = (...names: readonly string[]) =>
    clusterNodes({
      primaries: 3,
      replicas: 1,
      nodes: Object.fromEntries(names.map((name) => [name, { linkUp: false }])),
    });
  const pods = (...current: readonly number[]) => whole.map((_, at) => ({ isCurrent: current.includes(at) }));
  const next = look(behind('p0r0'), { pods: pods(0) });
  assert.deepEqual(kinds(next), ['fix', 'restart c-1']);
  assert.ok((next.wishes.at(-1)?.settleMs ?? 0) >= 20_000, 'it may come back by itself');
  assert.deepEqual(kinds(look(behind('p0r0'), { pods: pods() })), ['fix'], 'of an old primary it can read all');
  assert.deepEqual(kinds(look(behind('p0r0'), { pods: pods(0, 1) })), ['fix'], 'a new one is waited for');
  assert.deepEqual(kinds(look(behind('p0r0', 'p1r0'), { pods: pods(0) })), ['fix'], 'when nothing else is amiss');
  const two = look(behind('p0r0', 'p1r0'), { pods: pods(0, 2) });
  assert.deepEqual(kinds(two), ['fix', 'restart c-1'], 'of several one after the other');
  const oneAway = whole.map((_, at) => ({ isCurrent: at === 0 || at === 2, isDeleting: at === 1 }));
  assert.deepEqual(kinds(look(behind('p0r0', 'p1r0'), { pods: oneAway })), ['fix'], 'the next when that is back');
});

test('silent pods of an old kind are made anew before anything was ever begun, and never after', () => {
  const pods = testPods(fresh(6), (ordinal) => ({
    isReady: false,
    isDeleting: ordinal === 0,
    isCurrent: ordinal === 1,
  }));
  const answering = fresh(6)
    .slice(5)
    .map((node) => ({ ...node, port: CLIENT_PORT }));
  const view = viewOfNodes(answering);
  const facts = { desired, view, findings: [], members: podMembers(pods, view), configured: false };
  // One is being deleted, one is of the new kind, one answers.
  assert.deepEqual(kinds(nextSteps({ ...facts, isUntouched: true })), ['restart c-2', 'restart c-3', 'restart c-4']);
  assert.deepEqual(kinds(nextSteps(facts)), []);
});

test('how slots move, and when they are uneven, is what the spec says', () => {
  const spec = { migration: { engine: 'windowed', pace: 'fast' } };
  const how = { engine: 'windowed', pace: 'fast' };
  const request = (kind: string, next: ReturnType<typeof look>) => {
    const wish = next.wishes.find((one) => one.what === 'operation' && one.kind === kind);
    return wish && (wish as OperationWish).request;
  };
  const uneven = clusterNodes({
    primaries: 3,
    replicas: 1,
    nodes: { p0: { slots: '0-6000' }, p1: { slots: '6001-10922' } },
  });
  // 10 percent more than its share.
  const threshold = (percent: number) => look(uneven, { spec: { ...spec, rebalance: { threshold: percent } } });
  assert.deepEqual(kinds(threshold(20)), []);
  assert.deepEqual(pick(request('rebalance', threshold(8))), { threshold: 8, ...how });
  assert.deepEqual(pick(request('rebalance', look(uneven, { spec }))), { threshold: 5, ...how });
  const shrunk = look(clusterNodes({ primaries: 4, replicas: 1 }), { spec });
  assert.deepEqual(pick(request('delete-node', shrunk)), how);
  const open = clusterNodes({ primaries: 3, replicas: 1, nodes: { p0: { slots: '1-5461' } } });
  assert.deepEqual(pick(request('fix', look(open, { spec }))), { pace: 'fast' });
});

/** What of a request says how slots move. */
function pick(request: unknown): object {
  const { threshold, engine, pace } = (request ?? {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries({ threshold, engine, pace }).filter(([, value]) => value !== undefined));
}

test('while an image is held back no pod is made anew', () => {
  const at = whole.map((node) => ({ ...node, port: CLIENT_PORT, annotations: { host: node.host, zone: node.host } }));
  const view = viewOfNodes(at);
  const members = podMembers(
    testPods(at, () => ({ isCurrent: false })),
    view,
  );
  const facts = { desired, members, view, findings: [], configured: true };
  assert.equal(nextSteps(facts).wishes[0]?.what, 'restart');
  assert.deepEqual(nextSteps({ ...facts, isImageHeld: true }).wishes, []);
});
