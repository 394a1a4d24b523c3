/**
 * Runs controllers: reflectors shared between them and warm also while another process leads, a lease that says who does, a client whose
 * writes belong to the term, and an end in order: no more intake, signals aborted, what runs is waited for, the lease given back last.
 */
import { KubeClient, type Transport } from '@reeve/kube';
import { Budget, type BudgetRates, budgeted } from '../client/budget.ts';
import { guarded } from '../client/guard.ts';
import { measured } from '../client/measured.ts';
import type { Runnable } from '../controller/controller.ts';
import type { Environment, Log } from '../controller/environment.ts';
import { Parts } from '../controller/parts.ts';
import { ControllerRun } from '../controller/run.ts';
import { asReeveError, ReeveError } from '../errors/errors.ts';
import { EventRecorder } from '../events/recorder.ts';
import { Election, type ElectionOptions } from '../lease/election.ts';
import { leases } from '../lease/lease.ts';
import { LeaseTerm, SoleTerm } from '../lease/term.ts';
import { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import { deadline } from '../ports/deadline.ts';
import type { Clock, Ids, Random } from '../ports/ports.ts';
import type { ReflectorOptions } from '../reflector/state.ts';
import { awaitFence, type FencingOptions } from './fencing.ts';
import type { Check, HealthSource } from './health.ts';
import { Reflectors } from './reflectors.ts';

export interface ManagerPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
}

export interface ManagerOptions {
  /** In events and as user agent of its leases. */
  readonly name: string;
  /** To the API server. */
  readonly transport: Transport;
  /** Without it this process must be the only one, by other means. */
  readonly election?: Omit<ElectionOptions, 'identity' | 'failed'> & { readonly identity?: string };
  /** The fence in the server. Without it, only the client refuses writes of a term that is over. */
  readonly fencing?: FencingOptions;
  readonly budget?: Partial<BudgetRates>;
  /** How many kinds may be listed at once, 1 to 4. Default 3. */
  readonly syncs?: number;
  /** How long to wait for running work at the end. Default 30 s. */
  readonly stopMs?: number;
  readonly reflector?: Partial<ReflectorOptions>;
  readonly log?: Log;
}

interface Added {
  readonly controller: Runnable;
  readonly parts: Parts;
}

type Phase = 'new' | 'standby' | 'leading' | 'stopping' | 'stopped';

export class Manager implements HealthSource {
  readonly name: string;
  readonly measures = new RuntimeMetrics();
  readonly identity: string;
  readonly #ports: ManagerPorts;
  readonly #options: ManagerOptions;
  readonly #log: Log;
  readonly #reflectors: Reflectors;
  readonly #election: Election | undefined;
  readonly #budget: Budget;
  readonly #controllers: Added[] = [];
  /** Of the term that this process leads in, if it does. */
  readonly #runs = new Map<string, ControllerRun>();
  #environment: Environment | undefined;
  #phase: Phase = 'new';
  #term: LeaseTerm | SoleTerm | undefined;

  constructor(ports: ManagerPorts, options: ManagerOptions) {
    this.name = options.name;
    this.#ports = ports;
    this.#options = options;
    this.#log = options.log ?? (() => undefined);
    this.#budget = new Budget(ports, options.budget);
    this.identity = options.election?.identity ?? ports.ids.next(options.name);
    const syncs = options.syncs ?? 3;
    if (!(syncs >= 1 && syncs <= 4)) throw new ReeveError('CONTROLLER_OPTIONS', 'from 1 to 4 kinds are listed at once');
    const api = this.#client(undefined);
    this.#reflectors = new Reflectors({
      ...ports,
      api,
      metrics: this.measures,
      log: this.#log,
      syncs,
      reflector: options.reflector ?? {},
    });
    if (!options.election) return;
    const { namespace } = options.election;
    this.#election = new Election(ports, api.resource(leases, namespace), {
      ...options.election,
      identity: this.identity,
      failed: (error) => this.#log('the lease could not be taken or renewed', { message: asReeveError(error).message }),
    });
    this.measures.leading.set({ name: options.election.name }, 0);
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Who leads as far as this process knows. */
  get leader(): string | undefined {
    return this.#election ? this.#election.holder : this.identity;
  }

  /** Takes a controller in, now or while it runs: its set-up is called, its kinds are reflected. */
  add(controller: Runnable): this {
    if (this.#phase === 'stopping' || this.#phase === 'stopped')
      throw new ReeveError('CONTROLLER_OPTIONS', 'a manager that ends takes no controllers in');
    if (this.#controllers.some((one) => one.controller.name === controller.name)) {
      throw new ReeveError('CONTROLLER_OPTIONS', `two controllers are called ${controller.name}`);
    }
    const parts = new Parts();
    controller.setUp(parts);
    for (const reflection of parts.reflections) this.#reflectors.attach(reflection);
    const added = { controller, parts };
    this.#controllers.push(added);
    if (this.#environment) this.#begin(added, this.#environment).start();
    return this;
  }

  /** Ends one controller, and the watches that only it needed. Rejects if its work does not end. */
  async remove(name: string): Promise<void> {
    const at = this.#controllers.findIndex(({ controller }) => controller.name === name);
    if (at < 0) return;
    const [{ parts }] = this.#controllers.splice(at, 1) as [Added];
    const run = this.#runs.get(name);
    const stuck = run ? await this.#end([run], 'shutdown') : [];
    if (stuck.length === 0) this.#runs.delete(name); // else the lease is not given back either
    for (const reflection of parts.reflections) this.#reflectors.detach(reflection);
    if (stuck.length > 0) throw stuckError(stuck);
  }

  /** Runs until the signal aborts, and ends in order then. Rejects if work of a lost term does not end: the process must. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#phase !== 'new') throw new ReeveError('CONTROLLER_OPTIONS', 'a manager runs once');
    this.#phase = 'standby';
    this.#reflectors.start();
    try {
      while (!signal.aborted) await this.#once(signal);
    } finally {
      await this.#reflectors.stop();
      this.#phase = 'stopped';
    }
  }

  livez(): readonly Check[] {
    const term = this.#term;
    // A term that is over while its work goes on for longer than the end may take: only a restart helps.
    const late = term instanceof LeaseTerm ? this.#ports.clock.now() - term.validUntil : 0;
    const isOver = this.#phase === 'leading' && late > this.#stopMs;
    return [{ name: 'leader-election', ok: !isOver, ...(isOver && { note: 'the term is over and its work goes on' }) }];
  }

  readyz(): readonly Check[] {
    const isEnding = this.#phase === 'stopping' || this.#phase === 'stopped';
    return [
      { name: 'running', ok: this.#phase !== 'new' && !isEnding, note: this.#phase },
      ...this.#reflectors.report().map(({ kind, isSynced, state, objects, defects, broken }): Check => {
        const name = `reflector-${kind}`;
        if (broken !== undefined) return { name, ok: false, note: broken };
        if (state.isMissing) return { name, ok: true, note: 'the kind is not installed' };
        return {
          name,
          ok: isSynced,
          note: isSynced
            ? `${objects} objects${defects > 0 ? `, ${defects} of which could not be taken in as they should be` : ''}`
            : `${state.phase}, ${state.failures} failures`,
        };
      }),
    ];
  }

  metrics(): string {
    return this.measures.registry.text();
  }

  get #stopMs(): number {
    return this.#options.stopMs ?? 30_000;
  }

  /** One term: taken, worked in, ended. */
  async #once(signal: AbortSignal): Promise<void> {
    const election = this.#election;
    let term: LeaseTerm | SoleTerm;
    try {
      term = election ? await election.acquire(signal) : new SoleTerm();
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.#term = term;
    const renewing = new AbortController();
    const kept = election && term instanceof LeaseTerm ? election.keep(term, renewing.signal) : undefined;
    let stuck: readonly string[] | undefined;
    try {
      stuck = await this.#lead(term, signal);
    } finally {
      renewing.abort(); // only now: the lease is ours until all work has ended
      const isLost = await kept;
      // What still runs may still do something: then others wait until the lease has expired.
      if (!isLost && stuck?.length === 0) await this.#giveBack(term);
      term.end('shutdown');
      this.#term = undefined;
    }
    if (stuck.length > 0) throw stuckError(stuck);
  }

  async #lead(term: LeaseTerm | SoleTerm, signal: AbortSignal): Promise<readonly string[]> {
    const recorder = this.#recorder();
    this.#log('leading', { term: term.token });
    try {
      await this.#fence(term, signal);
      if (signal.aborted || term.signal.aborted) return [];
      this.#setLeading(true);
      const environment: Environment = {
        ...this.#ports,
        api: this.#client(term),
        term,
        recorder,
        metrics: this.measures,
        log: this.#log,
      };
      this.#environment = environment;
      for (const run of this.#controllers.map((added) => this.#begin(added, environment))) run.start();
      await eitherAborted(signal, term.signal);
      this.#environment = undefined;
      const reason = term.signal.aborted ? 'lost-lease' : 'shutdown';
      this.#phase = reason === 'shutdown' ? 'stopping' : 'leading';
      this.#log('ending', { reason });
      return await this.#end([...this.#runs.values()], reason);
    } finally {
      this.#environment = undefined;
      this.#runs.clear();
      this.#setLeading(false);
      await recorder[Symbol.asyncDispose]();
    }
  }

  #begin({ controller, parts }: Added, environment: Environment): ControllerRun {
    const run = new ControllerRun(controller, parts, environment, this.#reflectors);
    this.#runs.set(controller.name, run);
    return run;
  }

  async #fence(term: LeaseTerm | SoleTerm, signal: AbortSignal): Promise<void> {
    const { fencing, election, transport } = this.#options;
    if (!fencing || !election) return;
    const onStop = () => term.end('shutdown');
    signal.addEventListener('abort', onStop, { once: true });
    try {
      await awaitFence(this.#ports, transport, term, election, fencing, ({ why, message }) =>
        this.#log('the fence does not stand', { code: why === 'open' ? 'FENCE_OPEN' : 'NOT_LEADING', message }),
      );
    } catch (error) {
      if (!term.signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', onStop);
    }
  }

  async #end(runs: readonly ControllerRun[], reason: 'shutdown' | 'lost-lease'): Promise<readonly string[]> {
    const tooLong = () => new ReeveError('MANAGER_STUCK', `work did not end in ${this.#stopMs} ms`);
    using patience = deadline(this.#ports.clock, this.#stopMs, tooLong);
    const stuck = (await Promise.all(runs.map((run) => run.stop(reason, patience.signal)))).flat();
    if (stuck.length > 0) this.#log('work does not end', { keys: stuck });
    return stuck;
  }

  /** The last thing of a term. */
  async #giveBack(term: LeaseTerm | SoleTerm): Promise<void> {
    if (!(term instanceof LeaseTerm) || !this.#election) return;
    const tooLong = () => new ReeveError('LEASE_RENEWAL', 'the lease could not be given back in time');
    using limit = deadline(this.#ports.clock, 5_000, tooLong);
    const isReleased = await this.#election.release(term, limit.signal);
    this.#log(isReleased ? 'lease given back' : 'the lease could not be given back', { term: term.token });
  }

  #setLeading(isLeading: boolean): void {
    if (isLeading) this.#phase = 'leading';
    else if (this.#phase === 'leading') this.#phase = 'standby';
    const { election } = this.#options;
    if (election) this.measures.leading.set({ name: election.name }, isLeading ? 1 : 0);
  }

  #recorder(): EventRecorder {
    return new EventRecorder(this.#ports, this.#client(undefined), {
      reportingController: `reeve.dev/${this.name}`,
      reportingInstance: this.identity,
      dropped: (why) => this.measures.eventsDropped.add({ why }),
    });
  }

  /** With a term, writes are refused and fenced by it; without one it is for reading, for leases and for events. */
  #client(term: LeaseTerm | SoleTerm | undefined): KubeClient {
    const { transport: wire, fencing } = this.#options;
    const { clock, random } = this.#ports;
    const bound = term ? guarded(wire, term, fencing?.carrier.headers) : wire;
    const transport = budgeted(
      measured(bound, this.measures, clock),
      this.#budget,
      ({ method }, ms) => this.measures.limiterSeconds.observe({ verb: method }, ms / 1_000),
      clock,
    );
    return new KubeClient({ transport, clock, random, fieldManager: this.name });
  }
}

function stuckError(keys: readonly string[]): ReeveError {
  return new ReeveError('MANAGER_STUCK', `work does not end although it was cancelled: ${keys.join(', ')}`, {
    subjects: keys,
  });
}

function eitherAborted(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    }
  });
}
