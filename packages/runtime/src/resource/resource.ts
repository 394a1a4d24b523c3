/** What the blocks need to know of a Kubernetes object; the kube client's types fit without conversion. */
export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Resource {
  readonly metadata: Metadata;
}

/**
 * Cached objects are handed out as they are: copying costs more than parsing did. Nobody may change them, so says the type;
 * tests freeze them.
 */
export type DeepReadonly<T> = T extends (infer U)[]
  ? readonly DeepReadonly<U>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** `namespace/name`, or the name alone for kinds without namespaces. */
export function keyOf({ metadata }: Resource): string {
  return metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
}

/** What happened to an object, as seen from this cache. */
export interface ResourceEvent<P> {
  readonly change: 'added' | 'changed' | 'removed';
  readonly key: string;
  readonly uid: string;
  /** The object as it is in the cache now; for `removed` as it was last seen. */
  readonly object: DeepReadonly<P>;
  /** For `changed`: as it was before. */
  readonly previous?: DeepReadonly<P>;
  /**
   * For `removed`: false if nobody saw it go; it was missing in a list, and its last state is unknown. Even `true` only says
   * that it no longer matches what is watched: read it again before destroying anything.
   */
  readonly final?: boolean;
  /** Found by a list, not told by a watch: at the start, or after a gap. */
  readonly listed: boolean;
  /** Exactly the state that this process wrote itself, told by a watch: nothing else happened in between. */
  readonly own: boolean;
}
