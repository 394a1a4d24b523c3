/** A controller in one term: everything that its set-up describes, made anew, started, and stopped with the term. */
import type { KubeObject, Stored } from '@reeve/kube';
import { asReeveError } from '../errors/errors.ts';
import { orAborted } from '../ports/deadline.ts';
import { WorkQueue } from '../queue/queue.ts';
import type { ResourceEvent } from '../resource/resource.ts';
import type { Runnable } from './controller.ts';
import type { Environment } from './environment.ts';
import { KindRun } from './kind-run.ts';
import type { AnyReflection, Parts } from './parts.ts';
import { WorkRun } from './work-run.ts';
import { Writer } from './writer.ts';

/** Where a run gets its events: the reflectors that all controllers share. */
export interface EventSource {
  /** Tells what is there, then what changes, until the returned function is called. */
  subscribe(of: AnyReflection, take: (event: ResourceEvent<Stored<KubeObject>>) => void): () => void;
  /** Resolves when the kind has been listed, or is known not to be installed. */
  ready(of: AnyReflection, signal: AbortSignal): Promise<void>;
}

export class ControllerRun {
  readonly name: string;
  readonly #parts: Parts;
  readonly #environment: Environment;
  readonly #source: EventSource;
  readonly #queues: Record<string, WorkQueue> = {};
  readonly #kinds = new Map<AnyReflection, KindRun>();
  readonly #works: readonly WorkRun[];
  readonly #companions: readonly AsyncDisposable[];
  readonly #endings: (() => void)[] = [];
  readonly #intake = new AbortController();
  #starting: Promise<void> = Promise.resolve();

  constructor(controller: Runnable, parts: Parts, environment: Environment, source: EventSource) {
    const { name } = controller;
    this.name = name;
    this.#parts = parts;
    this.#environment = environment;
    this.#source = source;
    const { metrics } = environment;
    for (const [queueName, options] of parts.queues) {
      const fullName = parts.queues.size === 1 && queueName === 'default' ? name : `${name}-${queueName}`;
      const queue = new WorkQueue(environment, {
        ...options,
        name: fullName,
        metrics: metrics.queue(name, fullName),
      });
      this.#queues[queueName] = queue;
      this.#endings.push(metrics.watch({ controller: name, name: fullName, stats: () => queue.stats() }));
    }
    const quietOf = (of: AnyReflection) => this.#kinds.get(of) as KindRun;
    const writer = new Writer(environment.api, name, parts.reflections, quietOf);
    for (const reflection of parts.reflections) {
      const target = reflection.wakes && this.#kinds.get(reflection.wakes.target);
      const observe = parts.observers.find(({ of }) => of === reflection);
      const { hotLoop } = controller.description;
      const around = { controller: name, environment, queues: this.#queues, target, observe, hotLoop };
      const kind = new KindRun(reflection, around);
      kind.listeners.push({ forget: (key) => writer.forget(reflection.kind, key) });
      this.#kinds.set(reflection, kind);
    }
    this.#works = parts.works.map((work) => {
      const kind = this.#kinds.get(work.of) as KindRun;
      const around = { controller: name, kind, writer, queues: this.#queues, environment };
      const run = new WorkRun(work, around);
      const active = () => run.workers.running.length;
      this.#endings.push(metrics.watch({ controller: name, most: run.most, active }));
      return run;
    });
    const { api, term } = environment;
    this.#companions = parts.companions.map((make) => make({ api, term, queues: this.#queues }));
  }

  /** Events flow at once; workers begin when all that they may ask for is there. */
  start(): void {
    for (const [of, kind] of this.#kinds) {
      this.#endings.push(this.#source.subscribe(of, (event) => kind.take(event)));
    }
    this.#starting = this.#work();
  }

  /** Stops intake, aborts what runs with the reason, and waits for it. Returns the keys that did not end. */
  async stop(reason: 'shutdown' | 'lost-lease', patience: AbortSignal): Promise<readonly string[]> {
    this.#intake.abort();
    for (const end of this.#endings) end();
    await this.#starting;
    // Together: a worker may wait for the lock of an observer that is told to stop only here.
    const stuck = await Promise.all([
      ...this.#works.map((work) => work.stop(reason, patience)),
      ...[...this.#kinds.values()].map((kind) => kind.stop(patience)),
    ]);
    if (!(await this.#endCompanions(patience))) stuck.push([this.name]);
    await Promise.all(Object.values(this.#queues).map((queue) => queue.close({ signal: patience })));
    return [...new Set(stuck.flat())];
  }

  /** False if they do not end. */
  async #endCompanions(patience: AbortSignal): Promise<boolean> {
    if (this.#companions.length === 0) return true;
    const ended = Promise.all(this.#companions.map((companion) => companion[Symbol.asyncDispose]()));
    try {
      await orAborted(ended, patience);
      return true;
    } catch (error) {
      const { message } = asReeveError(error);
      this.#environment.log('what lives as long as a term does not end', { controller: this.name, message });
      return false;
    }
  }

  async #work(): Promise<void> {
    try {
      await Promise.all(this.#parts.reflections.map((of) => this.#source.ready(of, this.#intake.signal)));
    } catch {
      return; // stopped before it began
    }
    if (this.#intake.signal.aborted) return;
    for (const { workers } of this.#works) workers.start();
    this.#environment.log('controller started', { controller: this.name, term: this.#environment.term.token });
  }
}
