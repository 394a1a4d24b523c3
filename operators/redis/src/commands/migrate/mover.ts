/** Empties open slots: lists keys, moves them in batches, and makes good what breaks off in the middle. */
import { isAscii } from 'node:buffer';
import type { Arg } from '../../api/port.ts';
import { showKey } from '../compare-keys.ts';
import { nameOf } from '../evidence.ts';
import { batches, CALL_MARGIN_MS, stepTimeoutMs } from './batches.ts';
import type { Listing, SizedKey } from './big-keys.ts';
import type { Conflicts } from './conflicts.ts';
import { causeOf, explain } from './migrate-errors.ts';
import type { Migration } from './migration.ts';
import { Patience } from './retry.ts';
import type { Sample } from './sample.ts';
import type { Pacing } from './throttle.ts';

const MOST_TRIES = 8;
/** How long a target that went away is waited for, so that a restart is no failure. */
const TARGET_PATIENCE_MS = 15_000;
const LOOK_FOR_TARGET_MS = 200;
const SHOWN_KEYS = 3;

export class Mover {
  readonly #migration: Migration;
  readonly #pacing: Pacing;
  readonly #conflicts: Conflicts;
  readonly #sample: Sample;
  readonly #stepMs: number;

  constructor(migration: Migration, pacing: Pacing, conflicts: Conflicts, sample: Sample) {
    this.#migration = migration;
    this.#pacing = pacing;
    this.#conflicts = conflicts;
    this.#sample = sample;
    this.#stepMs = stepTimeoutMs(migration.nodeTimeoutMs);
  }

  /**
   * Moves all keys of a slot that are there. Whether it is empty then is for the caller to ask before the slot is
   * handed over. Keys in conflict stay, and are reported.
   */
  async empty(slot: number, listing?: Listing): Promise<'moved' | 'conflict'> {
    const stuck = new Map<string, Buffer>();
    const patience = new Patience(this.#migration.context, MOST_TRIES);
    let listed = listing ?? (await this.list(slot));
    for (;;) {
      let smooth = true;
      for (const batch of batches(listed.keys, this.#migration.command.pace, () => this.#pacing.limit())) {
        smooth = (await this.#moveBatch(slot, batch, stuck, patience)) && smooth;
      }
      if (listed.complete && smooth) break;
      listed = await this.list(slot, stuck);
    }
    if (stuck.size === 0) return 'moved';
    this.#report(slot, [...stuck.values()]);
    return 'conflict';
  }

  #report(slot: number, stuck: readonly Buffer[]): void {
    const { source, target } = this.#migration.command;
    const shown = stuck.slice(0, SHOWN_KEYS).map(showKey).join(', ');
    this.#migration.tally.troubles.push({
      slot,
      code: 'KEY_CONFLICT',
      message: `${stuck.length} keys differ between ${nameOf(source)} and ${nameOf(target)} and stay on both: ${shown}; the slot is left open`,
    });
  }

  /** The first keys of a slot, as many as make a batch. Their sizes are those of the sample. */
  async list(slot: number, except: ReadonlyMap<string, Buffer> = new Map()): Promise<Listing> {
    const count = this.#batchKeys() + except.size;
    const { context, command } = this.#migration;
    const args = ['CLUSTER', 'GETKEYSINSLOT', String(slot), String(count)];
    const listed = (await context.redis.call(command.source.endpoint, args, { binary: true })) as readonly Buffer[];
    const keys = except.size === 0 ? listed : listed.filter((key) => !except.has(key.toString('latin1')));
    const bytes = this.#sample.bytesPerKey;
    return { slot, keys: keys.map((key) => ({ key, bytes })), complete: listed.length < count };
  }

  /** By number of keys where sizes are not known one by one: from the mean of the sample. */
  #batchKeys(): number {
    const { keys, bytes } = this.#pacing.limit();
    if (this.#sample.bytesPerKey <= 0) return keys;
    return Math.max(1, Math.min(keys, Math.floor(bytes / this.#sample.bytesPerKey)));
  }

  /** True when it went smoothly; false when the slot must be listed again to know what is left. */
  async #moveBatch(
    slot: number,
    batch: readonly SizedKey[],
    stuck: Map<string, Buffer>,
    patience: Patience,
  ): Promise<boolean> {
    const keys = batch.map(({ key }) => key);
    try {
      const reply = await this.#migrate(slot, keys, false);
      patience.reset();
      // NOKEY: clients deleted them, or an earlier try took them.
      if (reply !== 'NOKEY') this.#count(batch);
      return true;
    } catch (error) {
      if (causeOf(error) === 'on-both-sides') await this.#settle(slot, batch, stuck, patience);
      else await this.#makeGood(keys, error, patience);
      return false;
    }
  }

  /** One by one: the batch had at least one key that the target has, too; the others of it were moved. */
  async #settle(
    slot: number,
    batch: readonly SizedKey[],
    stuck: Map<string, Buffer>,
    patience: Patience,
  ): Promise<void> {
    for (const one of batch) {
      try {
        if ((await this.#migrate(slot, [one.key], false)) !== 'NOKEY') this.#count([one]);
      } catch (error) {
        if (causeOf(error) !== 'on-both-sides') return this.#makeGood([one.key], error, patience);
        const verdict = await this.#conflicts.judge(slot, one.key);
        if (verdict === 'conflict') stuck.set(one.key.toString('latin1'), one.key);
        if (verdict === 'overwrite' && (await this.#migrate(slot, [one.key], true)) !== 'NOKEY') this.#count([one]);
      }
    }
  }

  /** Waits until another try makes sense; throws when there were enough of them, or none makes sense. */
  async #makeGood(keys: readonly Buffer[], error: unknown, patience: Patience): Promise<void> {
    const cause = causeOf(error);
    if (cause !== 'broken-off' && cause !== 'passing') throw explain(error, cause, this.#migration.command);
    if (cause === 'broken-off') {
      this.#conflicts.doubt(keys);
      await this.#untilTargetAnswers(error);
    }
    if (!(await patience.again())) throw explain(error, cause, this.#migration.command);
  }

  #count(moved: readonly SizedKey[]): void {
    this.#migration.tally.keys += moved.length;
    for (const { bytes } of moved) this.#migration.tally.bytes += bytes;
  }

  async #migrate(slot: number, keys: readonly Buffer[], replace: boolean): Promise<unknown> {
    const { context, command, targetSeenBySource, standing } = this.#migration;
    await standing.prove([slot]);
    const { host, port } = targetSeenBySource;
    const args: Arg[] = ['MIGRATE', host, String(port), '', '0', String(this.#stepMs)];
    if (replace) args.push('REPLACE');
    args.push(...context.redis.migrateAuth(), 'KEYS');
    for (const key of keys) args.push(asArgument(key));
    const timeoutMs = this.#stepMs + CALL_MARGIN_MS;
    return this.#pacing.run(() => context.redis.call(command.source.endpoint, args, { lane: 'bulk', timeoutMs }));
  }

  /**
   * Every further MIGRATE to a dead target would block the source until its timeout, so we ask the target ourselves
   * first, and give it the time of a restart.
   */
  async #untilTargetAnswers(cause: unknown): Promise<void> {
    const { clock, redis } = this.#migration.context;
    const { target } = this.#migration.command;
    const until = clock.now() + TARGET_PATIENCE_MS;
    for (;;) {
      const id = await redis.call(target.endpoint, ['CLUSTER', 'MYID']).catch(() => undefined);
      if (id === target.id) return;
      if (clock.now() >= until || id !== undefined) throw explain(cause, 'broken-off', this.#migration.command);
      await clock.sleep(LOOK_FOR_TARGET_MS);
    }
  }
}

/**
 * Keys are bytes. Those that are plain ASCII go out as text all the same: the client joins texts into one write, but
 * hands each Buffer to the kernel as a piece of its own, which for a hundred small keys costs more than moving them.
 */
function asArgument(key: Buffer): Arg {
  return isAscii(key) ? key.toString('latin1') : key;
}
