/**
 * Moves slots with MIGRATE, many at a time: a window of slots is opened with one write to each side, emptied, and handed
 * over with one write to each side. A server writes its nodes.conf once for all SETSLOTs that arrive together, which is
 * where moving slots one by one spends most of its time.
 */
import { formatSlots, rangesOf, type SlotRanges, slotsOf } from '../../api/slots.ts';
import { type LookedAt, isMovedAlone, lookAt, type Sample, sample, tooBig } from './big-keys.ts';
import { Conflicts, proofOfSource } from './conflicts.ts';
import { cannotGoOn, type Migration } from './migration.ts';
import { Mover } from './mover.ts';
import { closeAgain, handOver, openSlots, stillHeld, tellOthers } from './setslot.ts';
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
  readonly #late: LookedAt[] = [];
  readonly #telling: Promise<void>[] = [];
  #stopped = false;

  constructor(migration: Migration, pacing: Pacing, mover: Mover, sampled: Sample, work: WindowedWork) {
    this.#migration = migration;
    this.#pacing = pacing;
    this.#mover = mover;
    this.#work = work;
    this.#begun = new Set(slotsOf(work.halfOpen));
    // `gentle` knows the size of every key before it moves it; `fast` looks only where a sample leaves doubts.
    this.#looksFirst = migration.command.pace === 'gentle' || sampled.suspicious;
  }

  async run(): Promise<void> {
    const unsettled = [...slotsOf(this.#work.unsettled)];
    for (const window of this.#windows(unsettled)) await this.#handOverEmpty(window);
    const windows = this.#windows([...slotsOf(this.#work.halfOpen), ...slotsOf(this.#work.closed)]);
    const workers = Array.from({ length: this.#pacing.windows }, () => this.#workThrough(windows));
    const results = await Promise.allSettled(workers);
    await Promise.all(this.#telling);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    for (const lookedAt of this.#late) {
      if (this.#migration.signal.aborted) return;
      this.#migration.tally.note = `slot ${lookedAt.slot} with a big key`;
      await this.#moveWindow([lookedAt.slot], new Map([[lookedAt.slot, lookedAt]]));
    }
    await Promise.all(this.#telling);
  }

  *#windows(slots: readonly number[]): Generator<readonly number[], void> {
    const size = this.#pacing.slotsPerWindow;
    for (let at = 0; at < slots.length; at += size) yield slots.slice(at, at + size);
  }

  /** Several of these share one source of windows: one opens or hands over while another moves keys. */
  async #workThrough(windows: Iterator<readonly number[]>): Promise<void> {
    try {
      while (!this.#stopped && !this.#migration.signal.aborted) {
        const next = windows.next();
        if (next.done) return;
        await this.#lookAndMove(next.value);
      }
    } catch (error) {
      this.#stopped = true;
      throw error;
    }
  }

  async #lookAndMove(window: readonly number[]): Promise<void> {
    if (!this.#looksFirst) return this.#moveWindow(window, new Map());
    const seen = new Map<number, LookedAt>();
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

  async #moveWindow(window: readonly number[], seen: ReadonlyMap<number, LookedAt>): Promise<void> {
    if (window.length === 0) return;
    await this.#pacing.step(() => openSlots(this.#migration, window));
    const conflicting = new Set<number>();
    const emptyOne = async (slot: number, lookedAt?: LookedAt): Promise<void> => {
      if ((await this.#mover.empty(slot, lookedAt)) === 'conflict') conflicting.add(slot);
    };
    let moving = window;
    if (this.#pacing.slotsAtOnce) {
      await settleAll(moving.map((slot) => emptyOne(slot, seen.get(slot))));
    } else {
      for (const [index, slot] of window.entries()) {
        if (this.#migration.signal.aborted) {
          const back = await this.#takeBack(window.slice(index));
          moving = window.filter((candidate) => !back.has(candidate));
          for (const left of moving.slice(index)) await emptyOne(left, seen.get(left));
          break;
        }
        await emptyOne(slot, seen.get(slot));
      }
    }
    await this.#handOverWhenEmpty(
      moving.filter((slot) => !conflicting.has(slot)),
      emptyOne,
      conflicting,
    );
  }

  /** Closes slots again in which nothing was moved; those that were taken back. */
  async #takeBack(slots: readonly number[]): Promise<ReadonlySet<number>> {
    const untouched = slots.filter((slot) => !this.#begun.has(slot));
    const stay = new Set(await closeAgain(this.#migration, untouched));
    return new Set(untouched.filter((slot) => !stay.has(slot)));
  }

  async #handOverWhenEmpty(
    window: readonly number[],
    emptyOne: (slot: number) => Promise<void>,
    conflicting: ReadonlySet<number>,
  ): Promise<void> {
    let slots = window;
    for (let round = 0; ; round++) {
      const held = await stillHeld(this.#migration, slots);
      if (held.length === 0) break;
      if (round >= MOST_ROUNDS) {
        throw cannotGoOn(
          'KEYS_STAY',
          `slots ${formatSlots(rangesOf(held))} do not get empty on the source: keys appear in them, or are in a database other than 0`,
        );
      }
      // Listed anew: what is there now came after the look.
      await settleAll(held.map((slot) => emptyOne(slot)));
      slots = slots.filter((slot) => !conflicting.has(slot));
    }
    await this.#handOverEmpty(slots);
  }

  async #handOverEmpty(slots: readonly number[]): Promise<void> {
    if (slots.length === 0) return;
    await this.#pacing.step(() => handOver(this.#migration, slots));
    this.#migration.tally.slots += slots.length;
    this.#telling.push(this.#pacing.step(() => tellOthers(this.#migration, slots)));
  }
}

/** Waits for all, then throws the first error: nothing of a window goes on while another step of it begins. */
async function settleAll(works: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(works)) if (result.status === 'rejected') throw result.reason;
}
