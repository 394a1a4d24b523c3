/**
 * Mends a damaged cluster. Every turn looks at a fresh observation and does the next thing, in this order: members find
 * each other (new addresses, lost entries), dead primaries are taken over, slots get one owner and are closed and their
 * keys brought together, epochs are told apart, replicas follow somebody who leads, all agree. Nothing is ever flushed.
 */
import { digest, type InFlight, type Plan, type Refusal, reached, type Waiting } from '@reeve/runtime';
import type { Pace, RedisCommand } from '../api/commands.ts';
import type { Finding, FindingCode } from '../api/findings.ts';
import type { Decision, Needs, Operation } from '../api/operation.ts';
import { ALL_SLOTS, formatSlots, type SlotRanges, unionSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { checkCluster, type Expected } from './check.ts';
import { judgeAbsent, lostOwners } from './fix-absent.ts';
import { type Collision, collisions, repairEpochs } from './fix-epochs.ts';
import { refuseOtherDatabases } from './fix-databases.ts';
import { damagedSlots, mayHaveStrays } from './fix-facts.ts';
import { forgetGhosts, forgetLeftovers, repairMembership, repairReplicas } from './fix-links.ts';
import { linksFollow, settling, stillSettling } from './fix-settling.ts';
import { repairSlots } from './fix-slots.ts';
import { stepOf } from './fix-steps.ts';
import { LOOK_AGAIN_MS } from './moves.ts';
import { mainCluster, slotsFromText, unreadMembers } from './moves-view.ts';
import { planReaddress } from './readdress.ts';
import { nodeNames } from './topology.ts';

export interface FixRequest {
  /** The majority is lost for good: replicas may take over without a vote. */
  readonly takeover?: boolean;
  /** Primaries that cannot be read and have no living replica are given up: their slots go to others, without keys. */
  readonly allowUnreachable?: boolean;
  readonly expected?: Expected;
  /** Of moves that are finished. With which engine is not asked: what is open was begun windowed. Default: gentle. */
  readonly pace?: Pace;
}

export interface FixGoal {
  /** The kinds of damage that were found when this was approved. */
  readonly classes: readonly FindingCode[];
  /** Names what was to be done first, without counts that change under traffic. */
  readonly damage: string;
  readonly takeover: boolean;
  readonly allowUnreachable: boolean;
  readonly givenUp: readonly NodeId[];
  readonly collisions: readonly Collision[];
  /** Slots with keys outside their owner: looked at until they are where they belong. */
  readonly strays: string;
  readonly spreadBy: readonly string[];
  /** Default: gentle. */
  readonly pace?: Pace;
}

/** Findings that mean work on slots. Mending one may pass through another: one of them approves all. */
const SLOT_CLASSES: readonly FindingCode[] = [
  'SLOT_OPEN',
  'SLOT_UNCOVERED',
  'SLOT_MULTIPLE_OWNERS',
  'KEYS_OUTSIDE_SLOT',
  'VIEWS_DIFFER',
];

export const fixOperation: Operation<FixRequest, FixGoal> = {
  kind: 'fix',
  needs: (_request, view): Needs => {
    const { cluster } = mainCluster(view);
    // Keys outside their slots show only where keys are counted: everywhere, unless it is proved that there are none.
    if (mayHaveStrays(cluster)) return { countKeysIn: ALL_SLOTS };
    const countKeysIn = damagedSlots(cluster);
    return { keysBeyondSlots: true, ...(countKeysIn.length > 0 ? { countKeysIn } : {}) };
  },
  decide,
  goalNeeds: (goal, view): Needs => ({
    countKeysIn: unionSlots(slotsFromText(goal.strays), damagedSlots(mainCluster(view).cluster)),
  }),
  plan: planFix,
};

function decide(request: FixRequest, view: ClusterView): Decision<FixGoal> {
  const split = splitRefusal(view);
  if (split) return { refused: [split] };
  const { cluster } = mainCluster(view);
  const findings = checkCluster(cluster, request.expected).filter((finding) => finding.severity !== 'info');
  const strays = damagedSlots(cluster);
  const allowUnreachable = request.allowUnreachable ?? false;
  // A check looks for keys outside their slots only on demand; here they were counted.
  const slotWork: readonly FindingCode[] = strays.length > 0 ? ['KEYS_OUTSIDE_SLOT'] : [];
  const draft: FixGoal = {
    classes: [...new Set([...findings.map((finding) => finding.code), ...slotWork])].sort(),
    damage: '',
    takeover: request.takeover ?? false,
    allowUnreachable,
    givenUp: allowUnreachable ? lostOwners(cluster) : [],
    collisions: collisions(cluster),
    strays: formatSlots(strays),
    spreadBy: request.expected?.spreadBy ?? ['host'],
    // The default is left out: a goal without it has the name that it always had.
    ...(request.pace === 'fast' && { pace: request.pace }),
  };
  const plan = planFix(draft, view, view.observedAt, []);
  if (plan.refused?.length) return { refused: plan.refused };
  const damage = digest(plan.commands.map(({ why: _why, ...command }) => command));
  const waits = plan.waitingFor ?? [];
  const nothingToDo = plan.commands.length === 0 && waits.length === 0;
  return {
    goal: { ...draft, damage },
    steps: [
      ...plan.commands.map((command) => stepOf(command)),
      ...waits.map((waiting) => `wait until ${waiting.message}`),
      ...(nothingToDo ? [] : ['look again and mend what is then found, until all nodes agree']),
    ],
    reasons: [
      ...plan.commands.map((command) => command.why),
      ...losses(cluster, draft),
      ...beyond(findings, nothingToDo),
    ],
    ...(nothingToDo ? { nothingToDo: true } : {}),
  };
}

function losses(view: ClusterView, goal: FixGoal): readonly string[] {
  return goal.givenUp.length === 0
    ? []
    : [
        `${nodeNames(view, goal.givenUp)} are given up: their keys are lost, and a node that comes back later gives its slots up and deletes its keys of them`,
      ];
}

const BEYOND: readonly FindingCode[] = ['REPLICA_MISSING', 'PLACEMENT', 'NODE_FAILED', 'NODE_UNREACHABLE'];

/** What a fix does not mend, with what does: everything that was found, when there is nothing that it would do. */
function beyond(findings: readonly Finding[], nothingToDo: boolean): readonly string[] {
  const follow = linksFollow(findings.map((finding) => finding.code));
  return findings
    .filter(({ code }) => nothingToDo || BEYOND.includes(code) || (code === 'REPLICA_LINK_DOWN' && !follow))
    .map((finding) => `not mended by this: ${finding.message} (${finding.remedy})`);
}

function splitRefusal(view: ClusterView): Refusal | undefined {
  const { apart, cluster } = mainCluster(view);
  if (apart.length === 0) return undefined;
  const sides = [cluster.nodes.map((node) => node.id), ...apart];
  const message = `these nodes do not know each other and may be halves of one cluster: ${sides
    .map((side) => nodeNames(view, side))
    .join(' | ')}`;
  return { code: 'SPLIT_CLUSTER', message, subjects: apart.flat() };
}

function planFix(
  goal: FixGoal,
  seen: ClusterView,
  now: number,
  inFlight: readonly InFlight<RedisCommand>[],
): Plan<RedisCommand> {
  const wakeAt = now + LOOK_AGAIN_MS;
  const split = splitRefusal(seen);
  if (split) return { commands: [], refused: [split] };
  const { cluster: view } = mainCluster(seen);

  const readdress = planReaddress(view, now, inFlight);
  if (readdress) return readdress;
  // All must be asked; while somebody cannot be, what is urgent goes on.
  const leftovers = unreadMembers(view).length > 0 ? [] : [...forgetLeftovers(view), ...forgetGhosts(view)];
  if (leftovers.length > 0) {
    return { commands: inFlight.length > 0 ? [] : leftovers, waitingFor: running(inFlight), wakeAt };
  }
  const membership = repairMembership(view);
  if (membership.waiting.length > 0) {
    const commands = inFlight.length > 0 ? [] : membership.commands;
    return { commands, waitingFor: membership.waiting, wakeAt };
  }

  const absent = judgeAbsent(view, goal);
  if (absent.refused.length > 0) return { commands: [], refused: absent.refused };
  const promoted = new Set(
    inFlight.flatMap(({ command }) => (command.type === 'failover' ? [command.primary.id] : [])),
  );
  const failovers = absent.commands.filter((command) => !promoted.has(command.primary.id));
  const unsettled = [...absent.waiting, ...settling(view)];
  if (failovers.length > 0 || promoted.size > 0 || unsettled.length > 0) {
    return { commands: failovers, waitingFor: [...unsettled, ...running(inFlight)], wakeAt };
  }

  const slots = repairSlots(view, absent.givenUp, inHand(inFlight), goal.pace ?? 'gentle');
  if (slots.commands.length > 0 && !goal.classes.some((code) => SLOT_CLASSES.includes(code))) {
    const message = `more damage became visible: ${slots.commands.map((command) => stepOf(command)).join('; ')}`;
    return { commands: [], refused: [{ code: 'FIX_NEW_DAMAGE', message, subjects: [] }] };
  }
  const waiting = [...slots.waiting, ...running(inFlight)];
  const movable = refuseOtherDatabases(view, slots.commands);
  if (movable.commands.length > 0 || waiting.length > 0) {
    return { commands: movable.commands, waitingFor: waiting, wakeAt };
  }
  if (movable.refused.length > 0) return { commands: [], refused: movable.refused };

  const epochs = repairEpochs(view, goal.collisions);
  const commands = [...epochs.commands, ...repairReplicas(view, goal.spreadBy)];
  const last = [...epochs.waiting, ...stillSettling(view, goal)];
  if (commands.length === 0 && last.length === 0) return reached;
  return { commands, waitingFor: last, wakeAt };
}

function running(inFlight: readonly InFlight<RedisCommand>[]): readonly Waiting[] {
  return inFlight.map(({ command }) => ({ reason: 'Command', message: stepOf(command), subjects: [] }));
}

/** Slots that commands which have not ended are working on. */
function inHand(inFlight: readonly InFlight<RedisCommand>[]): SlotRanges {
  return unionSlots(...inFlight.map(({ command }) => ('slots' in command ? slotsFromText(command.slots) : [])));
}
