/**
 * What a queue tells about itself. Counters and durations are told as they happen; what is a state is asked for with
 * `stats()` when somebody scrapes. The names people know from dashboards (`workqueue_depth` …) follow from these.
 */
export interface QueueMetrics {
  /** An add that made a key ready or marked it to run again (not one that was a duplicate): `adds_total`. */
  added?(key: string, lane: string): void;
  /** A worker took the key after it waited this long: `queue_duration_seconds`. */
  started?(key: string, waitedMs: number): void;
  /** `work_duration_seconds`. */
  finished?(key: string, workedMs: number): void;
  /** The key failed and waits: `retries_total`. */
  retried?(key: string, failures: number, delayMs: number): void;
  /** `routeOf` named a route that the queue does not have; the key is asked about again with backoff. */
  misrouted?(key: string, route: string): void;
}

export interface QueueStats {
  /** Ready keys: `depth`, by lane. */
  readonly depth: Readonly<Record<string, number>>;
  /** Ready keys by route: one that only grows has no worker. */
  readonly routes: Readonly<Record<string, number>>;
  readonly delayed: number;
  readonly running: number;
  /** Sum of how long the running ones have been running: `unfinished_work_seconds`. */
  readonly unfinishedMs: number;
  /** `longest_running_processor_seconds`. */
  readonly longestRunningMs: number;
}
