/** What the store keeps: texts under keys, each with the revision that wrote it. It does not know what the texts mean. */

export interface Key {
  /** `pods`, `statefulsets.apps`. */
  readonly resource: string;
  /** Empty for resources that live in no namespace. */
  readonly namespace: string;
  readonly name: string;
}

export interface Entry {
  readonly key: Key;
  /** Where it stands within its resource; see `placeOf`. */
  readonly place: string;
  /** The write that made it. */
  readonly revision: number;
  readonly body: string;
  /** For whoever reads it: what was worked out once and need not be worked out again. The store never looks. */
  note: unknown;
}

export interface StoreEvent {
  readonly revision: number;
  /** The new state, or the last one of an object that is gone, as of this revision. */
  readonly entry: Entry;
  readonly previous: Entry | undefined;
  readonly deleted: boolean;
  /** When it became visible, in milliseconds. */
  readonly at: number;
  /** For listeners, to share what they make of it (bytes, most likely) while they are told; then it is dropped. */
  note: unknown;
}

/** One line of the journal: a revision and what it made of its key. */
export interface Row {
  readonly revision: number;
  readonly key: Key;
  readonly deleted: boolean;
  readonly body: string;
}

/**
 * Keys of one resource sort as etcd sorts them, by `namespace/name` as one text: `a-b/x` comes before `a/x`, because a
 * dash is smaller than a slash. Pages of a list depend on it.
 */
export function placeOf({ namespace, name }: Pick<Key, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

export function entryOf(row: Row, note?: unknown): Entry {
  return { key: row.key, place: placeOf(row.key), revision: row.revision, body: row.body, note };
}
