import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeepReadonly } from '@reeve/runtime';
import { factsOf } from '../agent/facts.ts';
import type { Presence } from '../agent/presence.ts';
import type { MemberObject } from '../api/kinds.ts';
import { clusterNodes, idOf, type TestNode, viewOfNodes } from '../plan/testing.ts';
import { agentConditions, agentWaits, externalPods, membersByNode, rosterOf, toldStates } from './roster.ts';

const heard: Presence = { is: 'heard', silentMs: 1, isProved: true };
const nodes = clusterNodes({ primaries: 3, replicas: 1 });
const view = viewOfNodes(nodes);

function member(
  name: string,
  node: string,
  changes: { status?: object; spec?: object } = {},
): DeepReadonly<MemberObject> {
  const seen = view.nodes.find(({ id }) => id === idOf(node));
  assert.ok(seen?.report.known);
  const facts = factsOf(seen.report.value, 'run', { annotations: { zone: `zone-of-${name}` } });
  return {
    metadata: { namespace: 'ns', name, uid: `uid-${name}` },
    spec: { system: 'redis', endpoint: seen.endpoint, host: 'h', ...changes.spec },
    status: { report: { facts: { ...facts } }, ...changes.status },
  } as DeepReadonly<MemberObject>;
}

const roster = (members: readonly DeepReadonly<MemberObject>[], presences: Readonly<Record<string, Presence>> = {}) =>
  rosterOf(members, ({ metadata }) => presences[metadata.name] ?? heard);

test('members of bare servers, by name, with what their agents were told of where they live', () => {
  const pod = member('c-0', 'p0', { spec: { pod: { name: 'c-0', uid: 'u' } } });
  const other = member('cassandra', 'p0', { spec: { system: 'cassandra' } });
  const unread = member('b', 'p1');
  const lastFacts = { ...unread.status?.report, unknown: 'the server does not answer' };
  const all = roster([{ ...unread, status: { report: lastFacts } } as never, pod, other, member('a', 'p0')]);
  assert.deepEqual(
    externalPods(all).map(({ name, ip, port, isReady, annotations }) => [name, ip, port, isReady, annotations.zone]),
    [
      ['a', '10.0.0.1', 7000, true, 'zone-of-a'],
      ['b', '10.0.0.3', 7000, false, 'zone-of-b'],
    ],
  );
});

test('orders are given to agents that were seen to live, and of each node to one', () => {
  const presences: Record<string, Presence> = {
    b: { is: 'lost', silentMs: 30_000 },
    c: { is: 'heard', silentMs: 0, isProved: false },
    d: { is: 'awaited', silentMs: 0 },
  };
  const all = roster(
    [member('a', 'p0'), member('a-too', 'p0'), member('b', 'p1'), member('c', 'p2'), member('d', 'p0r0')],
    presences,
  );
  assert.deepEqual([...membersByNode(all)], [[idOf('p0'), { namespace: 'ns', name: 'a' }]]);
  assert.deepEqual(
    agentWaits(all).map(({ subjects }) => subjects),
    [['d']],
  );
});

test('lost agents are one condition; orders that wait for them are told', () => {
  assert.deepEqual(
    agentConditions(roster([member('a', 'p0')]), undefined).map(({ type, status }) => [type, status]),
    [['AgentLost', 'False']],
  );
  const order = { id: 'o', attempt: 1, verb: 'meet', arguments: {}, deadlineSeconds: 1, lease: 0 };
  const began = { id: 'o', attempt: 1, phase: 'Started', by: 'life' };
  const lost: Presence = { is: 'lost', silentMs: 30_000 };
  const conditionOf = (phase: string) => {
    const busy = member('a', 'p0', { spec: { orders: [order] }, status: { results: [{ ...began, phase }] } });
    return agentConditions(roster([busy], { a: lost }), undefined)[0];
  };
  assert.equal(conditionOf('Started')?.status, 'True');
  assert.match(conditionOf('Started')?.message ?? '', /the agents of a\..*Orders wait for a/);
  assert.doesNotMatch(conditionOf('Done')?.message ?? '', /Orders/);
});

test('what was said of lost agents stands after a start of the manager, until all have been seen to live', () => {
  const said = [{ type: 'AgentLost', status: 'True' as const, reason: 'Silent', message: 'those of a' }];
  const found: Presence = { is: 'heard', silentMs: 0, isProved: false };
  const statusOf = (presences: Readonly<Record<string, Presence>>) =>
    agentConditions(roster([member('a', 'p0'), member('b', 'p1')], presences), said).map(({ status }) => status);
  assert.deepEqual(statusOf({ a: found }), ['True']);
  assert.deepEqual(statusOf({ a: { is: 'unknown' } }), ['True'], 'its lease was not told yet');
  assert.deepEqual(statusOf({}), ['False']);
  assert.deepEqual(agentConditions(roster([member('a', 'p0')], { a: found }), [])[0]?.status, 'False');
});

test('where there are no agents any more, none is lost', () => {
  const said = [{ type: 'AgentLost', status: 'True' as const, reason: 'Silent', message: 'those of a' }];
  assert.deepEqual(
    agentConditions(undefined, said).map(({ status, reason }) => [status, reason]),
    [['False', 'NoAgents']],
  );
  assert.deepEqual(agentConditions(undefined, []), []);
});

test('agents tell of nodes that the manager does not reach, while they are heard of', () => {
  const cut: readonly TestNode[] = clusterNodes({
    primaries: 3,
    replicas: 1,
    nodes: { p0: { unreachable: 'no way' }, p0r0: { unreachable: 'no way' } },
  });
  const all = [member('a', 'p0'), member('b', 'p0r0'), member('c', 'p1')];
  assert.deepEqual(toldStates(roster(all), viewOfNodes(cut)), [
    { pod: 'a', id: idOf('p0'), role: 'primary', slots: '0-5461', by: 'agent' },
    { pod: 'b', id: idOf('p0r0'), role: 'replica', of: 'a', by: 'agent' },
  ]);
  assert.deepEqual(
    toldStates(roster(all, { a: { is: 'lost', silentMs: 1 }, b: { is: 'unknown' } }), viewOfNodes(cut)),
    [],
  );
});
