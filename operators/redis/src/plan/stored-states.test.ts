import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemberStatus } from '../api/cluster.ts';
import type { ClusterView } from '../api/view.ts';
import { formsOf } from './bounded-status.ts';
import { topologyOf } from './cluster-status.ts';
import { testPod } from './pods-testing.ts';
import { storeStates } from './stored-states.ts';
import { clusterNodes, freshNode, idOf, type TestNode, viewOfNodes } from './testing.ts';
import { reported } from './topology.ts';

const BEGIN = Date.parse('2026-01-01T00:00:00Z');
const at = (seconds: number) => BEGIN + seconds * 1_000;
const timeOf = (seconds: number) => new Date(at(seconds)).toISOString().replace('.000Z', 'Z');
const nodes = (changes: Readonly<Record<string, Partial<TestNode>>> = {}) =>
  clusterNodes({ primaries: 3, replicas: 1, nodes: changes });
const viewAt = (seconds: number, all: readonly TestNode[]): ClusterView => ({
  ...viewOfNodes(all),
  observedAt: at(seconds),
});

function store(
  before: Parameters<typeof storeStates>[0],
  view: ClusterView,
  told: readonly MemberStatus[] = [],
): ReturnType<typeof storeStates> {
  const pods = reported(view).map((node, ordinal) => {
    const name = `pod-${Buffer.from(node.id.replace(/(00)+$/, ''), 'hex').toString()}`;
    return { ...testPod(ordinal, { name, uid: node.id }), node };
  });
  return storeStates(before, topologyOf(pods, view), { view, told });
}

const stateOf = (members: readonly MemberStatus[], name: string) => members.find(({ id }) => id === idOf(name));

test('each state is stored with the time of its collection, which is refreshed with any change and once a minute', () => {
  const first = store({}, viewAt(0, nodes()));
  assert.equal(first.observedAt, timeOf(0));
  assert.equal(first.members.length, 6);
  assert.equal(store(first, viewAt(50, nodes())).observedAt, timeOf(0), 'the same world is no news');
  assert.equal(store(first, viewAt(60, nodes())).observedAt, timeOf(60));
  const moved = nodes({ p0: { slots: '0-5000' }, p1: { slots: '5001-10922' } });
  assert.equal(store(first, viewAt(5, moved)).observedAt, timeOf(5));
});

test('who falls silent keeps its last state and the time of it, until it answers or nobody knows it any more', () => {
  const first = store({}, viewAt(0, nodes()));
  const silent = nodes({ p0: { unreachable: 'no answer', flags: ['fail'] } });
  const second = store(first, viewAt(70, silent));
  assert.deepEqual(stateOf(second.members, 'p0'), {
    ...stateOf(first.members, 'p0'),
    silent: true,
    collectedAt: timeOf(0),
  });
  assert.equal(second.observedAt, timeOf(70));
  assert.equal(second.primaries, 2, 'who is silent is not counted');
  const third = store(second, viewAt(200, silent));
  assert.equal(stateOf(third.members, 'p0')?.collectedAt, timeOf(0));
  assert.deepEqual(stateOf(store(third, viewAt(210, nodes())).members, 'p0'), stateOf(first.members, 'p0'));
  const forgotten = nodes().filter(({ id }) => id !== idOf('p0'));
  assert.equal(stateOf(store(third, viewAt(220, forgotten)).members, 'p0'), undefined);
  const out = [...forgotten, freshNode('p0', { host: '10.0.0.1' })];
  assert.equal(stateOf(store(third, viewAt(220, out)).members, 'p0'), undefined, 'it answers, and is in no cluster');
});

test('when nobody can be asked, all that was known is kept', () => {
  const first = store({}, viewAt(0, nodes()));
  const nothing = store(first, { observedAt: at(90), nodes: [], silent: [] });
  assert.deepEqual(
    nothing.members.map(({ id, silent, collectedAt }) => [id, silent, collectedAt]),
    first.members.map(({ id }) => [id, true, timeOf(0)]),
  );
});

test('what an agent tells of a node that the manager could not ask stands for it', () => {
  const first = store({}, viewAt(0, nodes()));
  const silent = nodes({ p0: { unreachable: 'no way to it' } });
  const told: MemberStatus = { pod: 'pod-p0', id: idOf('p0'), role: 'primary', slots: '0-5461', by: 'agent' };
  const second = store(first, viewAt(70, silent), [told]);
  assert.deepEqual(stateOf(second.members, 'p0'), told);
  const third = store(second, viewAt(90, silent));
  assert.deepEqual(stateOf(third.members, 'p0'), {
    pod: 'pod-p0',
    id: idOf('p0'),
    role: 'primary',
    slots: '0-5461',
    silent: true,
    collectedAt: timeOf(70),
  });
});

test('a pod is named once: who lived there before another one goes by its id', () => {
  const before = { observedAt: timeOf(0), members: [{ pod: 'pod-p1', id: idOf('old'), role: 'replica' as const }] };
  const ghost = { ...freshNode('old'), unreachable: 'gone', flags: ['fail'], host: '10.9.9.9' };
  const { knows: _knows, ...heardOf } = ghost;
  const { members } = store(before, viewAt(10, [...nodes(), heardOf]));
  assert.equal(stateOf(members, 'old')?.pod, idOf('old'));
  assert.equal(new Set(members.map(({ pod }) => pod)).size, 7);
});

test('a status holds no more members than its schema takes: who answers goes first', () => {
  const before = Array.from(
    { length: 1_000 },
    (_, number): MemberStatus => ({
      id: idOf(`x${number}`),
      pod: `x-${number}`,
      role: 'replica',
    }),
  );
  const { members } = storeStates({ members: before }, topologyOf([], viewAt(0, [])), {
    view: viewAt(0, []),
    told: [{ id: idOf('new'), pod: 'new', role: 'primary' }],
  });
  assert.equal(members.length, 1_000);
  assert.ok(stateOf(members, 'new'));
});

test('what a large status had to leave out is no news', () => {
  const members = Array.from({ length: 200 }, (_, index): MemberStatus => {
    const base = { pod: `c-${index}`, id: idOf(`n${index}`), role: 'primary', slots: '1,3-5,7' } as const;
    return index === 0 ? { ...base, silent: true, collectedAt: timeOf(0) } : base;
  });
  const topology = { primaries: 200, replicas: 0, slots: 16_384, members };
  const view = { observedAt: at(5), nodes: [], silent: [] };
  const again = (before: readonly MemberStatus[]) =>
    storeStates({ observedAt: timeOf(0), members: [...before] }, topology, { view }).observedAt;
  const [whole, shorter = [], silent = []] = formsOf(members);
  assert.equal(whole, members);
  assert.equal(shorter[1]?.slots, '5 slots in 3 ranges');
  assert.deepEqual(silent, [shorter[0]]);
  for (const form of [members, shorter, silent]) assert.equal(again(form), timeOf(0));
  assert.equal(again(shorter.slice(1)), timeOf(5));
  assert.equal(again([]), timeOf(5));
});
