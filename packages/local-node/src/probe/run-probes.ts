/** The probes of one run of a container: asked in their rhythm, as long as the run lasts. */
import type { Clock } from '@reeve/runtime';
import { deadline, ReeveError } from '@reeve/runtime';
import type { ProbeVerdict } from '../pod/view.ts';
import type { PodContainer } from '../pod/progress.ts';
import {
  isFinal,
  type PodProbe,
  probed,
  type ProbeKind,
  type ProbeState,
  type ProbeTimes,
  timesOf,
  unprobed,
} from './state.ts';
import { askContainer, type Target } from './transport.ts';

/** The first pause before somebody who has just begun is asked again. */
const EAGER_MS = 50;

export interface Verdicts {
  readonly startup?: ProbeVerdict;
  readonly readiness?: ProbeVerdict;
  readonly liveness?: ProbeVerdict;
}

export interface RunProbesOptions {
  readonly clock: Clock;
  readonly container: PodContainer;
  readonly target: Target;
  readonly startedAt: number;
  /** A run taken over: what was known of it counts until something else is found. */
  readonly known: { readonly isStarted: boolean; readonly isReady: boolean };
  /** A verdict is another one. */
  changed(): void;
  /** A question was answered with no. */
  unhealthy(kind: ProbeKind, message: string): void;
}

export class RunProbes {
  readonly #options: RunProbesOptions;
  readonly #states = new Map<ProbeKind, ProbeState>();
  readonly #end = new AbortController();
  readonly #loops: Promise<void>[] = [];
  readonly #whenStarted = Promise.withResolvers<void>();

  constructor(options: RunProbesOptions) {
    this.#options = options;
    const { startupProbe, readinessProbe, livenessProbe } = options.container;
    const { isStarted, isReady } = options.known;
    const settled: ProbeState = { verdict: 'success', run: undefined };
    if (startupProbe) this.#states.set('startup', isStarted ? settled : unprobed);
    if (readinessProbe) this.#states.set('readiness', isReady ? settled : unprobed);
    if (livenessProbe) this.#states.set('liveness', unprobed);
    if (!startupProbe || isStarted) this.#whenStarted.resolve();
    else this.#loops.push(this.#loop('startup', startupProbe));
    if (readinessProbe) this.#loops.push(this.#loop('readiness', readinessProbe));
    if (livenessProbe) this.#loops.push(this.#loop('liveness', livenessProbe));
  }

  get verdicts(): Verdicts {
    return Object.fromEntries([...this.#states].map(([kind, { verdict }]) => [kind, verdict]));
  }

  close(): void {
    this.#end.abort(new Error('the run is over'));
    this.#whenStarted.resolve();
  }

  /** For whoever must know that nothing is under way any more. */
  async ended(): Promise<void> {
    await Promise.all(this.#loops);
  }

  async #loop(kind: ProbeKind, probe: PodProbe): Promise<void> {
    const { clock, startedAt, changed } = this.#options;
    const { signal } = this.#end;
    const times = timesOf(probe);
    let hasSucceeded = false;
    let eagerMs = EAGER_MS;
    try {
      if (kind !== 'startup') await this.#whenStarted.promise;
      await clock.sleep(Math.max(0, startedAt + times.initialDelayMs - clock.now()), signal);
      for (;;) {
        const before = this.#states.get(kind) ?? unprobed;
        const isSuccess = await this.#ask(kind, probe, times.timeoutMs);
        if (signal.aborted) return;
        const after = probed(before, isSuccess, times);
        this.#states.set(kind, after);
        if (after.verdict !== before.verdict) {
          if (kind === 'startup' && after.verdict === 'success') this.#whenStarted.resolve();
          changed();
        }
        if (isFinal(kind, after)) return;
        const isEager = kind !== 'liveness' && !isSuccess && !hasSucceeded;
        hasSucceeded ||= isSuccess;
        if (isEager) eagerMs = await this.#waitEagerly(probe, times, eagerMs);
        else await clock.sleep(times.periodMs, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /**
   * Until the next question is due. Who has never succeeded is asked in between, ever more seldom: a success ends the waiting, and
   * the question that follows at once counts; a failure counts for nothing. Returns the next pause.
   */
  async #waitEagerly(probe: PodProbe, times: ProbeTimes, pauseMs: number): Promise<number> {
    const { clock, target } = this.#options;
    const { signal } = this.#end;
    const due = clock.now() + times.periodMs;
    let pause = pauseMs;
    for (; clock.now() + pause < due; pause *= 2) {
      await clock.sleep(pause, signal);
      using limit = deadline(clock, times.timeoutMs, () => new ReeveError('NODE_PROBE', 'no answer in time'), signal);
      if ((await askContainer(probe, target, clock, limit.signal)).isSuccess) return pause;
    }
    await clock.sleep(Math.max(0, due - clock.now()), signal);
    return pause;
  }

  async #ask(kind: ProbeKind, probe: PodProbe, timeoutMs: number): Promise<boolean> {
    const { clock, target, unhealthy } = this.#options;
    const late = () => new ReeveError('NODE_PROBE', `no answer within ${timeoutMs / 1_000}s`);
    using limit = deadline(clock, timeoutMs, late, this.#end.signal);
    const { isSuccess, message } = await askContainer(probe, target, clock, limit.signal);
    if (!isSuccess && !this.#end.signal.aborted) unhealthy(kind, message);
    return isSuccess;
  }
}
