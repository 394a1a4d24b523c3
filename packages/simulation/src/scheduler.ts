/**
 * The seeded scheduler. Let the program run until it only waits; do one of the effects it waits for; again.
 * The virtual clock moves only when no effect is ready. Which effect, and whether an accident comes in its way,
 * is asked of the choices.
 */
import type { Choices } from './choices.ts';
import type { Coverage } from './coverage.ts';
import { Heap } from './heap.ts';
import type { Trace } from './trace.ts';
import { type EffectOptions, type FaultKind, SimulatedFault, type WorldEvent } from './world.ts';

/** How long a `delay` can be: some shorter, some longer than the usual time limits of callers. */
const DELAYS_MS = [1, 20, 300, 3_000, 15_000];
/** At so many effects of a label it is noted, for coverage, which world events could come. */
const LOOKS_AT_OFFER = 2;

/** Who asks for effects. Dead owners are never answered. */
export interface Owner {
  readonly name: string;
  alive: boolean;
  /** What its effects may suffer; empty for the world's own. */
  readonly faults: readonly FaultKind[];
  readonly open: Set<Pending>;
  readonly channels: Map<string, Pending[]>;
  crash(): void;
}

export interface Pending {
  readonly owner: Owner;
  readonly label: string;
  readonly options: EffectOptions<unknown>;
  readonly isTimer: boolean;
  readonly since: number;
  readonly order: number;
  readyAt: number;
  isDone: boolean;
  timeout: Pending | undefined;
  /** Undefined once the caller was answered (or gave up): it is then done for nobody. */
  answer: { resolve(value: unknown): void; reject(error: unknown): void } | undefined;
}

/** Whether and which accidents may come now. */
export interface Accidents {
  armed(): boolean;
  events(): readonly WorldEvent[];
}

export class Scheduler {
  /** Virtual milliseconds since the start of the run. */
  elapsed = 0;
  steps = 0;
  /** When the last accident ended (a delay ends when the effect is due). */
  lastAccidentAt = 0;
  accidentCount = 0;
  readonly choices: Choices;
  readonly #trace: Trace;
  readonly #coverage: Coverage;
  readonly #accidents: Accidents;
  readonly #ready: Pending[] = [];
  readonly #later = new Heap<Pending>(
    (a, b) => a.readyAt < b.readyAt || (a.readyAt === b.readyAt && a.order < b.order),
  );
  #conditional = 0;
  #orders = 0;

  constructor(choices: Choices, trace: Trace, coverage: Coverage, accidents: Accidents) {
    this.choices = choices;
    this.#trace = trace;
    this.#coverage = coverage;
    this.#accidents = accidents;
  }

  effect<T>(owner: Owner, label: string, options: EffectOptions<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (!owner.alive) return; // a dead process is never answered
      const pending = this.#add(owner, label, options, false, { resolve: resolve as (value: unknown) => void, reject });
      if (options.timeoutMs === undefined) return;
      const giveUp = () => {
        const failure = failureOf(pending, 'timeout');
        this.#answer(pending, () => reject(failure));
      };
      pending.timeout = this.timer(owner, 'timeout', options.timeoutMs, giveUp);
    });
  }

  /** Calls `fire` after `ms`, unless it is cancelled or its owner dies. */
  timer(owner: Owner, label: string, ms: number, fire: () => void): Pending {
    return this.#add(owner, label, { apply: fire, latencyMs: Math.max(0, ms) || 0 }, true, undefined);
  }

  cancel(pending: Pending): void {
    this.#finish(pending);
  }

  /**
   * What a dying process had under way: its timers are gone; each request may have been lost, or still arrives
   * (then all requests before it on its channel arrive too). `keep`: all of them arrive.
   */
  abandon(owner: Owner, keep: boolean): void {
    owner.alive = false;
    const lostChannels = new Set<string>();
    for (const pending of owner.open) {
      pending.answer = undefined;
      const channel = pending.options.channel;
      const isBehindLost = channel !== undefined && lostChannels.has(channel);
      const arrives = !pending.isTimer && !isBehindLost && (keep || this.choices.pick(2) === 1);
      if (arrives) continue;
      if (channel !== undefined) lostChannels.add(channel);
      this.#finish(pending);
    }
  }

  /** Does one effect. False when there is none and no timer: nothing can happen any more. */
  step(): boolean {
    const pending = this.#next();
    if (!pending) return false;
    this.steps++;
    this.#coverage.effect(pending.label);
    const { owner, label } = pending;
    const isExposed = owner.faults.length > 0 && owner.alive && (pending.isTimer || pending.answer !== undefined);
    if (isExposed) {
      const faults = faultsOf(pending);
      if (!this.#accidents.armed()) this.#coverage.spared(label);
      else {
        this.#coverage.possible(label, faults);
        // To ask for them at every effect would cost more than the effect.
        if (this.#coverage.count(label) <= LOOKS_AT_OFFER) {
          this.#coverage.offered(
            label,
            this.#accidents.events().map((event) => event.kind),
          );
        }
        let events: readonly WorldEvent[] = [];
        const struck = this.choices.strike(label, () => {
          events = this.#accidents.events();
          return [...faults, ...events.map((event) => event.kind)];
        });
        const event = struck > faults.length ? events[struck - faults.length - 1] : undefined;
        const fault = faults[struck - 1];
        if (event) {
          this.#ready.unshift(pending);
          this.#strike(pending, event.kind);
          this.#trace.add({
            at: this.elapsed,
            who: 'world',
            what: event.kind,
            detail: event.detail ?? '',
            outcome: `before ${label}`,
          });
          event.apply();
          return true;
        }
        if (fault) {
          this.#strike(pending, fault);
          this.#suffer(pending, fault);
          return true;
        }
      }
    }
    this.#apply(pending, 'ok');
    return true;
  }

  passes(landmark: string): void {
    this.#coverage.effect(landmark);
  }

  /** A line in the trace that is no effect: what a process says. */
  note(who: string, text: string): void {
    this.#trace.add({ at: this.elapsed, who, what: 'says', detail: '', outcome: text });
  }

  /** Who waits for what, since when: for the report of a run that is stuck. */
  waiting(owners: Iterable<Owner>): readonly string[] {
    return [...owners].flatMap((owner) =>
      [...owner.open]
        .filter((pending) => pending.answer !== undefined || pending.isTimer)
        .map((pending) => `${owner.name} waits for ${pending.label}${detailOf(pending)} since +${pending.since} ms`),
    );
  }

  #add(
    owner: Owner,
    label: string,
    options: EffectOptions<unknown>,
    isTimer: boolean,
    answer: Pending['answer'],
  ): Pending {
    const readyAt = this.elapsed + (options.latencyMs ?? 0);
    const order = this.#orders++;
    const pending: Pending = {
      owner,
      label,
      options,
      isTimer,
      since: this.elapsed,
      order,
      readyAt,
      isDone: false,
      timeout: undefined,
      answer,
    };
    if (!owner.alive) {
      pending.isDone = true;
      return pending;
    }
    owner.open.add(pending);
    if (options.when) this.#conditional++;
    const { channel } = options;
    if (channel === undefined) {
      this.#queue(pending);
      return pending;
    }
    const line = owner.channels.get(channel);
    if (line) line.push(pending);
    else {
      owner.channels.set(channel, [pending]);
      this.#queue(pending);
    }
    return pending;
  }

  #queue(pending: Pending): void {
    if (pending.readyAt <= this.elapsed) this.#ready.push(pending);
    else this.#later.push(pending);
  }

  #next(): Pending | undefined {
    for (;;) {
      const ready = this.#ready;
      const able =
        this.#conditional === 0
          ? ready
          : ready.filter((pending) => pending.isDone || !pending.options.when || pending.options.when());
      if (able.length > 0) {
        const picked = able[this.choices.pick(able.length)] as Pending;
        ready.splice(ready.indexOf(picked), 1);
        if (picked.isDone) continue; // cancelled meanwhile
        return picked;
      }
      let first = this.#later.peek();
      while (first?.isDone) {
        this.#later.pop();
        first = this.#later.peek();
      }
      if (!first) return undefined;
      this.elapsed = first.readyAt;
      while (first && first.readyAt === this.elapsed) {
        this.#later.pop();
        if (!first.isDone) ready.push(first);
        first = this.#later.peek();
      }
    }
  }

  #suffer(pending: Pending, fault: FaultKind): void {
    const { owner, options } = pending;
    switch (fault) {
      case 'delay': {
        const ms = DELAYS_MS[this.choices.pick(DELAYS_MS.length)] ?? 0;
        pending.readyAt = this.elapsed + ms;
        this.lastAccidentAt = Math.max(this.lastAccidentAt, pending.readyAt);
        this.#record(pending, `delay ${ms} ms`);
        this.#later.push(pending);
        return;
      }
      case 'fail-before':
      case 'crash-before': {
        const quarters = options.torn ? this.choices.pick(4) : 0;
        if (quarters > 0) options.torn?.(quarters / 4);
        this.#record(pending, quarters > 0 ? `${fault}, torn` : fault);
        break;
      }
      case 'fail-after':
      case 'crash-after':
        this.#attempt(pending, fault);
        break;
    }
    if (fault === 'fail-before' || fault === 'fail-after') {
      const failure = failureOf(pending, fault);
      const reject = pending.answer?.reject;
      this.#answer(pending, () => reject?.(failure));
      this.#finish(pending);
    } else {
      this.#finish(pending);
      owner.crash();
    }
  }

  #apply(pending: Pending, note: string): void {
    const result = this.#attempt(pending, note);
    const answer = pending.answer;
    if (answer) this.#answer(pending, () => (result.ok ? answer.resolve(result.value) : answer.reject(result.error)));
    this.#finish(pending);
  }

  #attempt(pending: Pending, note: string): { ok: true; value: unknown } | { ok: false; error: unknown } {
    try {
      const value = pending.options.apply();
      this.#record(pending, note);
      return { ok: true, value };
    } catch (error) {
      this.#record(
        pending,
        `${note === 'ok' ? '' : `${note}, `}refused: ${error instanceof Error ? error.message : String(error)}`,
      );
      return { ok: false, error };
    }
  }

  #answer(pending: Pending, how: () => void): void {
    if (!pending.answer || !pending.owner.alive) return;
    pending.answer = undefined;
    if (pending.timeout) this.#finish(pending.timeout);
    how();
  }

  /** Takes it out of every list (heap and ready list drop it when they come to it) and lets the next of its channel come. */
  #finish(pending: Pending): void {
    if (pending.isDone) return;
    pending.isDone = true;
    const { owner, options } = pending;
    owner.open.delete(pending);
    if (pending.timeout) this.#finish(pending.timeout);
    if (options.when) this.#conditional--;
    if (options.channel === undefined) return;
    const line = owner.channels.get(options.channel);
    if (!line) return;
    const wasHead = line[0] === pending;
    line.splice(line.indexOf(pending), 1);
    const head = line[0];
    if (!head) owner.channels.delete(options.channel);
    else if (wasHead) this.#queue(head);
  }

  #strike(pending: Pending, accident: string): void {
    this.accidentCount++;
    this.lastAccidentAt = Math.max(this.lastAccidentAt, this.elapsed);
    this.#coverage.struck(pending.label, accident);
  }

  #record(pending: Pending, outcome: string): void {
    this.#trace.add({
      at: this.elapsed,
      who: pending.owner.name,
      what: pending.label,
      detail: pending.options.detail ?? '',
      outcome: pending.answer || pending.isTimer ? outcome : `${outcome}, nobody waits`,
    });
  }
}

/** A timer can only come late or never. */
function faultsOf(pending: Pending): readonly FaultKind[] {
  const faults = pending.options.faults
    ? pending.owner.faults.filter((fault) => pending.options.faults?.includes(fault))
    : pending.owner.faults;
  return pending.isTimer ? faults.filter((fault) => fault === 'delay' || fault === 'crash-before') : faults;
}

function failureOf(pending: Pending, kind: 'fail-before' | 'fail-after' | 'timeout'): unknown {
  return pending.options.failure?.(kind) ?? new SimulatedFault(kind, pending.label);
}

function detailOf(pending: Pending): string {
  return pending.options.detail === undefined ? '' : ` (${pending.options.detail})`;
}
