/** Makes a replica the primary of its shard: gracefully, by force when the primary is dead, or by takeover. */
import type { InFlight, Plan, Refusal, Waiting } from '@reeve/runtime';
import type { Failover, RedisCommand } from '../api/commands.ts';
import type { Decision, Operation } from '../api/operation.ts';
import { countSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { LOOK_AGAIN_MS } from './moves.ts';
import { atomicJobs, isFailed, lineAbout, unawareOf } from './moves-view.ts';
import {
  compareText,
  components,
  flaggedBy,
  isReported,
  nodeName,
  nodeNames,
  nodeOf,
  ownSlots,
  primaryIdOf,
  quorum,
  type ReportedNode,
  refOf,
  replicasOf,
  reported,
  roleOf,
} from './topology.ts';

export interface FailoverRequest {
  /** The replica to promote, or the primary to leave (then the replica with the most data is chosen). */
  readonly id: NodeId;
  readonly mode: Failover['mode'];
}

export interface FailoverGoal {
  readonly replica: NodeId;
  readonly primary: NodeId;
  readonly mode: Failover['mode'];
}

export const failoverOperation: Operation<FailoverRequest, FailoverGoal> = {
  kind: 'failover',
  needs: () => ({}),
  decide,
  goalNeeds: () => ({}),
  plan: planFailover,
};

/** Replicas that may be promoted, the one with the highest offset first: it has most of the primary's data. */
export function candidatesFor(view: ClusterView, primary: NodeId): readonly ReportedNode[] {
  return replicasOf(view, primary)
    .filter(isReported)
    .filter((node) => flaggedBy(node, 'nofailover').length === 0)
    .sort((a, b) => b.report.value.replication.offset - a.report.value.replication.offset || compareText(a.id, b.id));
}

export function isInSync(node: ReportedNode): boolean {
  const { linkUp, syncInProgress } = node.report.value.replication;
  return linkUp === true && syncInProgress !== true;
}

function decide(request: FailoverRequest, view: ClusterView): Decision<FailoverGoal> {
  const node = nodeOf(view, request.id);
  if (!node) return refusal('UNKNOWN_NODE', `no node of this cluster has the id ${request.id}`, [request.id]);
  const groups = components(view);
  if (groups.length > 1) {
    const sides = groups.map((group) => nodeNames(view, group)).join(' | ');
    return refusal(
      'SPLIT_CLUSTER',
      `the nodes belong to clusters that do not know each other: ${sides}`,
      groups.flat(),
    );
  }
  const primary = roleOf(node) === 'replica' ? primaryIdOf(node) : node.id;
  const candidates = primary === undefined ? [] : candidatesFor(view, primary);
  const usable = request.mode === 'graceful' ? candidates.filter(isInSync) : candidates;
  const replica = roleOf(node) === 'replica' ? candidates.find((each) => each.id === node.id) : usable[0];
  if (primary === undefined || !replica) {
    const message =
      roleOf(node) === 'replica'
        ? `${nodeName(view, node.id)} cannot be read or must not be promoted`
        : `${nodeName(view, node.id)} has no replica that could take over`;
    return refusal('NO_REPLICA', message, [node.id]);
  }
  const goal = { replica: replica.id, primary, mode: request.mode };
  const refused = modeProblem(view, goal, replica);
  if (refused) return { refused: [refused] };
  return { goal, steps: [stepOf(view, goal)], reasons: reasonsOf(view, goal, candidates) };
}

function stepOf(view: ClusterView, goal: FailoverGoal): string {
  const how = { graceful: 'without losing a write', force: 'by force', takeover: 'without a vote' }[goal.mode];
  return `${nodeName(view, goal.replica)} takes over from ${nodeName(view, goal.primary)}, ${how}`;
}

function reasonsOf(view: ClusterView, goal: FailoverGoal, candidates: readonly ReportedNode[]): readonly string[] {
  const reasons: string[] = [];
  const best = candidates[0];
  const chosen = candidates.find((node) => node.id === goal.replica);
  if (best && chosen) {
    const lag = best.report.value.replication.offset - chosen.report.value.replication.offset;
    reasons.push(
      lag > 0
        ? `${nodeName(view, chosen.id)} is ${lag} bytes behind ${nodeName(view, best.id)}`
        : `${nodeName(view, chosen.id)} has the highest replication offset of ${candidates.length} candidates`,
    );
  }
  if (goal.mode !== 'graceful') {
    reasons.push(`writes that ${nodeName(view, goal.primary)} took and had not sent to this replica are lost`);
  }
  if (goal.mode === 'takeover') {
    reasons.push('no majority is asked: if the other side of a partition elects somebody too, its writes are lost');
  }
  return reasons;
}

function modeProblem(view: ClusterView, goal: FailoverGoal, replica: ReportedNode): Refusal | undefined {
  const { primary: id } = goal;
  const primary = nodeOf(view, id);
  const name = nodeName(view, id);
  const refuse = (code: string, message: string): Refusal => ({ code, message, subjects: [id, goal.replica] });
  const votes = quorum(view);
  if (goal.mode === 'graceful') {
    if (!primary || !isReported(primary)) {
      return refuse('PRIMARY_GONE', `${name} cannot be read: a graceful failover needs it alive`);
    }
    if (!votes.has) return refuse('NO_QUORUM', `${votes.reachable} of ${votes.size} voters are there: no majority`);
    if (!isInSync(replica)) {
      return refuse('REPLICA_NOT_IN_SYNC', `${nodeName(view, replica.id)} is not in sync with ${name}`);
    }
    const { migrating, importing } = primary.report.value.self;
    const jobs = atomicJobs(view).filter((job) => job.sourceId === id || job.targetId === id);
    if (migrating.length + importing.length + jobs.length > 0) {
      return refuse(
        'SLOTS_OPEN_ELSEWHERE',
        `slots are being moved from or to ${name}: a failover would break that off`,
      );
    }
    return undefined;
  }
  if (primary && isReported(primary)) {
    return refuse('PRIMARY_ALIVE', `${name} answers: use a graceful failover, which loses nothing`);
  }
  const seenBy = reported(view).filter((node) => {
    const line = lineAbout(node, id);
    return line?.linkUp === true && !line.flags.some((flag) => flag.startsWith('fail'));
  });
  if (seenBy.length > 0) {
    const who = nodeNames(
      view,
      seenBy.map((node) => node.id),
    );
    return refuse('PRIMARY_ALIVE', `${name} does not answer us, but ${who} have a link to it`);
  }
  if (goal.mode === 'force') {
    if (!votes.has) {
      return refuse('NO_QUORUM', `${votes.reachable} of ${votes.size} voters are there: force needs a majority`);
    }
    if (primary && !isFailed(primary)) {
      return refuse('PRIMARY_NOT_FAILED', `the others do not call ${name} failed yet: wait for the node timeout`);
    }
    return undefined;
  }
  if (votes.has) {
    return refuse(
      'QUORUM_PRESENT',
      `a majority is there (${votes.reachable} of ${votes.size}): use force, not takeover`,
    );
  }
  return undefined;
}

function refusal(code: string, message: string, subjects: readonly NodeId[]): { refused: readonly Refusal[] } {
  return { refused: [{ code, message, subjects }] };
}

export function planFailover(
  goal: FailoverGoal,
  view: ClusterView,
  now: number,
  inFlight: readonly InFlight<RedisCommand>[],
): Plan<RedisCommand> {
  const wait = (...waitingFor: readonly Waiting[]): Plan<RedisCommand> => ({
    commands: [],
    waitingFor,
    wakeAt: now + LOOK_AGAIN_MS,
  });
  const replica = nodeOf(view, goal.replica);
  const name = nodeName(view, goal.replica);
  if (!replica || !isReported(replica)) {
    return wait({ reason: 'NodeUnreachable', message: `${name} cannot be read`, subjects: [goal.replica] });
  }
  const { self } = replica.report.value;
  if (self.role === 'primary') return settled(goal, view, replica, wait);
  if (self.primaryId !== goal.primary) {
    const follows = self.primaryId === undefined ? 'nobody' : nodeName(view, self.primaryId);
    const message = `${name} follows ${follows} now, not ${nodeName(view, goal.primary)}: somebody else took over`;
    return { commands: [], refused: [{ code: 'GOAL_OVERTAKEN', message, subjects: [goal.replica] }] };
  }
  if (inFlight.some(({ command }) => command.type === 'failover' && command.replica.id === goal.replica)) {
    return wait({ reason: 'Failover', message: `${name} takes over`, subjects: [goal.replica] });
  }
  const primary = nodeOf(view, goal.primary);
  if (!primary) {
    const message = `nobody knows ${nodeName(view, goal.primary)} any more`;
    return { commands: [], refused: [{ code: 'UNKNOWN_NODE', message, subjects: [goal.primary] }] };
  }
  if (goal.mode === 'graceful' && (!isReported(primary) || !isInSync(replica))) {
    const message = `${nodeName(view, goal.primary)} and ${name} are in sync again, or the cluster itself elects somebody`;
    return wait({ reason: 'ReplicaSync', message, subjects: [goal.primary, goal.replica] });
  }
  const command: Failover = {
    type: 'failover',
    replica: refOf(replica),
    primary: refOf(primary),
    mode: goal.mode,
    why: `${name} is to be the primary of this shard`,
  };
  return { commands: [command], wakeAt: now + LOOK_AGAIN_MS };
}

/**
 * Promoted; done when everybody says so and the old primary, if it is there, follows and is in sync. One of another version is not waited
 * for: it may not be able to read what the new one writes, and who upgrades makes it anew.
 */
function settled(
  goal: FailoverGoal,
  view: ClusterView,
  replica: ReportedNode,
  wait: (...waitingFor: readonly Waiting[]) => Plan<RedisCommand>,
): Plan<RedisCommand> {
  const old = nodeOf(view, goal.primary);
  const slots = ownSlots(replica);
  const unaware = new Set(countSlots(slots) > 0 ? unawareOf(view, replica.id, slots) : []);
  for (const node of reported(view)) {
    if (lineAbout(node, replica.id)?.role !== 'primary') unaware.add(node.id);
    const line = lineAbout(node, goal.primary);
    if (old && isReported(old) && line && line.primaryId !== replica.id) unaware.add(node.id);
  }
  if (unaware.size > 0) {
    return wait({
      reason: 'GossipAgreement',
      message: `${unaware.size} nodes have not heard that ${nodeName(view, replica.id)} took over`,
      subjects: [...unaware].sort(),
    });
  }
  const versionOf = ({ report }: ReportedNode) => report.value.server.version;
  if (old && isReported(old) && !isInSync(old) && versionOf(old) === versionOf(replica)) {
    return wait({
      reason: 'ReplicaSync',
      message: `${nodeName(view, old.id)} follows and is in sync`,
      subjects: [old.id],
    });
  }
  return { commands: [] };
}
