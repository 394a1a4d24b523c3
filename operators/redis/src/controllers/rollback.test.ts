import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReached } from '@reeve/runtime';
import { isRefused } from '../api/operation.ts';
import type { AtomicJob, ClusterView, NodeReport } from '../api/view.ts';
import { type DeleteNodeGoal, deleteNodeOperation } from '../plan/delete-node.ts';
import { type MoveGoal, moveGoal } from '../plan/moves.ts';
import { pursue, viewWith } from '../plan/moves-testing.ts';
import { reshardOperation } from '../plan/reshard.ts';
import { clusterNodes, idOf, type TestNode, viewOf, viewOfNodes } from '../plan/testing.ts';
import { type RollbackRequest, rollbackOperation } from './rollback.ts';

type Nodes = Readonly<Record<string, Partial<TestNode>>>;
const p = (n: number) => idOf(`p${n}`);

const whole = viewOf({ primaries: 4, replicas: 1 });
const reshard: RollbackRequest = {
  kind: 'reshard',
  goal: moveGoal([{ source: p(0), target: p(3), slots: '0-9' }], whole, 'auto', 'gentle'),
  journal: '/j',
};

function deletion(): RollbackRequest {
  const decision = deleteNodeOperation.decide(
    { id: p(3), engine: 'auto', pace: 'gentle', drain: true, reset: true },
    whole,
  );
  assert.ok(!isRefused(decision));
  return { kind: 'delete-node', goal: decision.goal, journal: '/j' };
}

function seen(nodes: Nodes): ClusterView {
  return viewOf({ primaries: 4, replicas: 1, nodes });
}

function goalOf(request: RollbackRequest, view: ClusterView): MoveGoal {
  const decision = rollbackOperation.decide(request, view);
  assert.ok(!isRefused(decision), JSON.stringify(decision));
  return decision.goal;
}

function refusal(request: RollbackRequest, view: ClusterView): string {
  const decision = rollbackOperation.decide(request, view);
  assert.ok(isRefused(decision), JSON.stringify(decision));
  return decision.refused.map(({ code, message }) => `${code}: ${message}`).join('\n');
}

test('a deletion half-way: all its slots go back to the node, which is asked even if nobody leads to it', () => {
  const request = deletion();
  const start = clusterNodes({ primaries: 4, replicas: 1 });
  const { moves } = request.goal as DeleteNodeGoal;
  const half = pursue(reshardOperation, { ...moves, moves: moves.moves.slice(0, 2) }, start);
  assert.equal(half.commands.length, 2);
  const back = pursue(rollbackOperation, goalOf(request, viewOfNodes(half.world)), half.world);
  assert.ok(isReached(back.plan));
  assert.deepEqual(
    back.world.map(({ slots }) => slots),
    start.map(({ slots }) => slots),
  );
  assert.deepEqual(
    rollbackOperation.needs(request, whole).alsoAsk?.map(({ port }) => port),
    [7000],
  );
});

test('a deletion whose node somebody has forgotten stays: with how many', () => {
  const knows = whole.nodes.map(({ id }) => id).filter((id) => id !== p(3));
  assert.match(
    refusal(deletion(), seen({ p0: { knows }, p1r0: { knows } })),
    /^ROLLBACK_IMPOSSIBLE: 2 of 7 nodes have forgotten/,
  );
});

test('replicas that found another primary stay, and that is said', () => {
  const request = deletion();
  const world = clusterNodes({
    primaries: 4,
    replicas: 1,
    nodes: { p3r0: { primaryId: p(0) }, p0: { slots: '0-4095,12288-13653' }, p3: { slots: '13654-16383' } },
  });
  const decision = rollbackOperation.decide(request, viewWith(world, {}));
  assert.ok(!isRefused(decision), JSON.stringify(decision));
  assert.ok(decision.reasons.some((reason) => reason.includes('stays where it is now')));
});

test('slots that a server still moves by itself are waited for and come back', () => {
  const job: AtomicJob = {
    sourceId: p(0),
    targetId: p(3),
    slots: [[0, 9]],
    name: 'job',
    operation: 'export',
    state: 'running',
    message: '',
  };
  const view = seen({ p0: { atomicJobs: [job] } });
  const goal = goalOf(reshard, view);
  assert.deepEqual(goal.moves, [{ source: p(3), target: p(0), slots: '0-9' }]);
  const plan = rollbackOperation.plan(goal, view, 0, []);
  assert.deepEqual([plan.commands, plan.waitingFor?.map(({ reason }) => reason)], [[], ['AtomicJob']]);
  const decision = rollbackOperation.decide(reshard, seen({}));
  assert.ok(!isRefused(decision) && decision.nothingToDo);
});

test('what is not known is no reason to say that nothing is to be done', () => {
  const silent = (report: NodeReport): NodeReport => ({ ...report, atomicJobs: { known: false, why: 'denied' } });
  assert.match(refusal(reshard, seen({ p0: { report: silent } })), /^SLOTS_BUSY: .*is not known: denied/);
});

test('a node that cannot take its slots back is named, with the reason', () => {
  const arrived: Nodes = { p0: { slots: '10-4095' }, p3: { slots: '0-9,12288-16383' } };
  const away = { ...arrived, p0: { slots: '10-4095', unreachable: 'refused' } };
  assert.match(refusal(reshard, seen(away)), /^NODE_UNREACHABLE: .*to which slots must go back, cannot be read/);
  const all: RollbackRequest = {
    ...reshard,
    goal: moveGoal([{ source: p(0), target: p(3), slots: '0-4095' }], whole, 'auto', 'gentle'),
  };
  const follows: Nodes = {
    p0: { role: 'replica', primaryId: p(3), slots: '' },
    p0r0: { primaryId: p(3) },
    p3: { slots: '0-4095,12288-16383' },
  };
  assert.match(refusal(all, seen(follows)), /^ROLLBACK_IMPOSSIBLE: .*has given away its last slot and follows/);
});

test('slots that somebody else moved on are refused before anything starts', () => {
  const view = seen({ p0: { slots: '10-4095' }, p3: { slots: '0-4,12288-16383' }, p1: { slots: '5-9,4096-8191' } });
  assert.match(refusal(reshard, view), /^GOAL_OVERTAKEN/);
});
