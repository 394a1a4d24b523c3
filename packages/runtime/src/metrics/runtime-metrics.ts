/** The metrics of a manager, under the names that dashboards made for controller-runtime and client-go look for. */
import type { QueueMetrics, QueueStats } from '../queue/metrics.ts';
import { type Counter, type Gauge, type Histogram, type Reading, Registry } from './registry.ts';

/** Of queues, client-go has always used powers of ten from 10 ns. */
const queueBuckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1_000];

/** A queue that is asked for its state at each scrape. */
export interface MeasuredQueue {
  readonly controller: string;
  readonly name: string;
  stats(): QueueStats;
}

export interface MeasuredWorkers {
  readonly controller: string;
  readonly most: number;
  active(): number;
}

export class RuntimeMetrics {
  readonly registry = new Registry();
  readonly reconciles: Counter;
  readonly reconcileErrors: Counter;
  readonly terminalErrors: Counter;
  readonly panics: Counter;
  readonly timeouts: Counter;
  readonly reconcileSeconds: Histogram;
  readonly requests: Counter;
  readonly requestSeconds: Histogram;
  readonly requestRetries: Counter;
  readonly limiterSeconds: Histogram;
  readonly leading: Gauge;
  readonly hotLoops: Counter;
  readonly cancels: Counter;
  readonly statusSkips: Counter;
  readonly quietEvents: Counter;
  readonly gateWaits: Counter;
  readonly discardedObservations: Counter;
  readonly eventsDropped: Counter;
  readonly processing: Histogram;
  readonly #adds: Counter;
  readonly #waits: Histogram;
  readonly #works: Histogram;
  readonly #retries: Counter;
  readonly #queues = new Set<MeasuredQueue>();
  readonly #workers = new Set<MeasuredWorkers>();

  constructor() {
    const { registry: all } = this;
    const ofQueues = (value: (stats: QueueStats) => number) => () => this.#readQueues(value);
    all.read('workqueue_depth', 'Keys that are ready, by lane.', () => this.#readDepths());
    this.#adds = all.counter('workqueue_adds_total', 'Keys that became ready or were marked to run again.');
    this.#waits = all.histogram('workqueue_queue_duration_seconds', 'How long a key was ready.', queueBuckets);
    this.#works = all.histogram('workqueue_work_duration_seconds', 'How long a worker had a key.', queueBuckets);
    all.read(
      'workqueue_unfinished_work_seconds',
      'How long the keys with workers are there, all together.',
      ofQueues(({ unfinishedMs }) => unfinishedMs / 1_000),
    );
    all.read(
      'workqueue_longest_running_processor_seconds',
      'How long the oldest of them is there.',
      ofQueues(({ longestRunningMs }) => longestRunningMs / 1_000),
    );
    this.#retries = all.counter('workqueue_retries_total', 'Keys that failed and wait.');
    this.reconciles = all.counter('controller_runtime_reconcile_total', 'Runs of a reconcile, by result.');
    this.reconcileErrors = all.counter('controller_runtime_reconcile_errors_total', 'Runs that failed.');
    this.terminalErrors = all.counter(
      'controller_runtime_terminal_reconcile_errors_total',
      'Runs that failed for good: the key waits for a change.',
    );
    this.panics = all.counter(
      'controller_runtime_reconcile_panics_total',
      'Runs that failed by a bug: a TypeError, RangeError or ReferenceError.',
    );
    this.timeouts = all.counter('controller_runtime_reconcile_timeouts_total', 'Runs that took too long.');
    this.reconcileSeconds = all.histogram('controller_runtime_reconcile_time_seconds', 'How long a run took.');
    all.read('controller_runtime_max_concurrent_reconciles', 'How many keys may be worked on at once.', () =>
      sumByController(this.#workers, ({ most }) => most),
    );
    all.read('controller_runtime_active_workers', 'How many are.', () =>
      sumByController(this.#workers, ({ active }) => active()),
    );
    this.requests = all.counter('rest_client_requests_total', 'Requests to the API server, by code and method.');
    this.requestSeconds = all.histogram('rest_client_request_duration_seconds', 'How long the answer took.');
    this.requestRetries = all.counter('rest_client_request_retries_total', 'Requests that were sent again.');
    this.limiterSeconds = all.histogram(
      'rest_client_rate_limiter_duration_seconds',
      'How long a request waited for the budget of its class.',
    );
    this.leading = all.gauge('leader_election_master_status', '1 while this process leads.');
    this.processing = all.histogram(
      'informer_processing_latency_seconds',
      'How long the controllers took to take in an event.',
      queueBuckets,
    );
    this.hotLoops = all.counter('reeve_hot_loops_total', 'A key ran too often without a change of its spec.');
    this.cancels = all.counter('reeve_reconcile_cancels_total', 'Runs that were cancelled, by reason.');
    this.statusSkips = all.counter('reeve_status_writes_skipped_total', 'Status writes that would change nothing.');
    this.quietEvents = all.counter('reeve_own_status_events_total', 'Own status writes that woke nobody.');
    this.gateWaits = all.counter('reeve_gate_waits_total', 'Runs put off until own writes are in the cache.');
    this.discardedObservations = all.counter('reeve_observations_discarded_total', 'Overtaken by a change.');
    this.eventsDropped = all.counter('reeve_events_dropped_total', 'Kubernetes Events that were not written, by why.');
  }

  /** What a queue tells as it happens; its state is read at each scrape until `forget`. */
  queue(controller: string, name: string): QueueMetrics {
    const labels = { name, controller };
    return {
      added: () => this.#adds.add(labels),
      started: (_key, ms) => this.#waits.observe(labels, ms / 1_000),
      finished: (_key, ms) => this.#works.observe(labels, ms / 1_000),
      retried: () => this.#retries.add(labels),
    };
  }

  watch(...measured: readonly (MeasuredQueue | MeasuredWorkers)[]): () => void {
    for (const one of measured) {
      if ('stats' in one) this.#queues.add(one);
      else this.#workers.add(one);
    }
    return () => {
      for (const one of measured) {
        this.#queues.delete(one as MeasuredQueue);
        this.#workers.delete(one as MeasuredWorkers);
      }
    };
  }

  *#readQueues(value: (stats: QueueStats) => number): Generator<Reading> {
    for (const { name, controller, stats } of this.#queues)
      yield { labels: { name, controller }, value: value(stats()) };
  }

  *#readDepths(): Generator<Reading> {
    for (const { name, controller, stats } of this.#queues) {
      for (const [priority, value] of Object.entries(stats().depth))
        yield { labels: { name, controller, priority }, value };
    }
  }
}

function* sumByController(
  all: Iterable<MeasuredWorkers>,
  value: (workers: MeasuredWorkers) => number,
): Generator<Reading> {
  const sums = new Map<string, number>();
  for (const one of all) sums.set(one.controller, (sums.get(one.controller) ?? 0) + value(one));
  for (const [controller, sum] of sums) yield { labels: { controller }, value: sum };
}
