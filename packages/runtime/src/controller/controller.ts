/**
 * A controller, by description (`controller({ kind, owns, reconcile })`) or by extending `Controller` and overriding `setUp`. The
 * description covers the common shape: one kind, its children, one queue. The set-up may have any: several kinds, several queues or
 * none, several types of worker on one queue.
 */
import type { KubeObject, Stored } from '@reeve/kube';
import type { Kind } from '../client/api.ts';
import type { Command } from '../command/command.ts';
import type { QueueOptions } from '../queue/options.ts';
import type { Route } from '../reflector/route.ts';
import type { HotLoopOptions } from './hot-loop.ts';
import {
  type Mapping,
  type ObserveOptions,
  Parts,
  type Reflection,
  type ReflectionScope,
  type WorkOptions,
} from './parts.ts';

export interface Watched<T extends KubeObject> extends ReflectionScope<T> {
  readonly kind: Kind<T>;
  /** Keys of the controller's own kind that this object concerns. */
  readonly to: Mapping<T>;
}

export interface Owned<T extends KubeObject> extends ReflectionScope<T> {
  readonly kind: Kind<T>;
}

/** Types are forgotten in lists of kinds; `watching` and `owning` keep them up to there. */
export type AnyWatched = Watched<KubeObject>;
export type AnyOwned = Owned<KubeObject> | Kind<KubeObject>;

export function watching<T extends KubeObject>(watched: Watched<T>): AnyWatched {
  return watched as unknown as AnyWatched;
}

export function owning<T extends KubeObject>(kind: Kind<T>, scope: ReflectionScope<T> = {}): AnyOwned {
  return { ...scope, kind } as unknown as Owned<KubeObject>;
}

type WorkerOptions<T extends KubeObject, O, C extends Command> = Omit<WorkOptions<T, O, C>, 'of' | 'queues'>;

export interface ControllerDescription<T extends KubeObject, O = unknown, C extends Command = Command>
  extends Omit<WorkerOptions<T, O, C>, 'route'>,
    ReflectionScope<T> {
  /** In metrics, messages, and as field manager of what it applies. */
  readonly name: string;
  readonly kind?: Kind<T>;
  /** Kinds whose objects it creates: their events wake the owner. */
  readonly owns?: readonly AnyOwned[];
  /** Kinds that concern it otherwise. */
  readonly watches?: readonly AnyWatched[];
  /** Default: one, `default`, in which changes go before what a list found. */
  readonly queues?: Readonly<Record<string, Omit<QueueOptions, 'name' | 'metrics'>>>;
  /** Which queue or queues, by the object's state and what changed. Default: the first. */
  readonly route?: Route<Stored<T>>;
  /** Types of worker. Default: one for all queues, from `reconcile` or `plan` here. */
  readonly workers?: readonly (WorkerOptions<T, O, C> & { readonly queues?: readonly string[] })[];
  /** Polls the real world of each object. */
  readonly observe?: Omit<ObserveOptions<T, O>, 'of'>;
  readonly hotLoop?: HotLoopOptions;
}

/** What a list found can wait a little for what changed: three to one, so that neither starves. */
const defaultLanes: NonNullable<QueueOptions['lanes']> = [
  { name: 'changed', weight: 3 },
  { name: 'listed', weight: 1 },
];

/** What a manager needs of a controller. */
export interface Runnable {
  readonly name: string;
  readonly description: { readonly hotLoop?: HotLoopOptions };
  setUp(parts: Parts): void;
}

export class Controller<T extends KubeObject = KubeObject, O = unknown, C extends Command = Command>
  implements Runnable
{
  readonly name: string;
  readonly description: ControllerDescription<T, O, C>;

  constructor(description: ControllerDescription<T, O, C>) {
    this.name = description.name;
    this.description = description;
  }

  /** Says what this controller is made of. Called once; nothing may be started here. */
  setUp(parts: Parts): void {
    const { kind } = this.description;
    if (kind) this.setUpKind(parts, kind);
  }

  /** The default shape for one kind. Returns its reflection, for overriders that add to it. */
  protected setUpKind(parts: Parts, kind: Kind<T>): Reflection<T> {
    const { queues, route, owns = [], watches = [], workers, observe, ...rest } = this.description;
    const names = Object.keys(queues ?? {});
    if (!queues) names.push(parts.queue('default', { lanes: defaultLanes }));
    else for (const [name, options] of Object.entries(queues)) parts.queue(name, options);
    const [first] = names;
    const byDefault: Route<Stored<T>> = (_object, { listed }) =>
      first === undefined ? undefined : { queue: first, ...(!queues && { lane: listed ? 'listed' : 'changed' }) };
    const own = parts.reflect(kind, { ...scopeOf(rest), route: route ?? byDefault });
    for (const one of owns) {
      const owned = isKind(one) ? { kind: one } : one;
      parts.own(owned.kind, own, scopeOf(owned));
    }
    for (const watched of watches) parts.wake(watched.kind, own, watched.to, scopeOf(watched));
    if (observe) parts.observe({ ...observe, of: own });
    const worker = workerOf(rest);
    for (const one of workers ?? (worker ? [worker] : [])) {
      parts.work({ ...one, of: own, queues: ('queues' in one ? one.queues : undefined) ?? names });
    }
    return own;
  }
}

export function controller<T extends KubeObject, O = unknown, C extends Command = Command>(
  description: ControllerDescription<T, O, C>,
): Controller<T, O, C> {
  return new Controller(description);
}

function isKind(one: AnyOwned): one is Kind<KubeObject> {
  return typeof one.kind === 'string';
}

function scopeOf<T extends KubeObject>(all: ReflectionScope<T>): ReflectionScope<T> {
  const { namespace, labelSelector, fieldSelector, unscoped, project, indexes } = all;
  return {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
    ...(unscoped !== undefined && { unscoped }),
    ...(project && { project }),
    ...(indexes && { indexes }),
  };
}

function workerOf<T extends KubeObject, O, C extends Command>(
  all: Omit<WorkerOptions<T, O, C>, 'route'>,
): WorkerOptions<T, O, C> | undefined {
  const { reconcile, plan, concurrency, timeoutMs, graceMs, finalizer, cancelOn, gone } = all;
  if (!reconcile && !plan) return undefined;
  return {
    ...(reconcile && { reconcile }),
    ...(plan && { plan }),
    ...(concurrency !== undefined && { concurrency }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(graceMs !== undefined && { graceMs }),
    ...(finalizer && { finalizer }),
    ...(cancelOn !== undefined && { cancelOn }),
    ...(gone && { gone }),
  };
}
