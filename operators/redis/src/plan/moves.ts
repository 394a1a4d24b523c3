/**
 * Moving slots between primaries: the goal that reshard, rebalance and delete-node share, and its plan.
 * The goal says where slots must be at the end. What is left to do is read from every new view, so that a crash, a
 * failover or a second run changes nothing: a slot has moved when its target says that it owns it and no source does,
 * and it is finished when every node says so.
 */
import { type InFlight, type Plan, type Refusal, reached, type Waiting } from '@reeve/runtime';
import type { Engine, MigrateSlots, Pace, RedisCommand } from '../api/commands.ts';
import { countSlots, formatSlots, intersectSlots, minusSlots, type SlotRanges, unionSlots } from '../api/slots.ts';
import type { ClusterView, NodeId, NodeRef } from '../api/view.ts';
import { closeCarriedMarks } from './moves-carried.ts';
import type { MoveGoal, SlotMove } from './moves-goal.ts';
import { type MovePair, type RemainingWork, remainingWork } from './moves-remaining.ts';
import { atomicJobs, inDoubt, mainCluster, slotsFromText, unreadMembers } from './moves-view.ts';
import { compareText, nodeName, refOf, replicasOf, reported, reportedPrimaries } from './topology.ts';

export type { MoveGoal, SlotMove } from './moves-goal.ts';

/** Plans look again at the latest after this time. */
export const LOOK_AGAIN_MS = 1_000;

export function moveGoal(moves: readonly SlotMove[], view: ClusterView, engine: Engine, pace: Pace): MoveGoal {
  const ids = [...new Set(moves.flatMap((move) => [move.source, move.target]))].sort();
  const standIns = Object.fromEntries(ids.map((id) => [id, replicasOf(view, id).map((replica) => replica.id)]));
  return { moves: moves.filter((move) => move.slots !== ''), engine, pace, standIns };
}

/** The same slots back to where they came from. Slots that never left count as moved at once. */
export function reverseMoves(goal: MoveGoal, view: ClusterView): MoveGoal {
  const back = goal.moves.map((move) => ({ source: move.target, target: move.source, slots: move.slots }));
  const reversed = { ...goal, moves: back };
  const work = remainingWork(reversed, view);
  const touched = unionSlots(...work.pairs.map((pair) => pair.slots), work.unsettled, work.ownerless);
  const moves = back.filter((move) => countSlots(intersectSlots(slotsFromText(move.slots), touched)) > 0);
  return { ...reversed, moves };
}

export function planMoves(
  goal: MoveGoal,
  seen: ClusterView,
  now: number,
  inFlight: readonly InFlight<RedisCommand>[],
): Plan<RedisCommand> {
  const { cluster: view } = mainCluster(seen);
  const running = inFlight.map(({ command }) => command).filter((command) => command.type === 'migrate-slots');
  const work = remainingWork(goal, view);
  const ours = unionSlots(...running.map((command) => slotsFromText(command.slots)));
  const refused = [...refusals(goal, view, work, ours)];
  if (refused.length > 0) return { commands: [], refused };

  const waiting: Waiting[] = running.map((command) => ({
    reason: 'Migration',
    message: `slots ${command.slots} move from ${nodeName(view, command.source.id)} to ${nodeName(view, command.target.id)}`,
    subjects: [command.source.id, command.target.id],
  }));
  waiting.push(...work.unavailable);
  const jobs = jobsOfGoal(goal, view, work.pairs);
  for (const job of jobs) {
    if (running.some((command) => command.source.id === job.sourceId && command.target.id === job.targetId)) continue;
    waiting.push({
      reason: 'AtomicJob',
      message: `the server moves slots ${formatSlots(job.slots)} from ${nodeName(view, job.sourceId)} to ${nodeName(view, job.targetId)} already`,
      subjects: [job.sourceId, job.targetId],
    });
  }
  const doubts = inDoubt(view);
  waiting.push(...doubts);

  const busy = [
    ...running.map((command) => ({ source: command.source.id, target: command.target.id })),
    ...jobs.map((job) => ({ source: job.sourceId, target: job.targetId })),
  ];
  const commands = doubts.length > 0 ? [] : pairCommands(goal, view, work.pairs, ours, busy);
  // Gossip and torn reads are waited for only when nothing else explains them.
  if (commands.length === 0 && running.length === 0 && jobs.length === 0) {
    waiting.push(...settling(view, work.ownerless, work.unsettled, work.disagreeing));
  }
  if (commands.length === 0 && waiting.length === 0) {
    const carried = closeCarriedMarks(view, goalSlots(goal));
    if (carried.length > 0) return { commands: carried, wakeAt: now + LOOK_AGAIN_MS };
    return reached;
  }
  const complete = waiting.length === running.length && commands.length + running.length === work.pairs.length;
  return { commands, wakeAt: now + LOOK_AGAIN_MS, complete, ...(waiting.length > 0 ? { waitingFor: waiting } : {}) };
}

function goalSlots(goal: MoveGoal): SlotRanges {
  return unionSlots(...goal.moves.map((move) => slotsFromText(move.slots)));
}

function* refusals(
  goal: MoveGoal,
  view: ClusterView,
  { foreignOpen, overtaken, swapped }: RemainingWork,
  ours: SlotRanges,
): Generator<Refusal> {
  for (const [target, source] of swapped) {
    yield {
      code: 'GOAL_OVERTAKEN',
      message: `${nodeName(view, target)} should get slots of ${nodeName(view, source)}, which took over for it and which it follows now`,
      subjects: [target, source],
    };
  }
  for (const [id, slots] of overtaken) {
    yield {
      code: 'GOAL_OVERTAKEN',
      message: `slots ${formatSlots(slots)} belong to ${nodeName(view, id)}, which this goal does not name: somebody else moved them`,
      subjects: [id],
    };
  }
  for (const [id, slots] of foreignOpen) {
    const notOurs = minusSlots(slots, ours);
    if (countSlots(notOurs) === 0) continue;
    yield {
      code: 'SLOTS_OPEN_ELSEWHERE',
      message: `slots ${formatSlots(notOurs)} are open on ${nodeName(view, id)} for a move that is not of this goal`,
      subjects: [id],
    };
  }
  const all = goalSlots(goal);
  const nodes = new Set(goal.moves.flatMap((move) => [move.source, move.target]));
  for (const ids of Object.values(goal.standIns ?? {})) for (const id of ids) nodes.add(id);
  for (const job of atomicJobs(view)) {
    const known = nodes.has(job.sourceId) && nodes.has(job.targetId);
    if (known || countSlots(intersectSlots(job.slots, all)) === 0) continue;
    yield {
      code: 'SLOTS_BUSY',
      message: `slots ${formatSlots(intersectSlots(job.slots, all))} are being moved to ${nodeName(view, job.targetId)} by an atomic migration that is not of this goal`,
      subjects: [job.sourceId, job.targetId],
    };
  }
}

/**
 * Atomic migrations that run for this goal without a command of ours: left by a tool that was killed, or not quite over
 * although the slots have arrived. Waited for in either case.
 */
function jobsOfGoal(goal: MoveGoal, view: ClusterView, pairs: readonly MovePair[]) {
  const all = unionSlots(...goal.moves.map((move) => slotsFromText(move.slots)));
  return atomicJobs(view).filter(
    (job) => countSlots(intersectSlots(all, job.slots)) > 0 || pairs.some((pair) => samePair(pair, job)),
  );
}

function samePair(pair: MovePair, job: { readonly sourceId: NodeId; readonly targetId: NodeId }): boolean {
  return pair.source.id === job.sourceId && pair.target.id === job.targetId;
}

/**
 * One command for each pair that is free, the longest first, because the longest decides when all is over. Pairs run
 * side by side; a server that takes one atomic task at a time is used by one of our pairs at a time.
 */
function pairCommands(
  goal: MoveGoal,
  view: ClusterView,
  pairs: readonly MovePair[],
  ours: SlotRanges,
  busy: readonly { readonly source: NodeId; readonly target: NodeId }[],
): readonly MigrateSlots[] {
  const order = [...pairs].sort(
    (a, b) =>
      countSlots(b.slots) - countSlots(a.slots) ||
      compareText(a.source.id, b.source.id) ||
      compareText(a.target.id, b.target.id),
  );
  const taken = new Set(busy.flatMap(({ source, target }) => [source, target]));
  const commands: MigrateSlots[] = [];
  for (const pair of order) {
    const slots = minusSlots(pair.slots, ours);
    if (countSlots(slots) === 0) continue;
    if (busy.some(({ source, target }) => source === pair.source.id && target === pair.target.id)) continue;
    if (oneTaskPerNode(goal)) {
      if (taken.has(pair.source.id) || taken.has(pair.target.id)) continue;
      taken.add(pair.source.id).add(pair.target.id);
    }
    commands.push(migrateCommand(goal, view, pair, slots));
  }
  return commands;
}

/** Redis takes one atomic task at a time, on either side. Valkey and MIGRATE know no such limit. */
function oneTaskPerNode(goal: MoveGoal): boolean {
  return goal.engine === 'redis-atomic';
}

function migrateCommand(goal: MoveGoal, view: ClusterView, pair: MovePair, slots: SlotRanges): MigrateSlots {
  return {
    type: 'migrate-slots',
    source: pair.source,
    target: pair.target,
    slots: formatSlots(slots),
    others: otherPrimaries(view, [pair.source.id, pair.target.id]),
    ...(pair.formerly.length > 0 ? { formerly: pair.formerly } : {}),
    engine: goal.engine,
    pace: goal.pace,
    why: pair.why,
  };
}

/** Every primary that reports, except those named: whoever must be told of a new owner. */
export function otherPrimaries(view: ClusterView, except: readonly NodeId[]): readonly NodeRef[] {
  return reportedPrimaries(view)
    .filter((node) => !except.includes(node.id))
    .map(refOf);
}

function settling(
  view: ClusterView,
  ownerless: SlotRanges,
  unsettled: SlotRanges,
  disagreeing: readonly NodeId[],
): readonly Waiting[] {
  const waiting: Waiting[] = [];
  if (countSlots(ownerless) > 0) {
    waiting.push({
      reason: 'SlotWithoutOwner',
      message: `nobody says that slots ${formatSlots(ownerless)} are its own; if it stays so, run \`reeve redis fix\``,
      subjects: [],
    });
  }
  if (countSlots(unsettled) > 0) {
    waiting.push({
      reason: 'GossipAgreement',
      message: `${disagreeing.length} of ${reported(view).length} nodes have not heard of the new owners of slots ${formatSlots(unsettled)}`,
      subjects: disagreeing,
    });
  }
  for (const node of unreadMembers(view)) {
    waiting.push({
      reason: 'NodeUnreachable',
      message: `${nodeName(view, node.id)} cannot be read: whether it knows the new owners is unknown`,
      subjects: [node.id],
    });
  }
  return waiting;
}
