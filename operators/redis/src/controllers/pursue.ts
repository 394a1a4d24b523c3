/** The loop: observe, plan, execute, until the goal holds, a plan refuses, a limit is reached or the signal says stop. */
import {
  asReeveError,
  canonicalJson,
  failed,
  type Handle,
  type InFlight,
  isHandle,
  isReached,
  type Outcome,
  type Plan,
  ReeveError,
  type Refusal,
  type Waiting,
} from '@reeve/runtime';
import type { RedisCommand } from '../api/commands.ts';
import type { Operation } from '../api/operation.ts';
import type { ClusterView, Endpoint } from '../api/view.ts';
import { judgeServer } from '../plan/create-nodes.ts';
import { reported } from '../plan/topology.ts';
import type { Environment } from './environment.ts';
import { Fillings } from './fillings.ts';
import type { Journal } from './journal.ts';
import { observeFor } from './observing.ts';

export type LoopEnd =
  | { readonly status: 'reached'; readonly view: ClusterView }
  | {
      readonly status: 'refused';
      readonly refused: readonly Refusal[];
      readonly view: ClusterView;
      readonly started: true;
    }
  | {
      readonly status: 'stopped';
      readonly code: string;
      readonly message: string;
      readonly waitingFor: readonly Waiting[];
    }
  | { readonly status: 'interrupted' };

const FIRST_LOOK_MS = 20;
const LAST_LOOK_MS = 500;
const PROGRESS_MS = 250;
const MOST_INCOMPLETE = 3;
const DEFAULT_WAIT_LIMIT_MS = 120_000;
const DEFAULT_FAILURE_LIMIT = 5;
/** A stale command costs nothing and is planned anew, but not for ever. */
const STALE_LIMIT = 50;
/** Nor does a command that is done again and again and changes nothing: a MEET whose bus port is blocked. */
const REPEAT_LIMIT = 300;
/** How often it may be done at full speed, and how much longer each further time waits: two minutes to the limit. */
const REPEATS_AT_ONCE = 3;
const REPEAT_PAUSE_MS = 5;

interface Running {
  readonly number: number;
  readonly command: RedisCommand;
  readonly startedAt: number;
  readonly handle: Handle;
  outcome?: Outcome;
}

/** What the loop remembers between turns: only what bounds it. Losing it at a crash loses nothing. */
class Attempts {
  readonly #failures = new Map<string, number>();
  stales = 0;
  readonly #repeats = new Map<string, number>();
  /** How often the command noted last was done in this run. */
  repeats = 0;

  /** Before the next try of what was done already, more than once, and had no effect. */
  get pauseMs(): number {
    return Math.min(LAST_LOOK_MS, REPEAT_PAUSE_MS * Math.max(0, this.repeats - REPEATS_AT_ONCE));
  }

  note(command: RedisCommand, outcome: Outcome): number {
    const name = canonicalJson({ ...command, why: '' });
    if (outcome.status === 'done') {
      this.repeats = (this.#repeats.get(name) ?? 0) + 1;
      this.#repeats.set(name, this.repeats);
      this.stales = 0;
      this.#failures.delete(name);
      return 0;
    }
    this.repeats = 0;
    if (outcome.status === 'stale') {
      this.stales++;
      return 0;
    }
    const failures = (this.#failures.get(name) ?? 0) + 1;
    this.#failures.set(name, failures);
    return failures;
  }
}

/** `seen`: a view made just now, for the first turn. */
export async function pursue<Request, Goal>(
  operation: Operation<Request, Goal>,
  goal: Goal,
  environment: Environment,
  journal: Journal | undefined,
  seen?: ClusterView,
): Promise<LoopEnd> {
  return new Pursuit(operation, goal, environment, journal).run(seen);
}

class Pursuit<Request, Goal> {
  readonly #operation: Operation<Request, Goal>;
  readonly #goal: Goal;
  readonly #environment: Environment;
  readonly #journal: Journal | undefined;
  readonly #running = new Map<number, Running>();
  readonly #attempts = new Attempts();
  readonly #fillings = new Fillings();
  #number = 0;
  #lastChange = Number.NEGATIVE_INFINITY;
  #wake: (() => void) | undefined;
  #addresses: readonly Endpoint[] = [];
  #shownReasons = '';
  readonly #answered = new Set<string>();
  /** Looks by which the goal was reached, but which missed somebody. */
  #incomplete = 0;
  /** Ends the running work when the loop ends, for whatever reason. */
  readonly #work = new AbortController();

  constructor(operation: Operation<Request, Goal>, goal: Goal, environment: Environment, journal: Journal | undefined) {
    this.#operation = operation;
    this.#goal = goal;
    this.#environment = environment;
    this.#journal = journal;
  }

  async run(seen: ClusterView | undefined): Promise<LoopEnd> {
    const { clock } = this.#environment.ports;
    const { signal } = this.#environment;
    signal.addEventListener('abort', () => this.#work.abort(signal.reason), { once: true });
    let waitName = '';
    let waitingSince = clock.now();
    let look = FIRST_LOOK_MS;
    let failure: { code: string; message: string } | undefined;
    let first = seen;
    for (;;) {
      failure = (await this.#collect()) ?? failure;
      if (this.#environment.signal.aborted) return this.#interrupted();
      if (failure) return this.#stopped(failure.code, failure.message, []);

      const isOfDecision = first !== undefined;
      const view = first ? this.#remember(first) : await this.#observe();
      first = undefined;
      if (!view) continue;
      const inFlight = [...this.#running.values()].map((running) => this.#inFlight(running));
      // A resumed goal was decided on other servers, perhaps, and any server may be replaced while we run.
      const unfit = reported(view).flatMap(judgeServer);
      const plan: Plan<RedisCommand> =
        unfit.length > 0
          ? { commands: [], refused: unfit }
          : this.#operation.plan(this.#goal, view, clock.now(), inFlight);

      if (plan.refused?.length) {
        await this.#drain();
        await this.#journal?.append({ entry: 'stopped', reason: plan.refused.map((r) => r.code).join(', ') });
        return { status: 'refused', refused: plan.refused, view, started: true };
      }
      if (isReached(plan) && this.#running.size === 0) {
        // What was seen before the decision may begin the work, but not end it.
        if (isOfDecision || this.#missesSomebody(view)) {
          await this.#pause(clock.now() + FIRST_LOOK_MS);
          continue;
        }
        await this.#journal?.append({ entry: 'reached' });
        return { status: 'reached', view };
      }
      if (plan.commands.length > 0) {
        failure = await this.#start(plan.commands);
        waitName = '';
        look = FIRST_LOOK_MS;
        // Long work runs on by itself; anything else is looked at right away.
        if (this.#running.size > 0) await this.#pause(plan.wakeAt ?? clock.now() + LAST_LOOK_MS, plan.complete);
        else await this.#pause(clock.now() + this.#attempts.pauseMs);
        continue;
      }

      const waiting = plan.waitingFor ?? [];
      const name = canonicalJson(waiting.map((w) => [w.reason, w.subjects]));
      if (name !== waitName) {
        waitName = name;
        waitingSince = clock.now();
        look = FIRST_LOOK_MS;
        this.#showWaiting(waiting);
      }
      if (this.#fillings.isAllThatIsWaitedFor(waiting)) waitingSince = clock.now();
      const limit = this.#environment.waitLimitMs ?? DEFAULT_WAIT_LIMIT_MS;
      if (this.#running.size === 0 && clock.now() - waitingSince > limit) {
        const what = waiting.map((w) => w.message).join('; ');
        return this.#stopped('WAIT_LIMIT', `waited ${Math.round(limit / 1000)} s for: ${what}`, waiting);
      }
      const until = Math.min(plan.wakeAt ?? Number.POSITIVE_INFINITY, clock.now() + look);
      if (this.#running.size > 0) await this.#pause(clock.now() + LAST_LOOK_MS, plan.complete);
      else await this.#pause(Math.max(until, clock.now() + 1));
      look = Math.min(look * 1.5, LAST_LOOK_MS);
    }
  }

  /** A view that began after the last change, or undefined when something ended meanwhile: an old view never judges a new world. */
  async #observe(): Promise<ClusterView | undefined> {
    // Besides the addresses given, those of the members seen last: any of them may be down by now, or no member any more.
    const environment = { ...this.#environment, seeds: [...this.#environment.seeds, ...this.#addresses] };
    const view = await observeFor(environment, (seen) => this.#operation.goalNeeds(this.#goal, seen));
    this.#remember(view);
    return view.observedAt >= this.#lastChange ? view : undefined;
  }

  #remember(view: ClusterView): ClusterView {
    this.#fillings.saw(view);
    for (const { id, report } of view.nodes) if (report.known) this.#answered.add(id);
    if (view.nodes.some((node) => node.report.known)) this.#addresses = view.nodes.map((node) => node.endpoint);
    return view;
  }

  /** Whether somebody is silent who answered in this run: a read that failed once is no proof of anything. Thrice it is taken for what it seems. */
  #missesSomebody(view: ClusterView): boolean {
    const misses = view.nodes.some(({ id, report }) => !report.known && this.#answered.has(id));
    return misses && ++this.#incomplete < MOST_INCOMPLETE;
  }

  #inFlight(running: Running): InFlight<RedisCommand> {
    const progress = running.handle.progress();
    return { command: running.command, startedAt: running.startedAt, ...(progress ? { progress } : {}) };
  }

  async #start(commands: readonly RedisCommand[]): Promise<{ code: string; message: string } | undefined> {
    const { clock } = this.#environment.ports;
    const started = commands.map((command) => ({ command, number: ++this.#number }));
    for (const { command, number } of started) {
      await this.#journal?.append({ entry: 'started', number, command });
      this.#environment.report?.({ event: 'started', number, command });
    }
    // Commands of one plan are independent of each other by contract: they go out together.
    const results = await Promise.all(
      started.map(async ({ command, number }) => {
        const result = await this.#environment.executor.start(command, this.#work.signal);
        return { command, number, result };
      }),
    );
    let failure: { code: string; message: string } | undefined;
    for (const { command, number, result } of results) {
      if (isHandle(result)) {
        const running: Running = { number, command, startedAt: clock.now(), handle: result };
        this.#running.set(number, running);
        result.settled.then(
          (outcome) => this.#settle(running, outcome),
          (error: unknown) => {
            const known = asReeveError(error);
            this.#settle(running, failed(known.code, known.message));
          },
        );
      } else {
        this.#lastChange = clock.now();
        failure = (await this.#ended(number, command, result)) ?? failure;
      }
    }
    return failure;
  }

  #settle(running: Running, outcome: Outcome): void {
    running.outcome = outcome;
    this.#lastChange = this.#environment.ports.clock.now();
    this.#wake?.();
  }

  /** Takes in what ended since the last turn. */
  async #collect(): Promise<{ code: string; message: string } | undefined> {
    let failure: { code: string; message: string } | undefined;
    for (const running of [...this.#running.values()]) {
      if (!running.outcome) continue;
      this.#running.delete(running.number);
      failure = (await this.#ended(running.number, running.command, running.outcome)) ?? failure;
    }
    return failure;
  }

  async #ended(
    number: number,
    command: RedisCommand,
    outcome: Outcome,
  ): Promise<{ code: string; message: string } | undefined> {
    await this.#journal?.append({ entry: 'ended', number, outcome });
    const message = outcome.status === 'done' ? outcome.note : outcome.message;
    this.#environment.report?.({
      event: 'ended',
      number,
      command,
      status: outcome.status,
      ...(message === undefined ? {} : { message }),
    });
    const failures = this.#attempts.note(command, outcome);
    if (outcome.status === 'failed' && failures >= (this.#environment.failureLimit ?? DEFAULT_FAILURE_LIMIT)) {
      return { code: outcome.code, message: `${command.type} failed ${failures} times: ${outcome.message}` };
    }
    if (outcome.status === 'done' && this.#attempts.repeats >= REPEAT_LIMIT) {
      return {
        code: 'NO_EFFECT',
        message: `${command.type} was done ${REPEAT_LIMIT} times and changed nothing: ${command.why}`,
      };
    }
    if (outcome.status === 'stale' && this.#attempts.stales >= STALE_LIMIT) {
      return { code: 'ALWAYS_STALE', message: `the cluster keeps changing under ${command.type}: ${outcome.message}` };
    }
    if (outcome.status === 'failed') {
      // Bounded, growing pause before the plan tries again; the seed decides the jitter so that two tools part.
      const { clock, random } = this.#environment.ports;
      await clock.sleep(Math.min(2000, 50 * 2 ** failures) * (0.5 + random.next() / 2));
    }
    return undefined;
  }

  /** Sleeps until a moment, or until running work ends (some of it, or all); shows its progress meanwhile. */
  async #pause(until: number, forAll = false): Promise<void> {
    const { clock } = this.#environment.ports;
    const waking = new AbortController();
    const ended = () => {
      const outcomes = [...this.#running.values()].map(({ outcome }) => outcome !== undefined);
      return forAll ? outcomes.every(Boolean) && outcomes.length > 0 : outcomes.includes(true);
    };
    const stop = () => waking.abort();
    this.#wake = () => {
      if (ended()) stop();
    };
    this.#environment.signal.addEventListener('abort', stop, { once: true });
    while (!waking.signal.aborted && !ended() && !this.#environment.signal.aborted && clock.now() < until) {
      const slice = this.#running.size > 0 ? Math.min(PROGRESS_MS, until - clock.now()) : until - clock.now();
      await clock.sleep(slice, waking.signal).catch(() => undefined); // woken, not failed
      this.#showProgress();
    }
    this.#environment.signal.removeEventListener('abort', stop);
    this.#wake = undefined;
  }

  /** Once for each kind of wait: that one node fewer is waited for is progress, not news. */
  #showWaiting(waiting: readonly Waiting[]): void {
    const reasons = [...new Set(waiting.map(({ reason }) => reason))].sort().join();
    if (reasons === this.#shownReasons) return;
    this.#shownReasons = reasons;
    if (waiting.length > 0) this.#environment.report?.({ event: 'waiting', waitingFor: waiting });
  }

  #showProgress(): void {
    for (const running of this.#running.values()) {
      const progress = running.handle.progress();
      if (progress) this.#environment.report?.({ event: 'progress', number: running.number, ...progress });
    }
  }

  /** Waits for everything that runs: nothing of ours may go on after the loop ended. */
  async #drain(): Promise<void> {
    this.#work.abort(this.#environment.signal.reason ?? new ReeveError('INTERRUPTED', 'the operation stops'));
    await Promise.all([...this.#running.values()].map((running) => running.handle.settled.catch(() => undefined)));
    await this.#collect();
  }

  async #interrupted(): Promise<LoopEnd> {
    await this.#drain();
    await this.#journal?.append({ entry: 'stopped', reason: 'interrupted' });
    return { status: 'interrupted' };
  }

  async #stopped(code: string, message: string, waitingFor: readonly Waiting[]): Promise<LoopEnd> {
    await this.#drain();
    await this.#journal?.append({ entry: 'stopped', reason: code });
    return { status: 'stopped', code, message, waitingFor };
  }
}
