/** One type of worker of a controller in one term: around each reconcile what no reconcile should have to think of. */
import type { KubeObject, Stored } from '@reeve/kube';
import { kindName } from '../client/api.ts';
import { asReeveError, ReeveError } from '../errors/errors.ts';
import { orAborted } from '../ports/deadline.ts';
import type { WorkQueue } from '../queue/queue.ts';
import { finished, requeueAfter, type Verdict } from '../queue/verdict.ts';
import type { DeepReadonly, ResourceEvent } from '../resource/resource.ts';
import type { CancelReason } from '../worker/cancelled.ts';
import { type Work, Workers } from '../worker/workers.ts';
import { cancelOnChange } from './cancel-on-change.ts';
import type { Reconcile } from './context.ts';
import type { Environment } from './environment.ts';
import { guardDeletion } from './finalize.ts';
import type { KindListener, KindRun } from './kind-run.ts';
import type { AnyWork } from './parts.ts';
import { PlanWorker } from './plan-worker.ts';
import { reconcileContext } from './reconcile-context.ts';
import { TerminalError } from './terminal.ts';
import { idOf, type Writer } from './writer.ts';

/** How long a key waits for its own writes to be in the caches before it runs anyway. */
const GATE_MS = 10_000;
const GATE_LOOK_MS = 100;

export class WorkRun implements KindListener {
  readonly workers: Workers;
  readonly most: number;
  readonly #work: AnyWork;
  readonly #kind: KindRun;
  readonly #writer: Writer;
  readonly #queues: Readonly<Record<string, WorkQueue>>;
  readonly #environment: Environment;
  readonly #labels: { readonly controller: string };
  readonly #planner: PlanWorker<KubeObject, unknown, never> | undefined;
  readonly #gatedSince = new Map<string, number>();

  constructor(
    work: AnyWork,
    around: {
      readonly controller: string;
      readonly kind: KindRun;
      readonly writer: Writer;
      readonly queues: Readonly<Record<string, WorkQueue>>;
      readonly environment: Environment;
    },
  ) {
    this.#work = work;
    this.#kind = around.kind;
    this.#writer = around.writer;
    this.#queues = around.queues;
    this.#environment = around.environment;
    this.#labels = { controller: around.controller };
    this.#planner = work.plan && new PlanWorker(work.plan as never, this.#host());
    this.most = work.concurrency ?? 1;
    const { route, timeoutMs, graceMs } = work;
    this.workers = new Workers(around.environment, {
      queues: work.queues.map((name) => around.queues[name] as WorkQueue),
      concurrency: this.most,
      ...(route !== undefined && { route }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(graceMs !== undefined && { graceMs }),
      reconcile: (one) => this.#run(one),
      failed: (key, error) => this.#failed(key, error),
      cancelled: (key, reason) => this.#cancelled(key, reason),
      stuck: (key) => this.#tell('a reconcile does not end although it was cancelled', { key }),
    });
    around.kind.listeners.push(this);
  }

  changed(event: ResourceEvent<Stored<KubeObject>>): void {
    const { cancelOn } = this.#work;
    const reason = cancelOn === false ? undefined : (cancelOn ?? cancelOnChange)(event);
    if (reason !== undefined) this.workers.cancel(event.key, reason);
  }

  forget(key: string): void {
    this.#planner?.forget(key);
    this.#gatedSince.delete(key);
  }

  /** No more keys, signals aborted, what runs is waited for. Returns the keys that did not end. */
  async stop(reason: 'shutdown' | 'lost-lease', patience: AbortSignal): Promise<readonly string[]> {
    const stuck = await this.workers.stop(reason, patience);
    if (!this.#planner) return stuck;
    await orAborted(this.#planner.end(reason), patience).catch(() => undefined); // no patience left
    return [...stuck, ...this.#planner.busy];
  }

  async #run(work: Work): Promise<Verdict> {
    const { metrics, clock } = this.#environment;
    const began = clock.now();
    const result = (is: string) => metrics.reconciles.add({ ...this.#labels, result: is });
    try {
      const verdict = (await this.#reconcile(work)) ?? finished;
      if (!work.signal.aborted) result(resultOf(verdict));
      return verdict;
    } catch (error) {
      if (work.signal.aborted) throw error;
      result('error');
      if (!(error instanceof TerminalError)) throw error;
      metrics.terminalErrors.add(this.#labels);
      this.#tell('a reconcile failed for good', { key: work.key, message: error.message });
      return finished;
    } finally {
      metrics.reconcileSeconds.observe(this.#labels, (clock.now() - began) / 1_000);
    }
  }

  async #reconcile(work: Work): Promise<Verdict | undefined | void> {
    const { key, signal } = work;
    const { of } = this.#kind;
    const isHeldBack = this.#heldBack(key);
    if (isHeldBack) return isHeldBack;
    const object = of.cache.get(key);
    if (!object) {
      if (!of.cache.isSynced) throw notSynced(kindName(of.kind));
      this.#writer.forget(of.kind, key);
      await this.#work.gone?.({ key, signal, isGone: () => this.#isGone(key, signal) });
      return finished;
    }
    this.#watchHeat(key, object.metadata.generation);
    const context = (current: DeepReadonly<Stored<KubeObject>>) =>
      reconcileContext({ ...work, object: current, observed: this.#kind.observed(key) }, this.#around());
    const { finalizer } = this.#work;
    if (!finalizer) return this.#act(context(object));
    return guardDeletion(finalizer, object, this.#around(), context, (guarded) => this.#act(guarded), signal);
  }

  async #isGone(key: string, signal: AbortSignal): Promise<boolean> {
    const slash = key.indexOf('/');
    const { kind } = this.#kind.of;
    const api = this.#environment.api.resource(kind, slash < 0 ? undefined : key.slice(0, slash));
    return (await api.find(key.slice(slash + 1), { signal })) === undefined;
  }

  #act(context: Reconcile<KubeObject>): Promise<Verdict | undefined | void> {
    if (this.#planner) return this.#planner.reconcile(context as never);
    const reconcile = () => this.#work.reconcile?.(context) ?? Promise.resolve(undefined);
    // With an observer, whatever it sees while this runs does not count.
    return this.#kind.isObserved ? this.#kind.changes.change(context.key, reconcile) : reconcile();
  }

  #around() {
    return {
      kind: this.#kind,
      writer: this.#writer,
      queues: this.#queues,
      environment: this.#environment,
      controller: this.#labels.controller,
    };
  }

  #host() {
    return {
      current: (key: string) => this.#kind.of.cache.get(key),
      change: <R>(key: string, work: () => Promise<R>) => this.#kind.changes.change(key, work),
      nudge: (key: string) => this.#kind.nudge(key),
      wake: (key: string) => this.#kind.wake(key),
      random: () => this.#environment.random.next(),
    };
  }

  /** A key whose own writes, to itself or to children, the caches have not seen would decide on the state before. */
  #heldBack(key: string): Verdict | undefined {
    const id = idOf(this.#kind.of.kind, key);
    const waitsFor = this.#writer.gate.waitsFor(id);
    const { clock, metrics } = this.#environment;
    if (waitsFor.length === 0) {
      this.#gatedSince.delete(key);
      return undefined;
    }
    const since = this.#gatedSince.get(key) ?? clock.now();
    this.#gatedSince.set(key, since);
    if (clock.now() - since < GATE_MS) {
      metrics.gateWaits.add(this.#labels);
      return requeueAfter(GATE_LOOK_MS);
    }
    // Not telling is no reason never to work again: an object that no longer matches a selector is never told.
    this.#tell('own writes did not come back by the watch; going on', { key, waitsFor });
    this.#writer.gate.forget(id);
    return undefined;
  }

  #watchHeat(key: string, generation: number | undefined): void {
    const runs = this.#kind.hotLoop.ran(key, generation, this.#environment.clock.now());
    if (runs === undefined) return;
    this.#environment.metrics.hotLoops.add(this.#labels);
    this.#tell('hot loop: a key runs again and again without a change of its spec', { key, runsPerSecond: runs });
  }

  #failed(key: string, error: unknown): void {
    const { metrics } = this.#environment;
    metrics.reconcileErrors.add(this.#labels);
    const isBug = [TypeError, RangeError, ReferenceError, SyntaxError].some((one) => error instanceof one);
    if (isBug) metrics.panics.add(this.#labels);
    const { code, message } = asReeveError(error);
    this.#tell('a reconcile failed', { key, code, message });
  }

  #cancelled(key: string, reason: CancelReason): void {
    const { metrics } = this.#environment;
    metrics.cancels.add({ ...this.#labels, reason });
    if (reason === 'timeout') metrics.timeouts.add(this.#labels);
    this.#tell('a reconcile was cancelled', { key, reason });
  }

  #tell(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#environment.log(message, { ...this.#labels, kind: kindName(this.#kind.of.kind), ...fields });
  }
}

function notSynced(kind: string): ReeveError {
  return new ReeveError('CACHE_NOT_SYNCED', `${kind} have not been listed yet`, { subjects: [kind] });
}

function resultOf({ next }: Verdict): string {
  if (next === 'done') return 'success';
  if (next === 'retry') return 'error';
  return next === 'again' ? 'requeue' : 'requeue_after';
}
