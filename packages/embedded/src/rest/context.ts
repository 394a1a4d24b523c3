/** What the operations on objects work with. */
import type { Clock, Json, Random, Status } from '@reeve/kube';
import type { Registry, Served } from '../kinds/registry.ts';
import type { Draft, JsonObject } from '../object/draft.ts';
import type { PatchResult } from '../patch/result.ts';
import type { ServiceRanges } from '../services/ranges.ts';
import type { Store } from '../store/store.ts';

/** Who writes, for `metadata.managedFields`. */
export interface FieldOwner {
  readonly manager: string;
  readonly subresource: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type Patch = (object: JsonObject, patch: Json, served: Served) => PatchResult;

/**
 * The doors for what is written elsewhere. Each is optional: without it the server does not serve what needs it, and says
 * so. What they are given they may change.
 */
export interface Plugins {
  readonly patches?: {
    /** RFC 7386. */
    readonly merge?: Patch;
    /** RFC 6902. */
    readonly json?: Patch;
    readonly strategic?: Patch;
  };
  readonly fields?: {
    /** The object with its managed fields after a write that is no apply. */
    track(object: JsonObject, old: JsonObject | undefined, owner: FieldOwner, served: Served): JsonObject;
    /** Server-side apply: the object as it will be. `defaulted` fills in what belongs to nobody. */
    apply(
      applied: JsonObject,
      old: JsonObject | undefined,
      owner: FieldOwner & { readonly force: boolean; defaulted(object: JsonObject): JsonObject },
      served: Served,
    ): { readonly object: JsonObject } | { readonly status: Status };
    /** The last step: what differs in nothing but the times of its managers keeps them, so that nothing is written. */
    keepTimes(old: JsonObject, object: JsonObject): JsonObject;
  };
}

/** A write that is about to be stored. */
export interface Write {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly target: Target;
  /** Absent when it is deleted. */
  readonly object?: Draft;
  /** Absent when it is new. */
  readonly old?: Draft;
  readonly dryRun: boolean;
}

/** Asks the admission policies. Throws their refusal, or answers with their warnings. */
export type Admit = (write: Write) => readonly string[];

export interface Context {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly plugins: Plugins;
  readonly ranges: ServiceRanges;
  /** New pods get a service account and its token. */
  readonly hasAccounts: boolean;
  /** Absent when there is nobody to ask, and for what the server does itself. */
  readonly admit?: Admit;
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
  readonly check?: WriteCheck | undefined;
}

/** Throws when whoever sent the object may not write it so. Asked before the object itself is checked. */
export type WriteCheck = (object: Draft, old: Draft | undefined) => void;

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
