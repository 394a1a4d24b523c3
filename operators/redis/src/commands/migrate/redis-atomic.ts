/**
 * Atomic slot migration of Redis 8.4 and later, started on the target. Experimental: proven against the model only,
 * because no server of that version could be had when it was written.
 */
import type { AtomicJob } from '../../api/view.ts';
import { countSlots, formatSlots, intersectSlots, minusSlots, type SlotRanges } from '../../api/slots.ts';
import { hasEnded, jobsOf } from '../../observe/jobs.ts';
import { nameOf, StaleEvidence, tableOf } from '../evidence.ts';
import { cannotGoOn, type Migration } from './migration.ts';
import { Patience, passes } from './retry.ts';
import { RedisReplyError } from '../../api/port.ts';

const FIRST_LOOK_MS = 5;
const LAST_LOOK_MS = 50;
const LOOK_GROWTH = 1.3;
const AGREE_MS = 5_000;
/** A node takes one task at a time; another one of ours may run there for a while. */
const MOST_WAITS = 400;

/** Throws when not all slots arrived. */
export async function moveRedisAtomically(migration: Migration, slots: SlotRanges): Promise<void> {
  const id = (await runningTask(migration, slots)) ?? (await start(migration, slots));
  if (id === undefined) return; // aborted before it began
  const { tally } = migration;
  const ended = await watch(migration, id);
  if (ended.state.toLowerCase() !== 'completed' && !migration.signal.aborted) {
    throw cannotGoOn('ATOMIC_FAILED', `the atomic migration ended as ${ended.state}: ${ended.message}`);
  }
  tally.slots += await arrivals(migration, slots, ended.state.toLowerCase() === 'completed');
}

async function tasks(migration: Migration): Promise<readonly AtomicJob[]> {
  const { context, command } = migration;
  return jobsOf(await context.redis.call(command.target.endpoint, ['CLUSTER', 'MIGRATION', 'STATUS', 'ALL']));
}

async function runningTask(migration: Migration, slots: SlotRanges): Promise<string | undefined> {
  const { command, tally } = migration;
  for (const task of await tasks(migration)) {
    if (hasEnded(task) || countSlots(intersectSlots(task.slots, slots)) === 0) continue;
    const ours = task.sourceId === command.source.id && countSlots(minusSlots(task.slots, slots)) === 0;
    if (!ours) {
      throw new StaleEvidence(
        `${nameOf(command.target)} is part of another migration of slots ${formatSlots(task.slots)}`,
      );
    }
    tally.remarks.push(`took over an atomic migration that was running: slots ${formatSlots(task.slots)}`);
    return task.name;
  }
  return undefined;
}

async function start(migration: Migration, slots: SlotRanges): Promise<string | undefined> {
  const { context, command, signal } = migration;
  const ranges = slots.flatMap(([first, last]) => [String(first), String(last)]);
  const patience = new Patience(context, MOST_WAITS);
  await migration.standing.untilBelieved();
  while (!signal.aborted) {
    try {
      return String(await context.redis.call(command.target.endpoint, ['CLUSTER', 'MIGRATION', 'IMPORT', ...ranges]));
    } catch (error) {
      const busy = error instanceof RedisReplyError && /already in progress/i.test(error.message);
      if (!(busy || passes(error)) || !(await patience.again())) throw error;
    }
  }
  return undefined;
}

async function watch(migration: Migration, id: string): Promise<AtomicJob> {
  const { context, command, signal, tally } = migration;
  let wait = FIRST_LOOK_MS;
  let cancelled = false;
  for (;;) {
    const task = (await tasks(migration)).find((candidate) => candidate.name === id);
    if (!task) throw cannotGoOn('ATOMIC_FAILED', `${nameOf(command.target)} no longer knows its migration ${id}`);
    if (hasEnded(task)) return task;
    tally.note = task.state;
    if (signal.aborted && !cancelled) {
      cancelled = true;
      // On the target: cancelled on the source only, the target would try again.
      await context.redis.call(command.target.endpoint, ['CLUSTER', 'MIGRATION', 'CANCEL', 'ID', id]);
    }
    await context.clock.sleep(wait);
    wait = Math.min(LAST_LOOK_MS, wait * LOOK_GROWTH);
  }
}

/** How many of the slots are the target's, by both views. */
async function arrivals(migration: Migration, slots: SlotRanges, all: boolean): Promise<number> {
  const { context, command } = migration;
  const until = context.clock.now() + AGREE_MS;
  for (;;) {
    const [source, target] = await Promise.all([tableOf(context, command.source), tableOf(context, command.target)]);
    const arrived = countSlots(minusSlots(intersectSlots(slots, target.self.slots), source.self.slots));
    if (!all || arrived === countSlots(slots)) return arrived;
    if (context.clock.now() >= until) {
      throw cannotGoOn(
        'ATOMIC_FAILED',
        `the atomic migration completed, but ${nameOf(command.source)} and ${nameOf(command.target)} do not agree on the owner`,
      );
    }
    await context.clock.sleep(LAST_LOOK_MS);
  }
}
