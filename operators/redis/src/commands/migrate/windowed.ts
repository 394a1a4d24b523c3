/**
 * Moves slots with MIGRATE, many at a time: a window of slots is opened with one write to each side, emptied, and handed
 * over with one write to each side. A server writes its nodes.conf once for all SETSLOTs that arrive together, which is
 * where moving slots one by one spends most of its time.
 */
import { formatSlots, rangesOf, type SlotRanges, slotsOf } from '../../api/slots.ts';
import { isMovedAlone, type Listing, lookAt, tooBig } from './big-keys.ts';
import { Conflicts, proofOfSource } from './conflicts.ts';
import { cannotGoOn, type Migration } from './migration.ts';
import { Mover } from './mover.ts';
import { type Sample, sample } from './sample.ts';
import { closeAgain, handOver, keysElsewhere, openSlots, stillHeld, tellOthers } from './setslot.ts';
import { type Pacing, pacingFor } from './throttle.ts';

/** Rounds in which clients could put keys into a slot that is being closed: more means that somebody works against us. */
const MOST_ROUNDS = 20;

export interface WindowedWork {
  /** The target owns them; only the last step is missing. */
  readonly unsettled: SlotRanges;
  readonly halfOpen: SlotRanges;
  readonly closed: SlotRanges;
}

export async function moveWindowed(migration: Migration, work: WindowedWork): Promise<void> {
  const pacing = pacingFor(migration.command.pace, migration);
  const slots = [...slotsOf(work.halfOpen), ...slotsOf(work.closed)];
  const [proof, sampled] = await Promise.all([
    proofOfSource(migration.command, migration.context),
    sample(migration, slots),
  ]);
  const mover = new Mover(migration, pacing, new Conflicts(migration.command, migration.context, proof), sampled);
  await new WindowedMove(migration, pacing, mover, sampled, work).run();
}

class WindowedMove {
  readonly #migration: Migration;
  readonly #pacing: Pacing;
  readonly #mover: Mover;
  readonly #looksFirst: boolean;
  readonly #work: WindowedWork;
  /** Half open before we came: keys may be over there already, so they are never just closed. */
  readonly #begun: Set<number>;
  readonly #late: Listing[] = [];
  readonly #handedOver: number[] = [];
  #stopped = false;

  constructor(migration: Migration, pacing: Pacing, mover: Mover, sampled: Sample, work: WindowedWork) {
    this.#migration = migration;
    this.#pacing = pacing;
    this.#mover = mover;
    this.#work = work;
    this.#begun = new Set(slotsOf(work.halfOpen));
    // The size of every key is asked only where a sample leaves doubts.
    this.#looksFirst = sampled.suspicious;
  }

  async run(): Promise<void> {
    try {
      for (const window of this.#windows([...slotsOf(this.#work.unsettled)]))
        await this.#pacing.alone(() => this.#handOverEmpty(window));
      const windows = this.#windows([...slotsOf(this.#work.halfOpen), ...slotsOf(this.#work.closed)]);
      await settleAll(Array.from({ length: this.#pacing.windows }, () => this.#workThrough(windows)));
      for (const listing of this.#late) {
        if (this.#migration.signal.aborted) return;
        this.#migration.tally.note = `slot ${listing.slot} with a big key`;
        await this.#pacing.alone(() => this.#moveWindow([listing.slot], new Map([[listing.slot, listing]])));
      }
    } finally {
      await tellOthers(this.#migration, rangesOf(this.#handedOver));
    }
  }

  *#windows(slots: readonly number[]): Generator<readonly number[], void> {
    for (let at = 0; at < slots.length; ) {
      const size = this.#pacing.slotsPerWindow();
      yield slots.slice(at, at + size);
      at += size;
    }
  }

  /** Several of these share one source of windows: one opens or hands over while another moves keys. */
  async #workThrough(windows: Iterator<readonly number[]>): Promise<void> {
    try {
      while (!this.#stopped && !this.#migration.signal.aborted) {
        const next = windows.next();
        if (next.done) return;
        await this.#pacing.alone(() => this.#lookAndMove(next.value));
      }
    } catch (error) {
      this.#stopped = true;
      throw error;
    }
  }

  async #lookAndMove(window: readonly number[]): Promise<void> {
    if (!this.#looksFirst) return this.#moveWindow(window, new Map());
    const seen = new Map<number, Listing>();
    for (const lookedAt of await lookAt(this.#migration, window)) {
      const trouble = tooBig(lookedAt, this.#migration.nodeTimeoutMs);
      if (trouble) await this.#leave(lookedAt.slot, trouble);
      else if (lookedAt.keys.some(({ bytes }) => isMovedAlone(bytes, this.#migration.command.pace)))
        this.#late.push(lookedAt);
      else seen.set(lookedAt.slot, lookedAt);
    }
    await this.#moveWindow([...seen.keys()], seen);
  }

  async #leave(slot: number, trouble: Migration['tally']['troubles'][number]): Promise<void> {
    const open = this.#begun.has(slot) ? await closeAgain(this.#migration, [slot]) : [];
    const note = open.length > 0 ? '; it was half moved before and is left open' : '';
    this.#migration.tally.troubles.push({ ...trouble, message: trouble.message + note });
  }

  async #moveWindow(window: readonly number[], seen: ReadonlyMap<number, Listing>): Promise<void> {
    if (window.length === 0) return;
    await this.#pacing.step(() => openSlots(this.#migration, window));
    const conflicting = new Set<number>();
    const emptyOne = async (slot: number, listing?: Listing): Promise<void> => {
      if ((await this.#mover.empty(slot, listing)) === 'conflict') conflicting.add(slot);
    };
    const [elsewhere, ...listings] = await Promise.all([
      keysElsewhere(this.#migration),
      ...window.map(async (slot) => seen.get(slot) ?? this.#mover.list(slot)),
    ]);
    const left = this.#pacing.slotsAtOnce
      ? await this.#emptyAtOnce(listings, emptyOne)
      : await this.#emptyInTurn(listings, emptyOne);
    // A slot that was empty after it had been opened stays so: clients are sent to the target for new keys. Lists are of
    // database 0: where there are keys in others, they are counted.
    const sure = left
      .filter(({ slot, keys }) => keys.length === 0 && !seen.has(slot) && !elsewhere)
      .map(({ slot }) => slot);
    const unsure = left.map(({ slot }) => slot).filter((slot) => !sure.includes(slot) && !conflicting.has(slot));
    await this.#emptyForSure(unsure, emptyOne, conflicting);
    await this.#handOverEmpty([...sure, ...unsure.filter((slot) => !conflicting.has(slot))]);
  }

  async #emptyAtOnce(listings: readonly Listing[], emptyOne: EmptyOne): Promise<readonly Listing[]> {
    await settleAll(listings.map((listing) => emptyOne(listing.slot, listing)));
    return listings;
  }

  /** Those that were not taken back, which happens when the migration is stopped in the middle. */
  async #emptyInTurn(listings: readonly Listing[], emptyOne: EmptyOne): Promise<readonly Listing[]> {
    for (const [index, listing] of listings.entries()) {
      if (!this.#migration.signal.aborted) {
        await emptyOne(listing.slot, listing);
        continue;
      }
      const back = await this.#takeBack(listings.slice(index).map(({ slot }) => slot));
      const left = listings.filter(({ slot }) => !back.has(slot));
      for (const begun of left.slice(index)) await emptyOne(begun.slot, begun);
      return left;
    }
    return listings;
  }

  /** Closes slots again in which nothing was moved; those that were taken back. */
  async #takeBack(slots: readonly number[]): Promise<ReadonlySet<number>> {
    const untouched = slots.filter((slot) => !this.#begun.has(slot));
    const stay = new Set(await closeAgain(this.#migration, untouched));
    return new Set(untouched.filter((slot) => !stay.has(slot)));
  }

  /** Until the source has no key of the slots, except in those with conflicts. */
  async #emptyForSure(window: readonly number[], emptyOne: EmptyOne, conflicting: ReadonlySet<number>): Promise<void> {
    let slots = window;
    for (let round = 0; slots.length > 0; round++) {
      const held = await stillHeld(this.#migration, slots);
      if (held.length === 0) return;
      if (round >= MOST_ROUNDS) {
        throw cannotGoOn(
          'KEYS_STAY',
          `slots ${formatSlots(rangesOf(held))} do not get empty on the source: keys appear in them, or are in a database other than 0`,
        );
      }
      await settleAll(held.map((slot) => emptyOne(slot)));
      slots = slots.filter((slot) => !conflicting.has(slot));
    }
  }

  async #handOverEmpty(slots: readonly number[]): Promise<void> {
    if (slots.length === 0) return;
    await this.#pacing.handOver(slots.length, () => handOver(this.#migration, slots));
    this.#migration.tally.slots += slots.length;
    this.#handedOver.push(...slots);
  }
}

type EmptyOne = (slot: number, listing?: Listing) => Promise<void>;

/** Waits for all, then throws the first error: nothing of a window goes on while another step of it begins. */
async function settleAll(works: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(works)) if (result.status === 'rejected') throw result.reason;
}
