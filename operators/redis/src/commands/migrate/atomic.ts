/**
 * Valkey 9's atomic slot migration: the source forks, streams the slots to the target, pauses writes for a moment and
 * hands over. One command for all ranges of a pair; we start, watch and, when it fails, try again, then with fewer slots
 * at a time. What cannot be moved this way is returned for the other engine.
 */
import { RedisReplyError } from '../../api/port.ts';
import type { AtomicJob } from '../../api/view.ts';
import { countSlots, formatSlots, intersectSlots, minusSlots, type SlotRanges, takeSlots } from '../../api/slots.ts';
import { hasEnded, jobsOf } from '../../observe/jobs.ts';
import { nameOf, StaleEvidence, tableOf } from '../evidence.ts';
import { causeOf } from './migrate-errors.ts';
import { cannotGoOn, type Migration } from './migration.ts';
import { isSilence, Patience } from './retry.ts';

/** Looked at so often that its end is seen late by a twentieth of its time at most, or by the first number. */
const FIRST_LOOK_MS = 5;
const LAST_LOOK_MS = 50;
const LATE_BY = 0.05;
/** Failures in a row, all sizes together, before the other engine takes over. */
const MOST_FAILURES = 6;
/** Retries with the same slots before they are halved. */
const RETRIES_AT_SIZE = 1;
const AGREE_MS = 5_000;
/** How long slots that somebody has open by hand (another pair, with MIGRATE) are waited for: no atomic job starts beside them. */
const OPEN_BY_HAND_MS = 20_000;
const LOOK_FOR_OPEN_MS = 200;
/** A job that only connects or logs in for so long never will (valkey-operator#305). */
const STUCK_CONNECTING_MS = 30_000;
const MOST_SILENCE = 20;

export async function moveAtomically(migration: Migration, slots: SlotRanges): Promise<SlotRanges> {
  return new AtomicMove(migration, slots).run();
}

class AtomicMove {
  readonly #migration: Migration;
  /** Names of the jobs that we started or adopted. */
  readonly #ours = new Set<string>();
  #left: SlotRanges;
  #most: number;
  #failures = 0;
  #failuresAtSize = 0;
  #denied = false;

  constructor(migration: Migration, slots: SlotRanges) {
    this.#migration = migration;
    this.#left = slots;
    this.#most = countSlots(slots);
  }

  /** The slots that are still on the source when this engine gives up; none when all arrived. */
  async run(): Promise<SlotRanges> {
    const { clock } = this.#migration.context;
    const patience = new Patience(this.#migration.context, MOST_FAILURES);
    const until = clock.now() + OPEN_BY_HAND_MS;
    while (countSlots(this.#left) > 0 && !this.#migration.signal.aborted) {
      const jobs = await this.#jobs();
      const job = this.#adopt(jobs) ?? (await this.#start(jobs));
      const ended = typeof job === 'string' ? job : await this.#watch(job);
      if (ended === 'success') {
        await this.#settle();
        this.#failures = 0;
        patience.reset();
        continue;
      }
      if (this.#migration.signal.aborted) break;
      if (OPEN_BY_HAND.test(ended) && clock.now() < until) {
        this.#migration.tally.note = 'waits for slots that are open on one of the nodes';
        await clock.sleep(LOOK_FOR_OPEN_MS);
        continue;
      }
      this.#noteFailure(ended);
      await this.#refresh();
      if (this.#denied || OPEN_BY_HAND.test(ended) || !(await patience.again())) return this.#left;
    }
    return this.#migration.signal.aborted ? this.#left : [];
  }

  #noteFailure(why: string): void {
    this.#failures++;
    this.#failuresAtSize++;
    const { tally } = this.#migration;
    tally.note = `atomic migration failed (${this.#failures}): ${why}`;
    if (this.#failures === 1 || this.#failures >= MOST_FAILURES) {
      const times = this.#failures === 1 ? '' : ` ${this.#failures} times`;
      tally.remarks.push(`atomic migration failed${times}: ${why}${hintFor(why)}`);
    }
    if (this.#failuresAtSize <= RETRIES_AT_SIZE || this.#most <= 1) return;
    this.#most = Math.ceil(this.#most / 2);
    this.#failuresAtSize = 0;
  }

  async #jobs(): Promise<readonly AtomicJob[]> {
    const { context, command } = this.#migration;
    return jobsOf(await context.redis.call(command.source.endpoint, ['CLUSTER', 'GETSLOTMIGRATIONS']));
  }

  /** A job that runs already for slots of ours, left by a tool that was killed: watched instead of started anew. */
  #adopt(jobs: readonly AtomicJob[]): AtomicJob | undefined {
    const { command, tally } = this.#migration;
    const running = jobs.filter((job) => job.operation === 'export' && !hasEnded(job));
    const touching = running.filter((job) => countSlots(intersectSlots(job.slots, this.#left)) > 0);
    for (const job of touching) {
      const foreign = job.targetId !== command.target.id || countSlots(minusSlots(job.slots, this.#left)) > 0;
      if (!foreign) continue;
      throw new StaleEvidence(
        `${nameOf(command.source)} is moving slots ${formatSlots(job.slots)} to ${job.targetId.slice(0, 8)} already`,
      );
    }
    const [job] = touching;
    if (job && !this.#ours.has(job.name)) {
      tally.remarks.push(`took over an atomic migration that was running: slots ${formatSlots(job.slots)}`);
      this.#ours.add(job.name);
    }
    return job;
  }

  /** The job, or why there is none. */
  async #start(jobs: readonly AtomicJob[]): Promise<AtomicJob | string> {
    const { context, command } = this.#migration;
    const before = new Set(jobs.map((job) => job.name));
    const slots = takeSlots(this.#left, this.#most);
    const ranges = slots.flatMap(([first, last]) => [String(first), String(last)]);
    await this.#migration.standing.untilBelieved();
    try {
      await context.redis.call(command.source.endpoint, [
        'CLUSTER',
        'MIGRATESLOTS',
        'SLOTSRANGE',
        ...ranges,
        'NODE',
        command.target.id,
      ]);
    } catch (error) {
      // A user that may not start one now may not in a second either: straight to the other engine.
      if (causeOf(error) === 'denied') this.#denied = true;
      // Whether it started after all shows in the list of jobs: the next turn adopts it.
      return error instanceof Error ? error.message : String(error);
    }
    const wanted = formatSlots(slots);
    const job = (await this.#jobs()).find(
      (candidate) => !before.has(candidate.name) && formatSlots(candidate.slots) === wanted,
    );
    if (!job) return 'the server took the command but shows no job';
    this.#ours.add(job.name);
    return job;
  }

  /** `success`, or why not. */
  async #watch(job: AtomicJob): Promise<string> {
    const { clock } = this.#migration.context;
    const began = clock.now();
    let state = '';
    let since = began;
    let silence = 0;
    let cancelled = false;
    for (;;) {
      const now = await this.#jobs().then(
        (jobs) => ({ job: jobs.find((candidate) => candidate.name === job.name) }),
        (error: unknown) => {
          if (!isSilence(error) || ++silence > MOST_SILENCE) throw error;
          return undefined;
        },
      );
      if (now && !now.job) return 'the server no longer knows the job (it was restarted)';
      if (now?.job) {
        silence = 0;
        if (hasEnded(now.job))
          return now.job.state === 'success' ? 'success' : `${now.job.state} ${now.job.message}`.trim();
        if (now.job.state !== state) {
          state = now.job.state;
          since = clock.now();
          this.#migration.tally.note = noteFor(state);
        }
        const { aborted } = this.#migration.signal;
        const stuck = isConnecting(state) && clock.now() - since > STUCK_CONNECTING_MS;
        if ((aborted || stuck) && !cancelled) {
          cancelled = true;
          if (!(await this.#cancel())) return `left to itself in state ${state}`;
        }
      }
      await clock.sleep(untilNextLook(clock.now() - began));
    }
  }

  /** The server cancels all jobs of a source at once: only when all of them are ours. */
  async #cancel(): Promise<boolean> {
    const { context, command, tally } = this.#migration;
    const running = (await this.#jobs()).filter((job) => job.operation === 'export' && !hasEnded(job));
    if (!running.every((job) => this.#ours.has(job.name))) {
      tally.remarks.push('an atomic migration goes on by itself: it cannot be cancelled without others of the source');
      return false;
    }
    await context.redis.call(command.source.endpoint, ['CLUSTER', 'CANCELSLOTMIGRATIONS']).catch((error: unknown) => {
      if (!(error instanceof RedisReplyError)) throw error; // it ended just now: nothing to cancel
    });
    return true;
  }

  /** After a success: until source and target agree. Afterwards only what the source still owns is left. */
  async #settle(): Promise<void> {
    const { clock } = this.#migration.context;
    const began = clock.now();
    while (!(await this.#refresh())) {
      if (clock.now() - began >= AGREE_MS) {
        const { source, target } = this.#migration.command;
        throw cannotGoOn(
          'ATOMIC_FAILED',
          `an atomic migration succeeded, but ${nameOf(source)} and ${nameOf(target)} do not agree on the owner`,
        );
      }
      await clock.sleep(untilNextLook(clock.now() - began));
    }
  }

  /** Reads who owns what; false when a slot that left the source is not the target's (yet). */
  async #refresh(): Promise<boolean> {
    const { context, command, tally } = this.#migration;
    const [source, target] = await Promise.all([tableOf(context, command.source), tableOf(context, command.target)]);
    const gone = minusSlots(this.#left, source.self.slots);
    const arrived = intersectSlots(gone, target.self.slots);
    this.#left = minusSlots(this.#left, arrived);
    tally.slots += countSlots(arrived);
    return countSlots(gone) === countSlots(arrived);
  }
}

/** The servers' own words for it. */
const OPEN_BY_HAND = /manually (?:imported|migrated)/;

function untilNextLook(elapsedMs: number): number {
  return Math.min(LAST_LOOK_MS, Math.max(FIRST_LOOK_MS, elapsedMs * LATE_BY));
}

function isConnecting(state: string): boolean {
  return /connect|auth|establish/.test(state);
}

function noteFor(state: string): string {
  return state === 'waiting-to-snapshot'
    ? 'waiting to snapshot (another child process of the source may be running)'
    : state;
}

/** What is known about failures of this kind. */
function hintFor(why: string): string {
  if (/auth|perm/i.test(why))
    return ' (the nodes’ own user must be allowed the commands that replication needs, SELECT among them)';
  if (/buffer|overrun/i.test(why))
    return ' (client-output-buffer-limit replica is too small for the writes made meanwhile)';
  if (/fork|memory|OOM/i.test(why)) return ' (the source could not fork: too little memory)';
  if (/connection|lost|timed? ?out/i.test(why)) return ' (with io-threads and many writes see valkey#4545)';
  return '';
}
