/** Primaries with slots that nobody can read: who takes over, and what may be given up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefused } from '../api/operation.ts';
import type { NodeReport } from '../api/view.ts';
import { fixOperation } from './fix.ts';
import { counted, decide, goalFor, p0, p1, refusedCodes, worldOf } from './fix-testing.ts';
import { brief, viewWith, type World } from './moves-testing.ts';
import { clusterNodes, idOf, type TestNode } from './testing.ts';

const dead: Partial<TestNode> = { unreachable: 'refused', flags: ['fail'] };

test('a dead primary without replica: refused, and given up only when a person says so', () => {
  const world = worldOf({ p0: dead, p0r0: { ...dead } });
  assert.deepEqual(refusedCodes(world), ['PRIMARIES_UNREACHABLE']);
  const decision = decide(world, { allowUnreachable: true });
  assert.ok(!isRefused(decision));
  assert.deepEqual(decision.goal.givenUp, [p0]);
  assert.ok(decision.reasons.some((reason) => reason.includes('their keys are lost')));
  const plan = fixOperation.plan(decision.goal, counted(world), 0, []);
  assert.deepEqual(brief(plan.commands), ['claim 0-1365 p1', 'claim 1366-2730 p2', 'claim 2731-4095 p3']);
});

test('a dead primary whose replica was told not to take over is not given up: that one has its keys', () => {
  const world = worldOf({ p0: dead, p0r0: { flags: ['nofailover'] } });
  assert.deepEqual(refusedCodes(world, { allowUnreachable: true }), ['PRIMARIES_UNREACHABLE']);
  const goal = goalFor(worldOf({ p0: dead, p0r0: { ...dead } }), { allowUnreachable: true });
  const { commands, refused } = fixOperation.plan(goal, counted(world), 0, []);
  assert.deepEqual(commands, []);
  assert.match(refused?.[0]?.message ?? '', /p0r0|cluster-replica-no-failover/);
});

test('slots of a node that died after the approval are not given away', () => {
  const goal = goalFor(worldOf({ p0: dead, p0r0: { ...dead } }), { allowUnreachable: true });
  const later = worldOf({ p0: dead, p0r0: { ...dead }, p1: dead, p1r0: { ...dead } });
  const plan = fixOperation.plan(goal, counted(later), 0, []);
  assert.deepEqual(plan.commands, []);
  assert.deepEqual(
    plan.waitingFor?.map(({ reason, subjects }) => ({ reason, subjects })),
    [{ reason: 'PrimaryUnavailable', subjects: [p1] }],
  );
});

test('a dead primary with a living replica is never robbed: its failover is waited for, or forced', () => {
  const world = worldOf({ p0: dead });
  const plan = fixOperation.plan(goalFor(world), counted(world), 0, []);
  assert.deepEqual(plan.commands, []);
  assert.deepEqual(
    plan.waitingFor?.map(({ reason }) => reason),
    ['FailoverPending'],
  );
  const forced = goalFor(world, { allowUnreachable: true });
  assert.deepEqual(forced.givenUp, []);
  const commands = fixOperation.plan(forced, counted(world), 0, []).commands;
  assert.deepEqual(brief(commands), ['failover p0→p0r0 force']);
});

test('a primary that only we cannot read is alive: refused, whatever was allowed', () => {
  const cutOff = (report: NodeReport): NodeReport => ({
    ...report,
    others: report.others.map((line) => (line.id === p0 ? { ...line, linkUp: true } : line)),
  });
  const seenBy = (...names: readonly string[]): World =>
    worldOf({
      p0: { unreachable: 'firewall' },
      ...Object.fromEntries(names.map((name) => [name, { report: cutOff }])),
    });
  const most = seenBy('p1', 'p2', 'p3', 'p1r0');
  assert.deepEqual(refusedCodes(most), ['NODE_NOT_FAILED']);
  assert.deepEqual(refusedCodes(most, { allowUnreachable: true, takeover: true }), ['NODE_NOT_FAILED']);
  // One that tries to reach a dead node shows a link for a moment.
  const few = seenBy('p1');
  const goal = goalFor(few, { allowUnreachable: true, takeover: true });
  assert.deepEqual(goal.givenUp, []);
  const plan = fixOperation.plan(goal, viewWith(few, {}), 0, []);
  assert.deepEqual(plan.commands, []);
  assert.deepEqual(
    plan.waitingFor?.map(({ reason }) => reason),
    ['PrimaryUnavailable'],
  );
});

test('a lost majority: takeover only on a word, by the replica with most data', () => {
  const lost: Partial<TestNode> = { unreachable: 'refused', flags: ['fail?'] };
  const offset = (bytes: number) => (report: NodeReport) => ({
    ...report,
    replication: { ...report.replication, offset: bytes },
  });
  const world = clusterNodes({
    primaries: 3,
    replicas: 2,
    nodes: {
      p0: lost,
      p1: lost,
      p0r0: { report: offset(10) },
      p0r1: { report: offset(20) },
      p1r0: { report: offset(9) },
    },
  });
  assert.deepEqual(refusedCodes(world), ['NO_QUORUM', 'NO_QUORUM']);
  assert.deepEqual(refusedCodes(world, { allowUnreachable: true }), ['NO_QUORUM', 'NO_QUORUM']);
  const plan = fixOperation.plan(goalFor(world, { takeover: true }), viewWith(world, {}), 0, []);
  assert.deepEqual(brief(plan.commands), ['failover p0→p0r1 takeover', 'failover p1→p1r1 takeover']);
});

const loading = 'LOADING Valkey is loading the dataset in memory';

for (const [what, replica] of [
  ['that reads its file', { unreachable: loading }],
  ['that reads its file for so long that the others call it failed', { unreachable: loading, flags: ['fail'] }],
  ['that only we cannot reach', { unreachable: 'timed out' }],
  ['that has died just now', { unreachable: 'refused', flags: ['fail?'] }],
] as const satisfies readonly (readonly [string, Partial<TestNode>])[]) {
  test(`a dead primary is not given up for a replica ${what}: that one may have its keys`, () => {
    const world = worldOf({ p0: dead, p0r0: replica });
    for (const allowUnreachable of [false, true]) {
      const decision = decide(world, { allowUnreachable });
      assert.ok(isRefused(decision));
      const [refusal, ...more] = decision.refused;
      assert.deepEqual([refusal?.code, refusal?.subjects, more], ['PRIMARIES_UNREACHABLE', [p0, idOf('p0r0')], []]);
      assert.match(refusal?.message ?? '', /cannot be read either.*wait until it can be read/);
      assert.doesNotMatch(refusal?.message ?? '', /no living replica/);
    }
    // One that was approved while the replica was dead stops, too.
    const goal = goalFor(worldOf({ p0: dead, p0r0: { ...dead } }), { allowUnreachable: true });
    const plan = fixOperation.plan(goal, counted(world), 0, []);
    assert.deepEqual([plan.commands, plan.refused?.map(({ code }) => code)], [[], ['PRIMARIES_UNREACHABLE']]);
  });
}

test('without a majority nobody is called failed: given up is who is suspected by all', () => {
  const lost: Partial<TestNode> = { unreachable: 'refused', flags: ['fail?'] };
  const losing = (replica: Partial<TestNode>) =>
    clusterNodes({ primaries: 3, replicas: 1, nodes: { p0: lost, p0r0: replica, p1: lost, p1r0: lost } });
  assert.deepEqual(goalFor(losing(lost), { allowUnreachable: true }).givenUp, [p0, p1]);
  const asked = { allowUnreachable: true, takeover: true };
  assert.deepEqual(refusedCodes(losing({ unreachable: 'timed out' }), asked), ['PRIMARIES_UNREACHABLE']);
  assert.deepEqual(refusedCodes(losing({ ...lost, unreachable: loading }), asked), ['PRIMARIES_UNREACHABLE']);
});
