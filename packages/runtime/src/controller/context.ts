/** What a reconcile gets. All functions are bound: take out what is needed. */
import type { DeleteOptions, KubeObject, Stored } from '@reeve/kube';
import type { Api, Kind } from '../client/api.ts';
import type { ObjectReference } from '../events/event.ts';
import type { Term } from '../lease/term.ts';
import type { Knowledge } from '../plan/known.ts';
import type { WorkQueue } from '../queue/queue.ts';
import type { DeepReadonly } from '../resource/resource.ts';

/** The status of a kind, if its type has one. */
export type StatusOf<T> = T extends { readonly status?: infer S } ? NonNullable<S> : Readonly<Record<string, unknown>>;

export interface ChildOptions {
  /** Default true: the object controls what is applied, which is deleted with it. */
  readonly owned?: boolean;
  /** Take fields over from others. Default true: what a controller declares, it means. */
  readonly force?: boolean;
}

export interface StatusOptions {
  /**
   * Asked about the status that is about to be replaced, as the cache has it and, after a conflict, as the server has it: compare and
   * swap. If it says no, nothing is written, and `STATUS_STALE` is thrown. Without it, whoever wrote in between is written over.
   */
  onlyIf?(present: unknown): boolean;
}

export interface EventWriter {
  /**
   * Never waits, never throws. `action`: what was done or tried; default `Reconcile`. `related`: another object that it is about; the
   * same said of two of them are two events, not a series.
   */
  normal(reason: string, note: string, action?: string, related?: ObjectReference): void;
  warning(reason: string, note: string, action?: string, related?: ObjectReference): void;
}

export interface Reconcile<T extends KubeObject, O = unknown> {
  readonly key: string;
  /** As the cache has it, own writes included. Nobody may change it. */
  readonly object: DeepReadonly<Stored<T>>;
  /** Aborted with a `Cancelled`, which says why. Pass it on to everything that takes time. */
  readonly signal: AbortSignal;
  /** What the observer saw, if that still counts. */
  readonly observed: Knowledge<O>;
  readonly term: Pick<Term, 'holder' | 'transitions'>;
  /** Where the key came from, and all of the controller's. */
  readonly queue: WorkQueue;
  readonly queues: Readonly<Record<string, WorkQueue>>;
  /** For what the functions here do not cover. Its writes belong to this term, too. */
  readonly api: Api;
  now(): number;
  /** An object of a kind that this controller reflects. */
  read<C extends KubeObject>(kind: Kind<C>, key: string): DeepReadonly<Stored<C>> | undefined;
  /** What the object controls, of a kind that this controller owns. */
  children<C extends KubeObject>(kind: Kind<C>): readonly DeepReadonly<Stored<C>>[];
  /** Server-side apply: exactly these fields. Not sent if nothing changed since the same was applied. Read back at once. */
  apply<C extends KubeObject>(
    kind: Kind<C>,
    object: C & { readonly metadata: { readonly name: string } },
    options?: ChildOptions,
  ): Promise<DeepReadonly<Stored<C>>>;
  /** Deletes exactly this object, not a successor of the same name. */
  remove<C extends KubeObject>(
    kind: Kind<C>,
    object: DeepReadonly<Stored<C>>,
    options?: Pick<DeleteOptions, 'propagationPolicy' | 'gracePeriodSeconds' | 'resourceVersion'>,
  ): Promise<void>;
  /** Writes the whole status; false if it says so already. Its event does not wake the key. */
  status(status: StatusOf<T>, options?: StatusOptions): Promise<boolean>;
  readonly events: EventWriter;
  /** About another object, which this work sees to as well. */
  eventsOn(regarding: ObjectReference): EventWriter;
}
