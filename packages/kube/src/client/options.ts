/** Options of calls, and how they are written into a query. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** What is made of the objects that a server sends. */
export interface AnswerOptions extends CallOptions {
  /** Sets `metadata.managedFields` to undefined, or leaves them out: often a third of an object, and rarely read. */
  readonly dropManagedFields?: boolean;
  /**
   * Parses metadata at once and every other field when it is first read: what nobody reads costs little time and only the room of
   * its text. Default false. Such an object reads like any other, but a field that is no JSON is found (KUBE_JSON) when it is read,
   * and no field can be assigned to.
   */
  readonly lazy?: boolean;
}

export interface GetOptions extends AnswerOptions {
  /** At least this new; `0` is whatever the server has at hand. Default: the newest. */
  readonly resourceVersion?: string;
  readonly subresource?: string;
}

export interface Selection {
  /** Text as kubectl takes it, or labels that must all be equal. */
  readonly labelSelector?: string | Readonly<Record<string, string>>;
  readonly fieldSelector?: string;
}

export interface ReadOptions extends AnswerOptions, Selection {}

export interface ListOptions extends ReadOptions {
  /** The size of a page. Default: no limit for `list`, 500 for `pages` and `listAll`. */
  readonly limit?: number;
  /** From the page before. */
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface WatchOptions extends ReadOptions {
  /** The version after which events are wanted. Without one the server begins with everything there is. */
  readonly resourceVersion?: string;
  /** Marks that move the version on while nothing happens. Default true; without them a quiet watch grows old. */
  readonly bookmarks?: boolean;
  /**
   * A streaming list: first everything that exists as ADDED in no order, then a bookmark with `initialEventsEnd`, then
   * events. The version counts only from that bookmark on.
   */
  readonly sendInitialEvents?: boolean;
  /** After this the server ends the watch in good order. Default: the server's choice, 30 to 60 minutes. */
  readonly timeoutSeconds?: number;
}

export interface WriteOptions extends AnswerOptions {
  /** In whose name fields are owned. Default: the client's. */
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  /** What the server does with fields it does not know. Default: `Strict`, so that a misspelt field is an error. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  readonly subresource?: string;
}

export interface ApplyOptions extends WriteOptions {
  /** Take fields over from other managers. Default false: a conflict is an error that names them. */
  readonly force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  /** Preconditions: nothing is deleted when the object is another one, or another version, by then. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** What becomes of dependents. Default: the kind's. */
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

/** `path?a=b`, without what is undefined. */
export function withQuery(
  path: string,
  values: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  // Not URLSearchParams, which takes longer than all else that a request needs.
  let query = '';
  for (const name in values) {
    const value = values[name];
    if (value !== undefined) query += `${query === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return path + query;
}

export function selectionQuery({ labelSelector, fieldSelector }: Selection) {
  const labels =
    typeof labelSelector === 'object'
      ? Object.entries(labelSelector)
          .map(([name, value]) => `${name}=${value}`)
          .join(',')
      : labelSelector;
  return { labelSelector: labels, fieldSelector };
}
