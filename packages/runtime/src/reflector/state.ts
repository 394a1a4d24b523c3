import type { BackoffOptions } from '../backoff/backoff.ts';
import { reflectorBackoff } from '../backoff/backoff.ts';
import { ReeveError } from '../errors/errors.ts';
import type { Failure, ListRequest, WatchRequest } from './port.ts';

/**
 * - `streaming`: a watch that begins with all objects; they count when its bookmark says that they were all.
 * - `listing`: the same by pages, for servers that cannot stream.
 * - `watching`: changes since the version reached.
 * - `waiting`: nothing is under way until a time; `next` comes then. `missing`: the kind is not installed.
 */
export type Phase = 'idle' | 'streaming' | 'listing' | 'watching' | 'waiting' | 'stopped';

export interface ReflectorState {
  readonly phase: Phase;
  /** What follows a wait. `page` goes on with the list where it was. */
  readonly next: 'sync' | 'page' | 'watch';
  /** Reached and committed; undefined before the first list is complete. Never goes back but by a quorum list. */
  readonly version: string | undefined;
  /** From which time the next list may be: our own version or later, or (having failed so) the very newest. */
  readonly rung: 'last' | 'quorum';
  /** False once the server has shown that it cannot stream lists. */
  readonly streams: boolean;
  readonly token: string | undefined;
  /** How often in a row the token for the next page had expired: some lists are faster read in one piece. */
  readonly expiredTokens: number;
  readonly failures: number;
  readonly failedAt: number;
  readonly openedAt: number;
  /** When the last list was complete. */
  readonly syncedAt: number;
  /** Objects and bookmarks of the watch that is open. */
  readonly heard: number;
  /** The kind is not installed. The cache is kept: a server that is starting says the same. */
  readonly isMissing: boolean;
  /** How often, since the start: for metrics. */
  readonly lists: number;
  readonly watches: number;
  readonly shortWatches: number;
  readonly silences: number;
}

export const initial: ReflectorState = {
  phase: 'idle',
  next: 'sync',
  version: undefined,
  rung: 'quorum',
  streams: true,
  token: undefined,
  expiredTokens: 0,
  failures: 0,
  failedAt: Number.NEGATIVE_INFINITY,
  openedAt: 0,
  syncedAt: Number.NEGATIVE_INFINITY,
  heard: 0,
  isMissing: false,
  lists: 0,
  watches: 0,
  shortWatches: 0,
  silences: 0,
};

export type Input =
  | { readonly type: 'start' | 'stop' | 'due' | 'ended' | 'silent' }
  | { readonly type: 'event'; readonly version: string | undefined }
  | { readonly type: 'bookmark'; readonly version: string; readonly isInitialEnd: boolean }
  | { readonly type: 'page'; readonly version: string; readonly token: string | undefined }
  | { readonly type: 'failed'; readonly failure: Failure };

/** The first four take time and end with an input; there is never more than one of them. The others are done at once. */
export type Effect =
  | { readonly do: 'list'; readonly request: ListRequest; readonly silenceMs: number }
  | { readonly do: 'watch'; readonly request: WatchRequest; readonly silenceMs: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'end' }
  /** Forget what was staged: a list begins. */
  | { readonly do: 'begin' }
  /** The object or objects of this input belong to the list. */
  | { readonly do: 'stage' }
  /** The list is complete, and true at this version. */
  | { readonly do: 'commit'; readonly version: string }
  /** The object of this input is a change. */
  | { readonly do: 'apply' }
  | { readonly do: 'bookmark'; readonly version: string };

export interface ReflectorOptions {
  readonly backoff: BackoffOptions;
  /** After this long without failure the backoff starts afresh. */
  readonly resetMs: number;
  /** The server is asked to end each watch after a time between these, so that not all come back together. */
  readonly watchMs: readonly [least: number, most: number];
  /**
   * A watch on which nothing comes for this long, no bookmark either, is taken for dead. Bookmarks come once a minute: less than
   * 60 s would end healthy watches.
   */
  readonly silenceMs: readonly [least: number, most: number];
  /** How often to look for a kind that is not installed. */
  readonly missingMs: readonly [least: number, most: number];
  readonly pageSize: number;
  /** A watch that ends sooner than this is a fault of something, and the next one waits. */
  readonly shortMs: number;
  /** False for servers that are known not to stream lists. */
  readonly streams: boolean;
}

export const reflectorDefaults: ReflectorOptions = {
  backoff: reflectorBackoff,
  resetMs: 120_000,
  watchMs: [300_000, 600_000],
  silenceMs: [75_000, 90_000],
  missingMs: [20_000, 40_000],
  pageSize: 500,
  shortMs: 1_000,
  streams: true,
};

export function reflectorOptions(options: Partial<ReflectorOptions>): ReflectorOptions {
  const all = { ...reflectorDefaults, ...options };
  if (all.silenceMs[0] < 60_000) {
    throw new ReeveError('REFLECTOR_OPTIONS', 'silenceMs below 60 s would end healthy watches between two bookmarks');
  }
  if (all.backoff.jitter <= 0 || all.backoff.baseMs <= 0) {
    throw new ReeveError('REFLECTOR_OPTIONS', 'a reflector without backoff and jitter is a storm in waiting');
  }
  return all;
}
