/** What a controller is made of, as its set-up describes it. Nothing runs yet: each term makes its own of these. */
import type { KubeObject, Stored } from '@reeve/kube';
import type { CacheOptions, ResourceCache } from '../cache/cache.ts';
import type { CacheScope } from '../cache/scope.ts';
import type { Api, Kind } from '../client/api.ts';
import type { Command } from '../command/command.ts';
import { demandHandlers } from '../command/executor.ts';
import { ReeveError } from '../errors/errors.ts';
import type { Term } from '../lease/term.ts';
import type { QueueOptions } from '../queue/options.ts';
import type { WorkQueue } from '../queue/queue.ts';
import type { Verdict } from '../queue/verdict.ts';
import type { Route } from '../reflector/route.ts';
import type { DeepReadonly, ResourceEvent } from '../resource/resource.ts';
import type { CancelRule } from './cancel-on-change.ts';
import type { Reconcile } from './context.ts';
import { OWNER_INDEX, ownerKeys, ownerUids } from './owner.ts';
import type { PlanOptions } from './plan-worker.ts';

/** Which objects of a kind, and what is kept of them. */
export interface ReflectionScope<T extends KubeObject>
  extends Pick<CacheScope, 'namespace' | 'labelSelector' | 'fieldSelector' | 'unscoped'>,
    Pick<CacheOptions<Stored<T>, Stored<T>>, 'project' | 'indexes'> {}

export interface ReflectionOptions<T extends KubeObject> extends ReflectionScope<T> {
  /** Which queue or queues; nothing: this event is of no interest. Default: nothing is queued, only cached. */
  readonly route?: Route<Stored<T>>;
}

/** Names keys of another reflection's objects: all of them are woken. */
export type Mapping<T extends KubeObject> = (
  object: DeepReadonly<Stored<T>>,
  event: ResourceEvent<Stored<T>>,
) => readonly string[];

/** One kind that a controller reflects. Others share the reflector; the handle names it in set-ups and reconciles. */
export interface Reflection<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly options: ReflectionOptions<T>;
  /** For kinds that only wake others: whose keys, and which. */
  readonly wakes: { readonly target: Reflection<KubeObject>; readonly mapping: Mapping<T> } | undefined;
  readonly cache: ResourceCache<Stored<T>>;
}

export interface FinalizerOptions<T extends KubeObject> {
  /** `redis.reeve.dev/data`. */
  readonly name: string;
  /** Nothing or `finished`: it is cleaned up. Another verdict: not yet, ask again. What it throws blocks the deletion, visibly. */
  finalize(work: Reconcile<T>): Promise<Verdict | undefined | void>;
}

/** What is known of an object that is not there: not much. */
export interface Absent {
  readonly key: string;
  readonly signal: AbortSignal;
  /** Asks the server. False if it lives on and only no longer matches what is watched: then nothing of it may be destroyed. */
  isGone(): Promise<boolean>;
}

export interface WorkOptions<T extends KubeObject, O = unknown, C extends Command = Command> {
  /** The kind whose keys these are. */
  readonly of: Reflection<T>;
  readonly queues: readonly string[];
  /** Only keys of this route of the queue. */
  readonly route?: string;
  readonly concurrency?: number;
  readonly timeoutMs?: number;
  readonly graceMs?: number;
  readonly finalizer?: FinalizerOptions<T>;
  /** Default `cancelOnChange`; false: nothing but time and the end of the term cancels. */
  readonly cancelOn?: CancelRule<Stored<T>> | false;
  /** Either this: throwing means again with backoff … */
  reconcile?(work: Reconcile<T, O>): Promise<Verdict | undefined | void>;
  /** … or a plan: observe, plan, execute, write the status. */
  readonly plan?: PlanOptions<T, O, C>;
  /** The object is not in the cache. */
  gone?(absent: Absent): Promise<void>;
}

export interface ObserveOptions<T extends KubeObject, O> {
  readonly of: Reflection<T>;
  readonly everyMs: number;
  readonly jitter?: number;
  readonly timeoutMs?: number;
  observe(object: DeepReadonly<Stored<T>>, signal: AbortSignal): Promise<O>;
  /** Whether what was seen must wake a worker. Default: when it differs from what was seen before. */
  wakes?(observation: O, object: DeepReadonly<Stored<T>>): boolean;
  /** Or also: tell the API oneself. Runs under the lock that workers take, and only if nothing was changed since the look began. */
  update?(observation: O, object: DeepReadonly<Stored<T>>, api: Api, signal: AbortSignal): Promise<void>;
}

/** What is given to something that lives as long as a term. */
export interface TermContext {
  /** Its writes belong to the term. */
  readonly api: Api;
  readonly term: Term;
  readonly queues: Readonly<Record<string, WorkQueue>>;
}

/** Makes it; disposing of it ends, and waits for, all that it has under way. */
export type Companion = (context: TermContext) => AsyncDisposable;

/** With type parameters forgotten, for lists of all kinds of them. */
export type AnyReflection = Reflection<KubeObject>;
export type AnyWork = WorkOptions<KubeObject>;
export type AnyObserve = ObserveOptions<KubeObject, unknown>;

/** A reflection whose cache is there once a manager has taken the controller in. */
export class ReflectionHandle<T extends KubeObject> implements Reflection<T> {
  readonly kind: Kind<T>;
  readonly options: ReflectionOptions<T>;
  readonly wakes: Reflection<T>['wakes'];
  #cache: ResourceCache<Stored<T>> | undefined;

  constructor(kind: Kind<T>, options: ReflectionOptions<T>, wakes?: Reflection<T>['wakes']) {
    this.kind = kind;
    this.options = options;
    this.wakes = wakes;
  }

  get cache(): ResourceCache<Stored<T>> {
    if (this.#cache) return this.#cache;
    throw new ReeveError('CONTROLLER_OPTIONS', `${this.kind.plural}: no manager has taken the controller in yet`);
  }

  attach(cache: ResourceCache<Stored<T>>): void {
    this.#cache = cache;
  }
}

export class Parts {
  readonly queues = new Map<string, Omit<QueueOptions, 'name' | 'metrics'>>();
  readonly reflections: ReflectionHandle<KubeObject>[] = [];
  readonly works: AnyWork[] = [];
  readonly observers: AnyObserve[] = [];
  readonly companions: Companion[] = [];

  /** A queue for keys. Several or none are fine. */
  queue(name: string, options: Omit<QueueOptions, 'name' | 'metrics'> = {}): string {
    if (this.queues.has(name)) throw wrong(`queue ${name} is there twice`);
    this.queues.set(name, options);
    return name;
  }

  /** List, watch and cache a kind, and route its keys. */
  reflect<T extends KubeObject>(kind: Kind<T>, options: ReflectionOptions<T> = {}): Reflection<T> {
    const handle = new ReflectionHandle(kind, options);
    this.reflections.push(handle as unknown as ReflectionHandle<KubeObject>);
    return handle;
  }

  /** A kind whose events wake objects of another: children their owner, a Secret those who use it. */
  wake<T extends KubeObject, U extends KubeObject>(
    kind: Kind<T>,
    target: Reflection<U>,
    mapping: Mapping<T>,
    scope: ReflectionScope<T> = {},
  ): Reflection<T> {
    const handle = new ReflectionHandle(kind, scope, { target: target as unknown as AnyReflection, mapping });
    this.reflections.push(handle as unknown as ReflectionHandle<KubeObject>);
    return handle;
  }

  /** A kind whose objects the objects of another own: their events wake the owner, and `children` finds them. */
  own<T extends KubeObject, U extends KubeObject>(
    kind: Kind<T>,
    owner: Reflection<U>,
    scope: ReflectionScope<T> = {},
  ): Reflection<T> {
    const indexes = { ...scope.indexes, [OWNER_INDEX]: ownerUids };
    return this.wake(kind, owner, (object) => ownerKeys(object, owner.kind), { ...scope, indexes });
  }

  /** Workers of one type. */
  work<T extends KubeObject, O = unknown, C extends Command = Command>(options: WorkOptions<T, O, C>): void {
    if ((options.reconcile === undefined) === (options.plan === undefined)) throw wrong('a worker reconciles or plans');
    for (const name of options.queues) if (!this.queues.has(name)) throw wrong(`there is no queue ${name}`);
    if (options.plan) demandHandlers(options.plan.types, options.plan.executors.types);
    this.works.push(options as unknown as AnyWork);
  }

  /** One observer for each object of a kind. */
  observe<T extends KubeObject, O>(options: ObserveOptions<T, O>): void {
    if (this.observers.some(({ of }) => of === (options.of as unknown))) throw wrong('one observer per resource');
    this.observers.push(options as unknown as AnyObserve);
  }

  /**
   * Something with long work of its own, beside workers: a `TaskRunner`. Made anew in each term, before anything works; disposed of
   * when all workers have ended. The lease is given back after that.
   */
  duringTerm(companion: Companion): void {
    this.companions.push(companion);
  }
}

function wrong(what: string): ReeveError {
  return new ReeveError('CONTROLLER_OPTIONS', what);
}
