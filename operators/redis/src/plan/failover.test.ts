import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReached } from '@reeve/runtime';
import { isRefused } from '../api/operation.ts';
import type { NodeReport } from '../api/view.ts';
import { failoverOperation, type FailoverRequest } from './failover.ts';
import { brief, openAt, pursue, viewWith, type World } from './moves-testing.ts';
import { clusterNodes, idOf, type TestNode } from './testing.ts';

type Nodes = Readonly<Record<string, Partial<TestNode>>>;
const [p0, p1] = ['p0', 'p1'].map(idOf) as [string, string];
const dead: Partial<TestNode> = { unreachable: 'refused', flags: ['fail'] };

function worldOf(nodes: Nodes = {}): World {
  return clusterNodes({ primaries: 3, replicas: 2, nodes });
}

function offset(bytes: number): Partial<TestNode> {
  return { report: (report: NodeReport) => ({ ...report, replication: { ...report.replication, offset: bytes } }) };
}

function decide(world: World, request: FailoverRequest) {
  return failoverOperation.decide(request, viewWith(world, {}));
}

function refusedCode(nodes: Nodes, request: FailoverRequest): string | undefined {
  const decision = decide(worldOf(nodes), request);
  assert.ok(isRefused(decision), JSON.stringify(decision));
  return decision.refused[0]?.code;
}

test('graceful from a primary: the replica with the highest offset takes over, and all views say so', () => {
  const world = worldOf({ p0r0: offset(10), p0r1: offset(20) });
  const decision = decide(world, { id: p0, mode: 'graceful' });
  assert.ok(!isRefused(decision));
  assert.deepEqual(decision.goal, { replica: idOf('p0r1'), primary: p0, mode: 'graceful' });
  const result = pursue(failoverOperation, decision.goal, world);
  assert.deepEqual(brief(result.commands), ['failover p0→p0r1 graceful']);
  assert.ok(isReached(result.plan));
});

test('a named replica is taken, and how far it is behind is said', () => {
  const decision = decide(worldOf({ p0r0: offset(10), p0r1: offset(20) }), { id: idOf('p0r0'), mode: 'graceful' });
  assert.ok(!isRefused(decision));
  assert.equal(decision.goal.replica, idOf('p0r0'));
  assert.match(decision.reasons[0] ?? '', /10 bytes behind/);
});

test('graceful is refused when it could not be graceful', () => {
  const graceful: FailoverRequest = { id: p0, mode: 'graceful' };
  assert.equal(refusedCode({ p0: dead }, graceful), 'PRIMARY_GONE');
  assert.equal(refusedCode({ p0r0: { linkUp: false }, p0r1: { linkUp: false } }, graceful), 'NO_REPLICA');
  assert.equal(refusedCode({ p0r0: { linkUp: false } }, { id: idOf('p0r0'), mode: 'graceful' }), 'REPLICA_NOT_IN_SYNC');
  assert.equal(refusedCode({ p0: { migrating: openAt([1], p1) } }, graceful), 'SLOTS_OPEN_ELSEWHERE');
  assert.equal(refusedCode({ p1: dead, p2: dead }, graceful), 'NO_QUORUM');
  assert.equal(refusedCode({ p0r0: dead }, { id: idOf('p0r0'), mode: 'graceful' }), 'NO_REPLICA');
  assert.equal(refusedCode({ p0r0: { flags: ['nofailover'] } }, { id: idOf('p0r0'), mode: 'graceful' }), 'NO_REPLICA');
  assert.equal(refusedCode({}, { id: 'f'.repeat(40), mode: 'graceful' }), 'UNKNOWN_NODE');
});

test('force needs a dead primary and a majority', () => {
  const force: FailoverRequest = { id: p0, mode: 'force' };
  assert.equal(refusedCode({}, force), 'PRIMARY_ALIVE');
  assert.equal(refusedCode({ p0: { unreachable: 'x', flags: ['fail?'] } }, force), 'PRIMARY_NOT_FAILED');
  assert.equal(refusedCode({ p0: dead, p1: dead }, force), 'NO_QUORUM');
  const decision = decide(worldOf({ p0: dead }), force);
  assert.ok(!isRefused(decision));
  assert.ok(decision.reasons.some((reason) => reason.includes('lost')));
});

test('takeover needs a lost majority, and a primary that nobody sees', () => {
  const takeover: FailoverRequest = { id: p0, mode: 'takeover' };
  const lost: Partial<TestNode> = { unreachable: 'x', flags: ['fail?'] };
  assert.equal(refusedCode({ p0: dead }, takeover), 'QUORUM_PRESENT');
  const sees = (report: NodeReport): NodeReport => ({
    ...report,
    others: report.others.map((line) => (line.id === p0 ? { ...line, linkUp: true, flags: ['master'] } : line)),
  });
  assert.equal(refusedCode({ p0: lost, p1: lost, p2r0: { report: sees } }, takeover), 'PRIMARY_ALIVE');
  assert.ok(!isRefused(decide(worldOf({ p0: lost, p1: lost }), takeover)));
});

test('halves of a split cluster are not judged', () => {
  const halves = [
    ['p0', 'p0r0', 'p0r1'],
    ['p1', 'p1r0', 'p1r1', 'p2', 'p2r0', 'p2r1'],
  ].map((side) => side.map(idOf));
  const nodes = Object.fromEntries(
    ['p0', 'p0r0', 'p0r1', 'p1', 'p1r0', 'p1r1', 'p2', 'p2r0', 'p2r1'].map((name) => [
      name,
      { knows: halves.find((side) => side.includes(idOf(name))) ?? [] },
    ]),
  );
  assert.equal(refusedCode(nodes, { id: p0, mode: 'graceful' }), 'SPLIT_CLUSTER');
});

test('a running failover is waited for, late listeners and the old primary’s sync, too', () => {
  const goal = { replica: idOf('p0r0'), primary: p0, mode: 'graceful' as const };
  const plan = (world: World) => failoverOperation.plan(goal, viewWith(world, {}), 0, []);
  const [command] = plan(worldOf()).commands;
  assert.ok(command);
  const running = failoverOperation.plan(goal, viewWith(worldOf(), {}), 0, [{ command, startedAt: 0 }]);
  assert.deepEqual([running.commands.length, running.waitingFor?.[0]?.reason], [0, 'Failover']);
  const swapped: Nodes = {
    p0: { role: 'replica', primaryId: idOf('p0r0'), slots: '' },
    p0r0: { role: 'primary', slots: '0-5461', epoch: 9 },
    p0r1: { primaryId: idOf('p0r0') },
  };
  assert.ok(isReached(plan(worldOf(swapped))));
  const late = (report: NodeReport): NodeReport => ({
    ...report,
    others: report.others.map((line) => (line.id === p0 ? { ...line, role: 'primary' as const, primaryId: '' } : line)),
  });
  assert.deepEqual(plan(worldOf({ ...swapped, p1: { report: late } })).waitingFor?.[0]?.subjects, [p1]);
  const syncing = plan(worldOf({ ...swapped, p0: { ...swapped['p0'], linkUp: false } }));
  assert.equal(syncing.waitingFor?.[0]?.reason, 'ReplicaSync');
  const older = plan(worldOf({ ...swapped, p0: { ...swapped['p0'], linkUp: false, version: '8.0.1' } }));
  assert.ok(isReached(older), 'who is of another version may never be in sync');
});

test('when somebody else took over, the goal is overtaken', () => {
  const world = worldOf({
    p0: { role: 'replica', primaryId: idOf('p0r1'), slots: '' },
    p0r1: { role: 'primary', slots: '0-5461', epoch: 9 },
    p0r0: { primaryId: idOf('p0r1') },
  });
  const goal = { replica: idOf('p0r0'), primary: p0, mode: 'graceful' as const };
  const { refused } = failoverOperation.plan(goal, viewWith(world, {}), 0, []);
  assert.deepEqual(
    refused?.map(({ code }) => code),
    ['GOAL_OVERTAKEN'],
  );
});

test('graceful waits when the primary dies meanwhile', () => {
  const goal = { replica: idOf('p0r0'), primary: p0, mode: 'graceful' as const };
  const plan = failoverOperation.plan(goal, viewWith(worldOf({ p0: dead }), {}), 0, []);
  assert.deepEqual([plan.commands.length, plan.waitingFor?.[0]?.reason], [0, 'ReplicaSync']);
});
