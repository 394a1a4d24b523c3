/** The states of slots on the two sides of a move, set for many slots in one write and read back where a server refused. */
import type { Arg } from '../../api/port.ts';
import { RedisReplyError } from '../../api/port.ts';
import { hasSlot, minusSlots, type SlotRanges, slotsOf } from '../../api/slots.ts';
import type { NodeRef } from '../../api/view.ts';
import { keyspace, keysInSlots, nameOf, tableOf } from '../evidence.ts';
import { cannotGoOn, type Migration } from './migration.ts';
import { isSilence, Patience, passes } from './retry.ts';

/** Valkey 8 and later answer SETSLOT only when the replicas have it: each may take its default of 2 s. */
const SETSLOT_TIMEOUT_MS = 15_000;
const MOST_TRIES = 6;
/** No slot can be opened or closed by hand while a node takes part in an atomic migration, which may take minutes. */
const ATOMIC_AT_WORK = /Slot (?:import|export) in progress/;
const MOST_WAITS_FOR_ATOMIC = 600;

function setSlot(slot: number, ...state: readonly string[]): readonly Arg[] {
  return ['CLUSTER', 'SETSLOT', String(slot), ...state];
}

/** How long a refusal is worth waiting for. */
class Waits {
  readonly #migration: Migration;
  readonly #short: Patience;
  readonly #long: Patience;

  constructor(migration: Migration) {
    this.#migration = migration;
    this.#short = new Patience(migration.context, MOST_TRIES);
    this.#long = new Patience(migration.context, MOST_WAITS_FOR_ATOMIC);
  }

  /** False when the refusal will last, or was waited for long enough. */
  async again({ error }: Refused): Promise<boolean> {
    if (error instanceof RedisReplyError && ATOMIC_AT_WORK.test(error.message)) {
      this.#migration.tally.note = 'waits for an atomic migration on one of the nodes';
      return !this.#migration.signal.aborted && this.#long.again();
    }
    return passes(error) && this.#short.again();
  }
}

interface Refused {
  readonly slot: number;
  readonly error: unknown;
}

async function sendAll(
  migration: Migration,
  node: NodeRef,
  slots: readonly number[],
  state: readonly string[],
): Promise<readonly Refused[]> {
  const { redis } = migration.context;
  const results = await Promise.allSettled(
    slots.map((slot, index) =>
      redis.call(node.endpoint, setSlot(slot, ...state), {
        timeoutMs: SETSLOT_TIMEOUT_MS,
        lane: `slots${index % migration.setslotLanes}`,
      }),
    ),
  );
  const refused: Refused[] = [];
  for (const [index, result] of results.entries()) {
    if (result.status === 'rejected') refused.push({ slot: slots[index] as number, error: result.reason });
  }
  return refused;
}

/** Sets the state of slots; those that a server refuses for the moment again after a pause. Other refusals are thrown. */
async function setAll(
  migration: Migration,
  node: NodeRef,
  slots: readonly number[],
  state: readonly string[],
): Promise<void> {
  const waits = new Waits(migration);
  let left = slots;
  for (;;) {
    const refused = await sendAll(migration, node, left, state);
    const [first] = refused;
    if (!first) return;
    const worst = refused.find(({ error }) => !passes(error)) ?? first;
    if (!(await waits.again(worst))) throw refusal(node, worst);
    left = refused.map(({ slot }) => slot);
  }
}

function refusal(node: NodeRef, { slot, error }: Refused): unknown {
  if (!(error instanceof RedisReplyError)) return error;
  return cannotGoOn('SLOT_REFUSED', `${nameOf(node)} refused the state of slot ${slot}: ${error.message}`);
}

/**
 * Tells the target who owns slots that it is importing. Without it a target whose source was failed over takes them for
 * nobody's, and refuses every key of them (CLUSTERDOWN Hash slot not served).
 */
export async function tellOwner(migration: Migration, slots: SlotRanges): Promise<void> {
  const { source, target } = migration.command;
  await setAll(migration, target, [...slotsOf(slots)], ['NODE', source.id]);
}

/** Ends marks of slots that the node does not own. */
export async function endMarks(migration: Migration, node: NodeRef, slots: SlotRanges): Promise<void> {
  await setAll(migration, node, [...slotsOf(slots)], ['STABLE']);
}

/** First the target, then the source: the other way round a client would be sent to a target that refuses it. */
export async function openSlots(migration: Migration, slots: readonly number[]): Promise<void> {
  const { source, target } = migration.command;
  await setAll(migration, target, slots, ['IMPORTING', source.id]);
  await setAll(migration, source, slots, ['MIGRATING', target.id]);
}

/** Those of the slots in which the source has keys. */
export async function stillHeld(migration: Migration, slots: readonly number[]): Promise<readonly number[]> {
  const counts = await keysInSlots(migration.context, migration.command.source, slots);
  return slots.filter((_slot, index) => (counts[index] ?? 0) > 0);
}

/** Whether the source has keys in a database other than 0, which GETKEYSINSLOT and MIGRATE do not see. */
export async function keysElsewhere({ context, command }: Migration): Promise<boolean> {
  return Object.keys(await keyspace(context, command.source)).some((database) => database !== '0');
}

/**
 * Gives empty slots to the target. The target first: if it dies between the two, the source still owns the slot and it
 * is only open; the other way round nobody would own it. The target takes a new epoch by itself, so that the others
 * believe it.
 */
export async function handOver(migration: Migration, slots: readonly number[]): Promise<void> {
  const { source, target } = migration.command;
  await assign(migration, target, slots, (owned) => owned);
  await assign(migration, source, slots, (owned) => !owned);
}

/**
 * SETSLOT NODE target. A refusal counts only if the node does not think so anyway: a source that lost its last slot
 * is a replica by then and refuses, with nothing left to do.
 */
async function assign(
  migration: Migration,
  node: NodeRef,
  slots: readonly number[],
  isRight: (owned: boolean) => boolean,
): Promise<void> {
  const { target } = migration.command;
  const waits = new Waits(migration);
  let left = slots;
  for (;;) {
    if (node === target) await migration.standing.proveNow(left);
    const refused = await sendAll(migration, node, left, ['NODE', target.id]);
    const [first] = refused;
    if (!first) return;
    const silent = refused.find(({ error }) => isSilence(error));
    if (silent) throw silent.error;
    const { self } = await tableOf(migration.context, node);
    const wrong = refused.filter(({ slot }) => !isRight(hasSlot(self.slots, slot)));
    const [wrongFirst] = wrong;
    if (!wrongFirst) return;
    if (!(await waits.again(wrongFirst))) throw refusal(node, wrongFirst);
    left = wrong.map(({ slot }) => slot);
  }
}

/**
 * The target tells everybody of each slot it takes, at once. Whoever missed it is told here; a bystander that refuses or
 * does not answer hears of it with the next gossip, and stops nothing.
 */
export async function tellOthers(migration: Migration, slots: SlotRanges): Promise<void> {
  const { context, command } = migration;
  const tell = async (other: NodeRef): Promise<void> => {
    const { self, others } = await tableOf(context, other);
    if (self.role !== 'primary') return;
    const known = others.find((line) => line.id === command.target.id)?.slots ?? [];
    await sendAll(migration, other, [...slotsOf(minusSlots(slots, known))], ['NODE', command.target.id]);
  };
  await Promise.allSettled(command.others.map(tell));
}

/**
 * Takes back the opening of slots in which nothing was moved. Closing the source first ends the redirections to the
 * target; a key that a redirected client wrote there before would be cut off, so the slots that have one are opened
 * again and returned: they must be moved after all.
 */
export async function closeAgain(migration: Migration, slots: readonly number[]): Promise<readonly number[]> {
  const { source, target } = migration.command;
  const keysOnTarget = async (among: readonly number[]): Promise<ReadonlySet<number>> => {
    const counts = await keysInSlots(migration.context, target, among);
    return new Set(among.filter((_slot, index) => (counts[index] ?? 0) > 0));
  };
  const begun = await keysOnTarget(slots);
  const untouched = slots.filter((slot) => !begun.has(slot));
  await setAll(migration, source, untouched, ['STABLE']);
  const late = await keysOnTarget(untouched);
  const closing = untouched.filter((slot) => !late.has(slot));
  await setAll(migration, target, closing, ['STABLE']);
  // Until then a client that had been sent to the target before could still write there.
  const latest = await keysOnTarget(closing);
  await setAll(migration, target, [...latest], ['IMPORTING', source.id]);
  const reopened = [...late, ...latest];
  await setAll(migration, source, reopened, ['MIGRATING', target.id]);
  return [...begun, ...reopened];
}
