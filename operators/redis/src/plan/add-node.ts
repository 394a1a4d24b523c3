/** Joins an empty node to a cluster, as a primary without slots or as a replica. */
import type { InFlight, Plan, Refusal, Waiting } from '@reeve/runtime';
import type { CopyFunctions, Meet, RedisCommand, Replicate } from '../api/commands.ts';
import type { FindingCode } from '../api/findings.ts';
import type { Decision, Operation } from '../api/operation.ts';
import { countSlots } from '../api/slots.ts';
import { type ClusterView, type Endpoint, formatEndpoint, type NodeId } from '../api/view.ts';
import { bestPrimaryAmong } from './add-node-placement.ts';
import { checkCluster } from './check.ts';
import { placedMembers } from './check-placement.ts';
import { newcomerProblems } from './add-node-newcomer.ts';
import { isInSync } from './failover.ts';
import { greetAgain } from './greet-again.ts';
import { LOOK_AGAIN_MS } from './moves.ts';
import { checkGate, toleratedReasons } from './moves-gate.ts';
import { lineAbout, mainCluster } from './moves-view.ts';
import type { Placeable } from './placement-score.ts';
import { isMeeting } from './readdress.ts';
import {
  clusters,
  isReported,
  knows,
  members,
  nodeName,
  nodeNames,
  nodeOf,
  ownSlots,
  type ReportedNode,
  refOf,
  reported,
  reportedPrimaries,
  sameEndpoint,
  withoutNode,
} from './topology.ts';

export interface AddNodeRequest {
  readonly endpoint: Endpoint;
  readonly as: 'primary' | 'replica';
  /** Of a replica: whom it follows. Default: the primary with fewest replicas and the best placement. */
  readonly primaryId?: NodeId;
  readonly spreadBy: readonly string[];
  /** Who comes as a replica after it: these must find a place, too. */
  readonly company?: readonly Placeable[];
}

export interface AddNodeGoal {
  readonly id: NodeId;
  readonly endpoint: Endpoint;
  readonly as: 'primary' | 'replica';
  readonly primaryId?: NodeId;
  /** The member whose function libraries a new primary gets. */
  readonly functionsFrom?: NodeId;
}

/** A new node is often the answer to one of these: they must not stand in its way. */
const MENDED_BY_A_NODE: readonly FindingCode[] = [
  'PLACEMENT',
  'REPLICA_MISSING',
  'REPLICA_LINK_DOWN',
  'NODE_FAILED',
  'NODE_UNREACHABLE',
];

export const addNodeOperation: Operation<AddNodeRequest, AddNodeGoal> = {
  kind: 'add-node',
  needs: (request) => ({ alsoAsk: [request.endpoint] }),
  decide,
  goalNeeds: (goal) => ({ alsoAsk: [goal.endpoint] }),
  plan: planAddNode,
};

function decide(request: AddNodeRequest, view: ClusterView): Decision<AddNodeGoal> {
  const node = reported(view).find((each) => sameEndpoint(each.endpoint, request.endpoint));
  if (!node) {
    const silent = view.silent.find(({ endpoint }) => sameEndpoint(endpoint, request.endpoint));
    const message = `${formatEndpoint(request.endpoint)} cannot be read: ${silent?.why ?? 'no answer'}`;
    return {
      refused: [{ code: silent?.code ?? 'NODE_UNREACHABLE', message, subjects: [formatEndpoint(request.endpoint)] }],
    };
  }
  const cluster = withoutNode(view, node.id);
  const gate = checkGate(cluster, MENDED_BY_A_NODE);
  // What is wrong with the node is the cause, and comes first: others of its cluster, which it brings into view, are a split of ours to the check.
  const refused = [...newcomerProblems(node, mainCluster(cluster).cluster), ...gate.refused];
  const primary = request.as === 'replica' ? choosePrimary(request, node, cluster) : undefined;
  if (primary && 'code' in primary) refused.push(primary);
  if (refused.length > 0) return { refused };

  const functionsFrom = request.as === 'primary' ? functionSource(cluster, node) : undefined;
  const goal: AddNodeGoal = {
    id: node.id,
    endpoint: request.endpoint,
    as: request.as,
    ...(primary && 'id' in primary ? { primaryId: primary.id } : {}),
    ...(functionsFrom ? { functionsFrom: functionsFrom.id } : {}),
  };
  return {
    goal,
    steps: stepsOf(goal, cluster),
    reasons: [...reasonsOf(goal, request, cluster), ...toleratedReasons(gate)],
    ...(isJoined(goal, view) ? { nothingToDo: true } : {}),
  };
}

function choosePrimary(
  request: AddNodeRequest,
  node: ReportedNode,
  cluster: ClusterView,
): { readonly id: NodeId } | Refusal {
  const { primaryId } = request;
  if (primaryId === undefined) {
    const candidates = reportedPrimaries(cluster).filter((each) => countSlots(ownSlots(each)) > 0);
    // Who cannot be read is about to be replaced: whoever comes takes its place, and is not one more elsewhere.
    const present = new Set(reported(cluster).map((each) => each.id));
    const id = bestPrimaryAmong(
      [node, ...(request.company ?? [])],
      placedMembers(cluster).filter((each) => each.role === 'primary' || present.has(each.id)),
      candidates.map((each) => each.id),
      request.spreadBy,
    );
    return id === undefined
      ? { code: 'NOT_A_PRIMARY', message: 'no primary with slots can be read', subjects: [] }
      : { id };
  }
  const primary = nodeOf(cluster, primaryId);
  if (!primary) {
    return { code: 'UNKNOWN_NODE', message: `no node of this cluster has the id ${primaryId}`, subjects: [primaryId] };
  }
  const name = nodeName(cluster, primaryId);
  if (!isReported(primary)) {
    return { code: 'NODE_UNREACHABLE', message: `${name} cannot be read`, subjects: [primaryId] };
  }
  return primary.report.value.self.role === 'primary'
    ? { id: primaryId }
    : { code: 'NOT_A_PRIMARY', message: `${name} is a replica: a replica follows a primary`, subjects: [primaryId] };
}

/** A member with function libraries, when the new primary has none yet. A replica gets them with its sync. */
function functionSource(cluster: ClusterView, node: ReportedNode): ReportedNode | undefined {
  if (!node.report.value.server.capabilities.functions) return undefined;
  return reportedPrimaries(cluster).find((member) => {
    const { functionLibraries } = member.report.value;
    return functionLibraries.known && functionLibraries.value > 0;
  });
}

function stepsOf(goal: AddNodeGoal, cluster: ClusterView): readonly string[] {
  const name = `${goal.id.slice(0, 8)} (${formatEndpoint(goal.endpoint)})`;
  const steps: string[] = [];
  if (goal.functionsFrom) steps.push(`copy the function libraries from ${nodeName(cluster, goal.functionsFrom)}`);
  steps.push(`join ${name}: MEET with all ${reported(cluster).length} members`);
  if (goal.primaryId)
    steps.push(`make it a replica of ${nodeName(cluster, goal.primaryId)} and wait until it is in sync`);
  return steps;
}

function reasonsOf(goal: AddNodeGoal, request: AddNodeRequest, cluster: ClusterView): readonly string[] {
  if (goal.primaryId === undefined) {
    return ['a new primary has no slots: `reeve redis rebalance --use-empty` gives it its share'];
  }
  return request.primaryId === undefined
    ? [`${nodeName(cluster, goal.primaryId)} is the primary with fewest replicas, and there the placement is best`]
    : [];
}

function planAddNode(
  goal: AddNodeGoal,
  view: ClusterView,
  now: number,
  inFlight: readonly InFlight<RedisCommand>[],
): Plan<RedisCommand> {
  const wait = (reason: string, message: string, subjects: readonly string[]): Plan<RedisCommand> => {
    const waiting: Waiting = { reason, message, subjects };
    return { commands: [], waitingFor: [waiting], wakeAt: now + LOOK_AGAIN_MS };
  };
  const go = (command: RedisCommand): Plan<RedisCommand> => ({ commands: [command], wakeAt: now + LOOK_AGAIN_MS });
  const running = inFlight[0]?.command;
  if (running) return wait('Command', running.why, [goal.id]);
  const node = nodeOf(view, goal.id);
  if (!node || !isReported(node)) {
    const other = reported(view).find((each) => sameEndpoint(each.endpoint, goal.endpoint));
    if (other) return overtaken(`at ${formatEndpoint(goal.endpoint)} answers ${other.id} now, not ${goal.id}`, goal.id);
    return wait('NodeUnreachable', `${formatEndpoint(goal.endpoint)} cannot be read`, [goal.id]);
  }
  const refused = joiningProblems(node, view);
  if (refused.length > 0) return { commands: [], refused };
  const copy = copyFunctions(goal, view, node);
  if (copy) return go(copy);
  const apart = reported(view).filter(
    (member) => member.id !== node.id && !(knows(view, node.id, member.id) && knows(view, member.id, node.id)),
  );
  if (apart.length > 0) {
    const meet = meetAll(node, apart, view);
    if (meet) return go(meet);
    const ids = apart.map((member) => member.id);
    return wait('Handshake', `${nodeName(view, node.id)} and ${nodeNames(view, ids)} get to know each other`, ids);
  }
  if (goal.as === 'primary') return settle(goal, view, now);

  const primary = goal.primaryId === undefined ? undefined : presentPrimary(view, goal.primaryId);
  if (!primary) return wait('PrimaryUnavailable', 'its primary cannot be read', [goal.primaryId ?? '']);
  const { self } = node.report.value;
  if (self.role !== 'replica' || self.primaryId !== primary.id) {
    const replicate: Replicate = {
      type: 'replicate',
      replica: refOf(node),
      primary: refOf(primary),
      mustBeEmpty: true,
      why: `the new node is to be a replica of ${nodeName(view, primary.id)}`,
    };
    return go(replicate);
  }
  if (!isInSync(node)) return wait('ReplicaSync', `${nodeName(view, node.id)} is in sync`, [node.id]);
  const unaware = reported(view).filter((member) => lineAbout(member, node.id)?.primaryId !== primary.id);
  if (unaware.length > 0) {
    const ids = unaware.map((member) => member.id);
    const greeting = greetAgain(view);
    if (greeting) return go(greeting);
    return wait('GossipAgreement', `${nodeNames(view, ids)} hear whom the new node follows`, ids);
  }
  return settle(goal, view, now);
}

/**
 * A node that is not a member yet may have become one of another cluster since this was approved. To introduce it to
 * everybody would then make one cluster of two, in which the slots of one side, with their keys, belong to the other.
 */
function joiningProblems(node: ReportedNode, view: ClusterView): readonly Refusal[] {
  const cluster = withoutNode(view, node.id);
  const isIn = reported(cluster).some((member) => knows(view, node.id, member.id) && knows(view, member.id, node.id));
  const groups = clusters(cluster);
  if (groups.length > 1) {
    const ids = groups.slice(1).flat();
    const message = `${nodeNames(view, ids)} do not know the rest: these are several clusters, or parts of one`;
    return [{ code: 'CLUSTER_NOT_CLEAN', message, subjects: ids }];
  }
  return isIn ? [] : newcomerProblems(node, cluster);
}

const UNSETTLED: readonly FindingCode[] = ['VIEWS_DIFFER', 'ROLES_DIFFER', 'MEMBERSHIP_DIFFERS', 'STATE_FAIL'];

/** Joined means that the new node sees what the others see and serves: else the next operation would refuse to begin. */
function settle(goal: AddNodeGoal, view: ClusterView, now: number): Plan<RedisCommand> {
  const open = checkCluster(view).filter(({ code, nodes }) => UNSETTLED.includes(code) && nodes.includes(goal.id));
  if (open.length === 0) return { commands: [] };
  const greeting = greetAgain(view);
  return {
    commands: greeting ? [greeting] : [],
    waitingFor: open.map(({ code, message, nodes }) => ({
      reason: 'Settling',
      message: `${code}: ${message}`,
      subjects: nodes,
    })),
    wakeAt: now + LOOK_AGAIN_MS,
  };
}

function overtaken(message: string, id: NodeId): Plan<RedisCommand> {
  return { commands: [], refused: [{ code: 'GOAL_OVERTAKEN', message, subjects: [id] }] };
}

/** A primary may have been failed over meanwhile: then whom it follows now is meant. */
function presentPrimary(view: ClusterView, id: NodeId): ReportedNode | undefined {
  const node = nodeOf(view, id);
  if (!node || !isReported(node)) return undefined;
  const { self } = node.report.value;
  if (self.role === 'primary') return node;
  return reportedPrimaries(view).find((each) => each.id === self.primaryId);
}

function copyFunctions(goal: AddNodeGoal, view: ClusterView, node: ReportedNode): CopyFunctions | undefined {
  const from = goal.functionsFrom === undefined ? undefined : nodeOf(view, goal.functionsFrom);
  const has = node.report.value.functionLibraries;
  if (!from || !isReported(from) || !has.known || has.value > 0) return undefined;
  return {
    type: 'copy-functions',
    from: refOf(from),
    to: refOf(node),
    why: 'functions must be on every primary: the new one has none yet',
  };
}

/**
 * MEET between the new node and everybody at once: gossip alone takes seconds to reach the last. From the one that does not
 * know the other: a handshake that was cut off in the middle may leave one side that does, and it is not asked again.
 */
function meetAll(node: ReportedNode, apart: readonly ReportedNode[], view: ClusterView): Meet | undefined {
  const pairs = apart
    .filter((member) => !isMeeting(node, member.endpoint) && !isMeeting(member, node.endpoint))
    .map((member) => {
      const [from, to] = knows(view, node.id, member.id) ? [member, node] : [node, member];
      return { from: refOf(from), to: refOf(to), toBusPort: to.report.value.self.busPort };
    });
  const within = [node.id, ...members(withoutNode(view, node.id)).map((member) => member.id)];
  return pairs.length === 0 ? undefined : { type: 'meet', pairs, within, why: 'the new node joins the cluster' };
}

function isJoined(goal: AddNodeGoal, view: ClusterView): boolean {
  const plan = planAddNode(goal, view, 0, []);
  return plan.commands.length === 0 && !plan.waitingFor?.length && !plan.refused?.length;
}
