/** What a reflector needs of a client: list and watch of one kind in one scope. The kube client's resources fit. */
import type { Resource } from '../resource/resource.ts';

export interface ListRequest {
  /** '' reads the newest state; a version reads that state or a newer one. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch?: 'NotOlderThan';
  /** Undefined: all at once. */
  readonly limit?: number;
  readonly continue?: string;
}

export interface ListPage<T> {
  readonly items: Iterable<T>;
  readonly metadata: {
    readonly resourceVersion?: string;
    /** Absent or empty on the last page. */
    readonly continue?: string;
  };
}

export interface WatchRequest {
  readonly resourceVersion: string;
  readonly resourceVersionMatch?: 'NotOlderThan';
  readonly sendInitialEvents?: true;
  readonly allowWatchBookmarks: true;
  /** After how long the server is to end the watch. */
  readonly timeoutSeconds: number;
}

/** What a watch tells. An ERROR of the server is thrown, with its Status as `status` or as it is. */
export type WatchMessage<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      /** Nothing else happened up to this version. */
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      /** All that existed has been sent. */
      readonly initialEventsEnd: boolean;
    };

/** The request ends, and its connection with it, when this aborts. */
export interface Abortable {
  readonly signal: AbortSignal;
}

export interface ListWatch<T extends Resource> {
  list(request: ListRequest & Abortable): Promise<ListPage<T>>;
  /** One by one, or all together that arrived together, which is faster. */
  watch(request: WatchRequest & Abortable): AsyncIterable<WatchMessage<T> | readonly WatchMessage<T>[]>;
}

/** What is known of a failed request. No status: the server did not answer. */
export interface Failure {
  readonly status?: number;
  /** The word for machines: Expired, Timeout … */
  readonly reason?: string;
  /** The server cannot serve this version yet: it lags behind the one that told us of it. */
  readonly isTooLarge?: boolean;
  readonly retryAfterMs?: number;
  readonly message: string;
}

interface StatusLike {
  readonly code?: unknown;
  readonly status?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly retryAfterMs?: unknown;
  readonly details?: { readonly retryAfterSeconds?: unknown; readonly causes?: unknown };
}

/** Reads a Status, or an error that carries one as `status`, or any other thing that was thrown. */
export function failureOf(thrown: unknown): Failure {
  const outer = asObject(thrown);
  const inner: StatusLike = typeof outer.status === 'object' && outer.status !== null ? outer.status : outer;
  const status = [inner.code, outer.status, outer.code].find((code) => typeof code === 'number');
  const reason = typeof inner.reason === 'string' ? inner.reason : undefined;
  const seconds = inner.details?.retryAfterSeconds;
  const retryAfterMs =
    typeof outer.retryAfterMs === 'number'
      ? outer.retryAfterMs
      : typeof seconds === 'number'
        ? seconds * 1_000
        : undefined;
  const message = [outer.message, inner.message].find((text) => typeof text === 'string') ?? String(thrown);
  const causes = Array.isArray(inner.details?.causes) ? (inner.details.causes as readonly unknown[]) : [];
  const isTooLarge =
    causes.some((cause) => asObject(cause).reason === 'ResourceVersionTooLarge') ||
    /Too large resource version/.test(message);
  return {
    message,
    ...(status !== undefined && { status }),
    ...(reason !== undefined && { reason }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(isTooLarge && { isTooLarge }),
  };
}

function asObject(value: unknown): StatusLike {
  return typeof value === 'object' && value !== null ? value : {};
}
