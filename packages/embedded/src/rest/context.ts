/** What the operations on objects work with. */
import type { Clock, Json, Random } from '@reeve/kube';
import type { Registry, Served } from '../kinds/registry.ts';
import type { Draft } from '../object/draft.ts';
import type { Store } from '../store/store.ts';

/** Who writes which part of an object, for `metadata.managedFields`. */
export interface FieldOwner {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339, in seconds. */
  readonly now: string;
}

/**
 * The doors for what is written elsewhere. Each is optional: without it the server does not serve what needs it, and says
 * so. All of them may throw a `Refusal`.
 */
export interface Plugins {
  readonly patches?: {
    /** RFC 7386. */
    merge?(target: Draft, patch: Json, served: Served): Json;
    /** RFC 6902. */
    json?(target: Draft, patch: Json, served: Served): Json;
    strategic?(target: Draft, patch: Json, served: Served): Json;
  };
  readonly fields?: {
    /** The managed fields after a write that is no apply. Changes the object. */
    updated(object: Draft, old: Draft | undefined, owner: FieldOwner, served: Served): void;
    /** Server-side apply: the object as it will be. */
    apply(
      applied: Draft,
      old: Draft | undefined,
      owner: FieldOwner & { readonly force: boolean },
      served: Served,
    ): Draft;
  };
}

export interface Context {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly plugins: Plugins;
}

/** One object, or a collection when there is no name. */
export interface Target {
  readonly served: Served;
  /** Empty: none, or all. */
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
}

/** An answer with an object in it. */
export interface Outcome {
  readonly code: number;
  /** JSON. */
  readonly text: string;
  readonly warnings: readonly string[];
}

export const keyOf = ({ served, namespace, name }: Pick<Target, 'served' | 'namespace' | 'name'>) => ({
  resource: served.kind.stored,
  namespace: served.kind.namespaced ? namespace : '',
  name,
});

/** Times of objects have seconds, no parts of them. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
