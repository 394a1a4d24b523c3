import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterView } from '../api/view.ts';
import { checkCluster } from './check.ts';
import type { CreateRequest } from './create.ts';
import { desiredOf } from './desired.ts';
import type { OperationWish } from './next.ts';
import { nextExternalSteps } from './next-external.ts';
import { type PodFacts, podMembers } from './pods.ts';
import { testPods } from './pods-testing.ts';
import { clusterNodes, freshNode, type TestNode, viewOfNodes } from './testing.ts';

const PORT = 7000;

function look(
  nodes: readonly TestNode[],
  changes: {
    readonly spec?: object;
    readonly configured?: boolean;
    readonly members?: readonly (Partial<PodFacts> | undefined)[];
    /** Members that nobody knows and that did not answer. */
    readonly silent?: ClusterView['silent'];
    /** Without a member. */
    readonly strangers?: readonly TestNode[];
  } = {},
) {
  const view = viewOfNodes([...nodes, ...(changes.strangers ?? [])], { silent: changes.silent ?? [] });
  const hosts = [...nodes, ...(changes.silent ?? []).map(({ endpoint }) => endpoint)];
  const enrolled = testPods(hosts, (ordinal) => ({
    name: `h-${ordinal + 1}`,
    port: PORT,
    ...changes.members?.[ordinal],
  }));
  const desired = desiredOf({ members: 'external', primaries: 3, replicasPerPrimary: 1, ...changes.spec });
  const { replicasPerPrimary, spreadBy } = desired;
  return nextExternalSteps({
    desired,
    members: podMembers(enrolled, view),
    view,
    findings: checkCluster(view, { replicasPerPrimary, spreadBy }),
    configured: changes.configured ?? true,
  });
}

type Looked = ReturnType<typeof look>;
const kinds = ({ wishes }: Looked) => wishes.map((wish) => (wish.what === 'operation' ? wish.kind : wish.what));
const reasons = ({ waitingFor }: Looked) => waitingFor.map(({ reason }) => reason);
const hostsOf = (next: Looked) =>
  ((next.wishes[0] as OperationWish | undefined)?.request as CreateRequest | undefined)?.endpoints.map(
    ({ host, port }) => `${host}:${port}`,
  );

const fresh = (count: number, changes: Partial<TestNode> = {}) =>
  Array.from({ length: count }, (_, at) => freshNode(`f${at}`, { host: `10.2.0.${at + 1}`, ...changes }));
const whole = clusterNodes({ primaries: 3, replicas: 1 });

test('empty members become a cluster when enough of them have agents that are heard of, and nobody else came for a while', () => {
  const few = look(fresh(5), { configured: false });
  assert.deepEqual([kinds(few), reasons(few)], [[], ['MembersMissing']]);
  const enough = look(fresh(6), { configured: false });
  assert.deepEqual([kinds(enough), reasons(enough)], [['create'], []]);
  assert.equal((enough.wishes[0] as OperationWish).needsApproval, false);
  assert.ok((enough.wishes[0]?.settleMs ?? 0) >= 10_000);
  const mute = look(fresh(6), { configured: false, members: [undefined, { isReady: false }] });
  assert.deepEqual([kinds(mute), reasons(mute)], [[], ['MembersMissing']]);
  const leaving = look(fresh(6), { configured: false, members: [{ isDeleting: true }] });
  assert.deepEqual(kinds(leaving), []);
  const byHand = look(fresh(6), { configured: false, spec: { creation: 'manual' } });
  assert.equal((byHand.wishes[0] as OperationWish).needsApproval, true);
  assert.equal((look(fresh(6)).wishes[0] as OperationWish).needsApproval, true, 'what was one once had data');
});

test('of more members than are needed those that hold nothing are taken, the first by name', () => {
  const [one, ...rest] = fresh(8);
  const next = look([{ ...(one as TestNode), keys: { 5: 1 } }, ...rest], { configured: false });
  assert.deepEqual(
    hostsOf(next),
    ['2', '3', '4', '5', '6', '7'].map((at) => `10.2.0.${at}:7000`),
  );
});

test('a member that is not empty is named, with what it holds, when there are too few others', () => {
  const [one, ...rest] = fresh(6);
  const next = look([{ ...(one as TestNode), keys: { 5: 1 } }, ...rest], { configured: false });
  assert.deepEqual([kinds(next), reasons(next)], [[], ['MembersMissing', 'NodeNotEmpty']]);
  for (const { subjects } of next.waitingFor) assert.deepEqual(subjects, ['h-1']);
  const [refused] = next.refused ?? [];
  assert.deepEqual([refused?.kind, refused?.refusal.code], ['create', 'NODE_NOT_EMPTY']);
  assert.match(refused?.refusal.message ?? '', /^member h-1 is not empty: it holds keys \(1 in database 0\)$/);
  assert.deepEqual(next.unasked, undefined, 'what else was refused is asked again when there are enough');
  const unheard = look(fresh(6), { configured: false, members: [{ isReady: false }] });
  assert.deepEqual(unheard.unasked, ['create'], 'an agent may be heard of in a moment');
});

test('a creation that was given up half way is gone on with by those who began it', () => {
  const all = fresh(8);
  const begun = all.slice(6).map(({ id }) => id);
  // h-7 and h-8 know each other already; others with earlier names came later.
  const half = all.map((node, at) => (at >= 6 ? { ...node, knows: begun } : node));
  const next = look(half, { configured: false });
  assert.equal(kinds(next)[0], 'create');
  assert.deepEqual(
    hostsOf(next),
    ['1', '2', '3', '4', '7', '8'].map((at) => `10.2.0.${at}:7000`),
  );
});

test('nobody joins and nobody leaves by itself; what is damaged or uneven is mended', () => {
  assert.deepEqual(look(whole), { wishes: [], waitingFor: [] });
  assert.deepEqual(kinds(look([...whole, ...fresh(2)])), [], 'who waits beside the cluster stays there');
  assert.deepEqual(kinds(look(whole, { spec: { primaries: 5, replicasPerPrimary: 0 } })), []);
  const uneven = clusterNodes({
    primaries: 3,
    replicas: 1,
    nodes: { p0: { slots: '0-9000' }, p1: { slots: '9001-10922' } },
  });
  assert.deepEqual(kinds(look(uneven)), ['rebalance']);
  assert.deepEqual(kinds(look(uneven, { spec: { rebalance: { mode: 'off' } } })), []);
  const open = clusterNodes({ primaries: 3, replicas: 1, nodes: { p0: { slots: '1-5461' } } });
  assert.deepEqual(kinds(look(open)), ['fix']);
  assert.ok(reasons(look(open, { spec: { fix: 'off' } })).includes('FixIsOff'));
});

test('a dead member is waited for and never forgotten by itself; nodes without a member are named', () => {
  const dead = { unreachable: 'no answer', flags: ['fail'] } as const;
  const nodes = clusterNodes({ primaries: 3, replicas: 1, nodes: { p0r0: dead } });
  const next = look(nodes);
  assert.ok(!kinds(next).includes('delete-node'));
  assert.ok(reasons(next).includes('ServersSilent'));
  assert.match(next.waitingFor[0]?.message ?? '', /^the servers of h-\d do not answer the manager: no answer$/);
  const strangers = look(whole.slice(0, 5), { strangers: whole.slice(5) });
  assert.deepEqual(reasons(strangers), ['NodesNotEnrolled']);
});

test('what servers that let nobody in say of it is told, of one of them', () => {
  const silent = ['10.2.0.1', '10.2.0.2'].map((host) => ({
    endpoint: { host, port: PORT },
    code: 'REDIS_TLS',
    why: `no TLS connection to ${host}:7000: self-signed certificate in certificate chain`,
  }));
  const { waitingFor } = look([], { silent, configured: false });
  assert.equal(
    waitingFor[0]?.message,
    'the servers of h-1, h-2 do not answer the manager: no TLS connection to 10.2.0.1:7000: self-signed certificate in certificate chain',
  );
});

test('of a cluster that was created and of which nobody answers only that is told: nobody looks for empty servers', () => {
  const silent = Array.from({ length: 6 }, (_, at) => ({
    endpoint: { host: `10.2.0.${at + 1}`, port: PORT },
    code: 'REDIS_UNREACHABLE',
    why: 'connection refused',
  }));
  assert.deepEqual([kinds(look([], { silent })), reasons(look([], { silent }))], [[], ['ServersSilent']]);
  assert.deepEqual(reasons(look([], { silent, configured: false })), ['ServersSilent', 'MembersMissing']);
  assert.deepEqual(reasons(look([])), ['MembersMissing'], 'members that are not enrolled are told of');
});

test('with creation by hand a member that owns a slot is no cluster: it is mended by approval only', () => {
  const members = [freshNode('s', { host: '10.2.0.9', slots: '7' }), ...fresh(5)];
  const manual = look(members, { configured: false, spec: { creation: 'manual' } });
  assert.deepEqual(kinds(manual), ['create', 'fix']);
  assert.ok(manual.wishes.every((wish) => wish.what === 'operation' && wish.needsApproval));
  assert.ok(reasons(manual).includes('NotCreated'));
  const created = look(members, { configured: true, spec: { creation: 'manual' } });
  assert.ok(created.wishes.some((wish) => wish.what === 'operation' && !wish.needsApproval));
});

test('a member that owns a slot, or members that know each other, are no cluster: they are mended by approval only', () => {
  const slot = look([freshNode('s', { host: '10.2.0.9', slots: '7' })], { configured: false });
  assert.deepEqual([kinds(slot), reasons(slot)], [['fix'], ['MembersMissing', 'NotCreated']]);
  assert.ok(slot.wishes.every((wish) => wish.what === 'operation' && wish.needsApproval));
  assert.match(slot.waitingFor.at(-1)?.message ?? '', /^no cluster .* 1 of 16384 slots .*: h-1\. .*enroll.*approve/);
  const off = look([freshNode('s', { host: '10.2.0.9', slots: '7' })], { configured: false, spec: { fix: 'off' } });
  assert.deepEqual([kinds(off), reasons(off)], [[], ['MembersMissing', 'NotCreated', 'FixIsOff']]);
  assert.doesNotMatch(off.waitingFor[1]?.message ?? '', /approve/);
  const begun = fresh(4).map((node, at, all) => (at < 2 ? node : { ...node, knows: all.slice(2).map(({ id }) => id) }));
  const met = look(begun, { configured: false });
  assert.ok(met.wishes.every((wish) => wish.what === 'operation' && wish.needsApproval));
  assert.deepEqual(met.waitingFor.at(-1)?.subjects, ['h-3', 'h-4']);
});

test('a damaged cluster is adopted while most of its slots have an owner, also a dead one', () => {
  const needsApproval = (nodes: Readonly<Record<string, Partial<TestNode>>>) => {
    const next = look(clusterNodes({ primaries: 3, replicas: 1, nodes }), { configured: false });
    const fix = next.wishes.find((wish) => wish.what === 'operation' && wish.kind === 'fix') as
      | OperationWish
      | undefined;
    return [fix?.needsApproval, reasons(next).includes('NotCreated')];
  };
  assert.deepEqual(needsApproval({ p0: { slots: '' } }), [false, false]);
  const dead = { unreachable: 'no answer', flags: ['fail'] } as const;
  assert.deepEqual(needsApproval({ p0: dead, p1: dead, p2: { slots: '10923-16382' } }), [false, false]);
  assert.deepEqual(needsApproval({ p0: { slots: '' }, p1: { slots: '' } }), [true, true]);
});
