/** What the server must know of a kind to serve it. Built-in kinds are a table of these; custom ones are made from CRDs. */
import type { Random } from '@reeve/kube';
import type { Draft, JsonObject } from '../object/draft.ts';
import type { NameRule } from '../object/names.ts';
import type { ServiceRanges } from '../services/ranges.ts';
import type { FieldError } from '../status/field-error.ts';
import type { KindTypes } from '../types/kind-types.ts';

export type Verb = 'create' | 'get' | 'list' | 'watch' | 'update' | 'patch' | 'delete' | 'deletecollection';

export interface ScalePaths {
  /** `.spec.replicas` */
  readonly spec: string;
  readonly status: string;
  /** Where the selector stands, as text or as a LabelSelector. */
  readonly selector: string | undefined;
}

/**
 * The door for schemas: what is done with objects of one kind in one version. The server works without it; what it does
 * itself are the rules that all kinds share.
 */
export interface ObjectRules {
  /** Prunes and defaults in place. Doing it twice changes nothing. */
  decode(object: JsonObject): Decoding;
  /** Defaults alone, in place. Without it, objects that are applied are decoded. */
  fill?(object: JsonObject): void;
  /** What is wrong with a new object. Its metadata is checked by the server. */
  validate(object: JsonObject): readonly FieldError[];
  validateUpdate(object: JsonObject, old: JsonObject): readonly FieldError[];
  validateStatusUpdate(object: JsonObject, old: JsonObject): readonly FieldError[];
}

export interface Decoding {
  /** Fields that were dropped because nobody knows them, as paths. */
  readonly unknown: readonly string[];
  /** Why it cannot be read at all. */
  readonly error?: FieldError;
}

/** A version of a kind that shares its storage with another kind, as events of two groups do. */
export interface Conversion {
  toStored(object: Draft): Draft;
  fromStored(object: Draft): Draft;
}

/** A subresource that leads to what an object stands for, not to a part of it. */
export interface Connection {
  readonly name: 'log' | 'exec';
  /** What discovery calls it. */
  readonly kind: string;
  readonly verbs: readonly string[];
}

export interface KindVersion {
  readonly name: string;
  /** What is one value and what has parts, for ownership and patches; and the form in which objects are kept. */
  readonly types: KindTypes;
  readonly rules?: ObjectRules;
  readonly scale?: ScalePaths;
  readonly status: boolean;
  /** Further subresources, as discovery shows them: `finalize`. */
  readonly others?: readonly string[];
  /** Served only where somebody is there who can. */
  readonly connects?: readonly Connection[];
  readonly conversion?: Conversion;
  /** Told to whoever uses it. */
  readonly deprecationWarning?: string;
  /** What field selectors may name, besides name and namespace. */
  readonly fields: readonly string[];
}

export interface Circumstances {
  readonly now: string;
  readonly subresource: string;
  /** What is served by then. */
  readonly kinds: readonly Kind[];
}

/** What the server can give to objects. */
export interface Allocation {
  readonly dryRun: boolean;
  readonly random: Random;
  readonly ranges: ServiceRanges;
  /** What the other objects of the kind hold, durable or not. */
  readonly taken: () => ReadonlySet<string>;
}

export interface Kind {
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly Verb[];
  /** Served ones, the preferred first. */
  readonly versions: readonly KindVersion[];
  /** The name of the store's resource. Kinds with the same one are views of the same objects. */
  readonly stored: string;
  /** Default: the first version. */
  readonly storageVersion?: string;
  /** Where etcd would have it; it appears in messages. */
  readonly registryPath: string;
  /** Custom objects carry kind and version in lists, and are written with their keys in order. */
  readonly custom: boolean;
  readonly nameRule: NameRule;
  /** An update of what does not exist creates it. */
  readonly createOnUpdate: boolean;
  /** An update may leave the version out. */
  readonly unconditionalUpdate: boolean;
  /** A deletion answers with the object instead of a Status. */
  readonly returnsDeleted: boolean;
  readonly dependents: 'delete' | 'orphan' | 'unsupported';
  /** What counts as a change that makes a new generation; undefined: there are no generations. */
  readonly generation: 'spec' | 'content' | undefined;
  /** What of the metadata an update of the status leaves as it was: all, or these. */
  readonly statusKeeps: 'all' | readonly string[];
  /** How the server says that a field cannot be selected. */
  fieldProblem(field: string): string;
  /** Its definition is being deleted: nothing new may be made. */
  readonly terminating?: boolean;
  /** Fills in what is not said. Done whenever an object is read from a client. */
  defaults?(object: Draft): void;
  /** What else a kind does to a new or changed object before it is checked. */
  prepareCreate?(object: Draft, at: Circumstances): void;
  prepareUpdate?(object: Draft, old: Draft, at: Circumstances): void;
  /**
   * Gives an object what the server must choose for it. Whose fields are whose is settled by then: it belongs to nobody.
   * Throws a refusal when what is asked for cannot be had. Not asked when only the status is written.
   */
  allocate?(object: Draft, old: Draft | undefined, at: Allocation): void;
  /** What no two objects of the kind may hold. */
  holds?(object: Draft): readonly string[];
  /** What is wrong with an object that is new or has been changed, by its own path or by that of its status. */
  validate?(object: Draft, old: Draft | undefined, subresource: string): readonly FieldError[];
  /** What is odd about it, but not wrong. */
  warn?(object: Draft, old: Draft | undefined): readonly string[];
  /** Seconds of grace for a deletion; undefined: this kind is not deleted gracefully. */
  grace?(object: Draft, wanted: number | bigint | undefined): number | bigint | undefined;
  /** Told to whoever deletes without saying what shall become of dependents. */
  readonly warnDelete?: string;
  /** Why an object may not be deleted at all. */
  refuseDelete?(name: string): string | undefined;
  /** The first deletion marks the object in a way of its own and leaves it there. */
  beginDelete?(object: Draft, now: string): void;
  /** An object being deleted stays although it has no finalizers in its metadata: namespaces have some in their spec. */
  isHeld?(object: Draft): boolean;
}

/** The opening of an object as it is sent. */
export function prefixOf({ custom, kind }: Pick<Kind, 'custom' | 'kind'>, apiVersion: string): string {
  return custom
    ? `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},`
    : `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}

/** A value as field selectors see it. */
export function selectable(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : '';
}
