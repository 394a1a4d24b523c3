/**
 * One turn of create: how far are the nodes, what comes next?
 *
 * While a node is alone: slots and epoch. When all have theirs: MEET. When a node knows all and is known by all:
 * REPLICATE. When links are up: the check. Each step is asked of the nodes as they are now, so it does not matter which
 * ones were done before, by whom, or how often the tool died in between.
 *
 * A shard is a primary of the goal with its replicas. If a failover happens meanwhile, the one that owns the slots is
 * taken for the primary: the cluster that was asked for has the same shards, whoever leads them.
 */
import { canonicalJson, type InFlight, type Plan, type Refusal, reached, refuse, type Waiting } from '@reeve/runtime';
import type { Meet, RedisCommand } from '../api/commands.ts';
import { countSlots, formatSlots, minusSlots, parseSlots, type SlotRanges } from '../api/slots.ts';
import { type ClusterView, formatEndpoint } from '../api/view.ts';
import { checkCluster } from './check.ts';
import type { CreateGoal, CreateMember } from './create-goal.ts';
import { judgeHoldings, judgeStrangers, judgeUnknown } from './create-nodes.ts';
import { greetAgain } from './greet-again.ts';
import {
  isHandshake,
  isReported,
  keyCount,
  nodeNames,
  nodeOf,
  type ReportedNode,
  refName,
  refOf,
  sameEndpoint,
} from './topology.ts';

const LOOK_AGAIN_MS = 100;
/** Beyond this, all pairs are too many at once; each meets its neighbours in the list, and gossip does the rest. */
const ALL_PAIRS_UP_TO = 64;
const NEIGHBOURS = 32;

interface Shard {
  readonly slots: SlotRanges;
  readonly members: readonly CreateMember[];
  readonly nodes: readonly ReportedNode[];
  /** Who owns slots of it. None yet: whom the goal names. Several: gossip has not settled it. */
  readonly owners: readonly ReportedNode[];
  /** The owner if there is one, else the primary of the goal. Undefined while several claim the slots, or it is not read. */
  readonly lead?: ReportedNode;
}

interface Next {
  readonly commands: readonly RedisCommand[];
  readonly waitingFor: readonly Waiting[];
}

export function planCreate(
  goal: CreateGoal,
  view: ClusterView,
  now: number,
  inFlight: readonly InFlight<RedisCommand>[],
): Plan<RedisCommand> {
  const conflicts = conflictsOf(goal, view);
  if (conflicts.length > 0) return refuse(...conflicts);
  const next = nextOf(goal, view);
  if (next.commands.length === 0 && next.waitingFor.length === 0) return reached;
  if (now - goal.startedAt > goal.limitMs) {
    const open = [...next.waitingFor.map(({ message }) => message), ...next.commands.map(({ why }) => why)];
    return refuse({
      code: 'CREATE_TIMEOUT',
      message: `not done after ${Math.round(goal.limitMs / 1000)} s: ${open.slice(0, 5).join('; ')}`,
      subjects: next.waitingFor.flatMap(({ subjects }) => subjects),
    });
  }
  const running = new Set(inFlight.map(({ command }) => nameOf(command)));
  const commands = next.commands.filter((command) => !running.has(nameOf(command)));
  return { commands, waitingFor: next.waitingFor, wakeAt: now + LOOK_AGAIN_MS };
}

function nameOf(command: RedisCommand): string {
  return canonicalJson({ ...command, why: '' });
}

function shardsOf(goal: CreateGoal, view: ClusterView): readonly Shard[] {
  return goal.members
    .filter((member) => member.role === 'primary')
    .map((primary) => {
      const members = goal.members.filter((member) => member === primary || member.primaryId === primary.id);
      const nodes = members.flatMap((member) => {
        const node = nodeOf(view, member.id);
        return node && isReported(node) ? [node] : [];
      });
      const owners = nodes.filter(
        ({ report: { value } }) => value.self.role === 'primary' && value.self.slots.length > 0,
      );
      const lead = owners.length === 0 ? nodes.find((node) => node.id === primary.id) : owners[0];
      const slots = parseSlots(primary.slots ?? '') ?? [];
      return { slots, members, nodes, owners, ...(lead && owners.length <= 1 ? { lead } : {}) };
    });
}

/** What makes the goal impossible or dangerous. Looked at in every turn, before anything else. */
export function conflictsOf(goal: CreateGoal, view: ClusterView): readonly Refusal[] {
  const own = new Set(goal.members.map((member) => member.id));
  const replaced = goal.members.flatMap((member): Refusal[] => {
    if (nodeOf(view, member.id)?.report.known) return [];
    const other = view.nodes.find((node) => isReported(node) && sameEndpoint(node.endpoint, member.endpoint));
    if (!other) return [];
    const message = `at ${formatEndpoint(member.endpoint)} answers ${refName(refOf(other))}, not ${refName(member)} that the plan was made for`;
    return [{ code: 'NODE_REPLACED', message, subjects: [member.id, other.id] }];
  });
  const shards = shardsOf(goal, view);
  const strangers = shards.flatMap(({ nodes }) => nodes.flatMap((node) => judgeStrangers(view, node, own)));
  return [...replaced, ...strangers, ...shards.flatMap((shard) => shardConflicts(shard))];
}

function shardConflicts(shard: Shard): readonly Refusal[] {
  const refused: Refusal[] = [];
  const ids = new Set(shard.members.map((member) => member.id));
  for (const node of shard.nodes) {
    const { self } = node.report.value;
    const name = refName(refOf(node));
    const extra = minusSlots(self.slots, shard.slots);
    if (countSlots(extra) > 0) {
      const message = `${name} owns slots that the plan gives to another: ${formatSlots(extra)}`;
      refused.push({ code: 'CREATE_CONFLICT', message, subjects: [node.id] });
    }
    if (self.role === 'primary') {
      if (mustBeEmpty(shard, node)) refused.push(...judgeHoldings(node));
    } else if (self.primaryId !== undefined && !ids.has(self.primaryId) && (keyCount(node) ?? 0) > 0) {
      const message = `${name} replicates a primary of another shard and holds keys`;
      refused.push({ code: 'CREATE_CONFLICT', message, subjects: [node.id, self.primaryId] });
    }
  }
  return refused;
}

/** Once all its slots are there a primary may be written to by clients. Every other primary must still be empty. */
function mustBeEmpty(shard: Shard, { report: { value } }: ReportedNode): boolean {
  return value.self.role === 'primary' && countSlots(minusSlots(shard.slots, value.self.slots)) > 0;
}

function nextOf(goal: CreateGoal, view: ClusterView): Next {
  const shards = shardsOf(goal, view);
  const nodes = goal.members.flatMap((member) =>
    shards.flatMap((shard) => shard.nodes.filter((node) => node.id === member.id)),
  );
  const absent = goal.members.filter((member) => !nodes.some((node) => node.id === member.id));
  if (absent.length > 0) {
    const names = absent.map(refName).join(', ');
    return waiting(
      'NodeReports',
      `no answer from ${names}`,
      absent.map(({ id }) => id),
    );
  }
  // What could be read when this was approved can be read again: to give up over one broken connection helps nobody.
  const unread = shards.flatMap((shard) =>
    shard.nodes.filter((node) => mustBeEmpty(shard, node)).flatMap(judgeUnknown),
  );
  const [first] = unread;
  if (first) {
    return waiting(
      'EmptinessUnknown',
      first.message,
      unread.flatMap(({ subjects }) => subjects),
    );
  }
  const prepared = prepare(goal, shards, nodes);
  if (prepared) return prepared;
  const introduced = introduce(goal, view, nodes);
  const replicated = replicate(view, shards, new Set(introduced.strange));
  const commands = [...introduced.commands, ...replicated.commands];
  const waitingFor = [...introduced.waitingFor, ...replicated.waitingFor];
  if (commands.length > 0 || waitingFor.length > 0) return { commands, waitingFor };
  return finish(goal, view);
}

function waiting(reason: string, message: string, subjects: readonly string[]): Next {
  return { commands: [], waitingFor: [{ reason, message, subjects }] };
}

/** Slots and epochs. Undefined when all have theirs. */
function prepare(goal: CreateGoal, shards: readonly Shard[], nodes: readonly ReportedNode[]): Next | undefined {
  const commands: RedisCommand[] = [];
  const waitingFor: Waiting[] = [];
  const leads = shards.flatMap(({ lead }) => (lead ? [refOf(lead)] : []));
  for (const { lead, slots, owners } of shards) {
    if (!lead) {
      const subjects = owners.map(({ id }) => id);
      const message = `${owners.map((node) => refName(refOf(node))).join(' and ')} both own slots of one shard: a failover is under way`;
      waitingFor.push({ reason: 'GossipAgreement', message, subjects });
      continue;
    }
    const { self, others } = lead.report.value;
    const missing = minusSlots(slots, self.slots);
    if (countSlots(missing) === 0) continue;
    const name = refName(refOf(lead));
    const why = `${name} is to own slots ${formatSlots(slots)}`;
    if (others.length === 0) {
      commands.push({ type: 'assign-slots', why, node: refOf(lead), slots: formatSlots(slots) });
    } else if (!others.every(isHandshake)) {
      // Met already, so the slots must be claimed before everybody's eyes.
      const rest = leads.filter(({ id }) => id !== lead.id);
      commands.push({
        type: 'claim-slots',
        why,
        owner: refOf(lead),
        slots: formatSlots(missing),
        releaseFrom: [],
        others: rest,
      });
    } else {
      waitingFor.push({ reason: 'Handshake', message: `${name} is in a handshake`, subjects: [lead.id] });
    }
  }
  const epochs = nodes
    .filter(({ report: { value } }) => value.others.length === 0 && value.self.configEpoch === 0)
    .map((node) => ({ node: refOf(node), epoch: goal.members.find(({ id }) => id === node.id)?.epoch ?? 0 }));
  if (epochs.length > 0) {
    commands.push({ type: 'set-epochs', why: 'nodes that meet with equal epochs dispute each other’s slots', epochs });
  }
  return commands.length > 0 || waitingFor.length > 0 ? { commands, waitingFor } : undefined;
}

/** MEET for pairs that do not know each other and are not about to. A handshake that came to nothing is begun again. */
function introduce(
  goal: CreateGoal,
  view: ClusterView,
  nodes: readonly ReportedNode[],
): Next & { readonly strange: readonly string[] } {
  const tables = nodes.map(
    ({ report: { value } }) => new Set(value.others.filter((line) => !isHandshake(line)).map((line) => line.id)),
  );
  const pairs: Meet['pairs'][number][] = [];
  const unacquainted = new Set<string>();
  let missing = 0;
  for (const [i, a] of nodes.entries()) {
    for (let j = i + 1; j < nodes.length; j++) {
      const b = nodes[j] as ReportedNode;
      const aKnows = tables[i]?.has(b.id) ?? false;
      const bKnows = tables[j]?.has(a.id) ?? false;
      if (aKnows && bKnows) continue;
      missing++;
      unacquainted.add(a.id).add(b.id);
      if (!areNeighbours(i, j, nodes.length) || isShaking(a, b) || isShaking(b, a)) continue;
      // From the one that does not know the other: who knows an address already is not asked to meet it again.
      const [from, to] = aKnows ? [b, a] : [a, b];
      const busPort = to.report.value.self.busPort;
      pairs.push({ from: refOf(from), to: refOf(to), toBusPort: busPort });
    }
  }
  const strange = [...unacquainted];
  if (missing === 0) return { commands: [], waitingFor: [], strange };
  const message = `${missing} of ${(nodes.length * (nodes.length - 1)) / 2} pairs of nodes do not know each other yet: ${nodeNames(view, strange)}`;
  const waitingFor = [{ reason: 'GossipAgreement', message, subjects: strange }];
  const why = `the ${goal.members.length} nodes are to know each other`;
  return { commands: pairs.length > 0 ? [{ type: 'meet', why, pairs }] : [], waitingFor, strange };
}

function areNeighbours(i: number, j: number, count: number): boolean {
  if (count <= ALL_PAIRS_UP_TO) return true;
  const distance = Math.abs(i - j);
  return Math.min(distance, count - distance) <= NEIGHBOURS;
}

function isShaking(from: ReportedNode, to: ReportedNode): boolean {
  return from.report.value.others.some((line) => isHandshake(line) && sameEndpoint(line, to.endpoint));
}

/** REPLICATE for nodes that everybody knows; and the wait until they are in sync. */
function replicate(view: ClusterView, shards: readonly Shard[], strange: ReadonlySet<string>): Next {
  const commands: RedisCommand[] = [];
  const syncing: string[] = [];
  for (const { lead, nodes, members } of shards) {
    if (!lead) continue;
    for (const node of nodes) {
      if (node.id === lead.id || strange.has(node.id) || strange.has(lead.id)) continue;
      const { self, replication } = node.report.value;
      const elsewhere = self.role === 'primary' || !members.some(({ id }) => id === self.primaryId);
      if (elsewhere) {
        const why = `${refName(refOf(node))} is to be a copy of ${refName(refOf(lead))}`;
        commands.push({ type: 'replicate', why, replica: refOf(node), primary: refOf(lead), mustBeEmpty: true });
      } else if (self.primaryId !== lead.id || replication.linkUp !== true) {
        syncing.push(node.id);
      }
    }
  }
  if (syncing.length === 0) return { commands, waitingFor: [] };
  return {
    commands,
    ...waitingOnly('ReplicaSync', `not in sync with their primary yet: ${nodeNames(view, syncing)}`, syncing),
  };
}

function waitingOnly(reason: string, message: string, subjects: readonly string[]): Pick<Next, 'waitingFor'> {
  return { waitingFor: [{ reason, message, subjects }] };
}

/** The last word is the check's. How well the nodes are spread was decided before and does not change by waiting. */
function finish(goal: CreateGoal, view: ClusterView): Next {
  const expected = { replicasPerPrimary: goal.replicasPerPrimary, spreadBy: goal.spreadBy };
  const open = checkCluster(view, expected).filter(({ severity, code }) => severity !== 'info' && code !== 'PLACEMENT');
  const greeting = open.length > 0 ? greetAgain(view) : undefined;
  return {
    commands: greeting ? [greeting] : [],
    waitingFor: open.map(({ code, message, nodes }) => ({
      reason: 'CleanCheck',
      message: `${code}: ${message}`,
      subjects: nodes,
    })),
  };
}
