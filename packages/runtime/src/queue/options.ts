import { type BackoffOptions, queueBackoff } from '../backoff/backoff.ts';
import { ReeveError } from '../errors/errors.ts';
import type { Lane } from './fair-share.ts';
import type { QueueMetrics } from './metrics.ts';

export interface QueueOptions {
  /** In metrics and messages. */
  readonly name: string;
  /** The most urgent first. Default: one lane `default`. A lane of weight 3 is served three times as often as one of 1. */
  readonly lanes?: readonly Lane[];
  /** Keys of one group take turns with other groups. Default: what is before the `/` of the key, its namespace. */
  groupOf?(key: string): string;
  /** How many keys a group may give per turn. Default 1; less than 1 counts as 1. */
  weightOf?(group: string): number;
  /**
   * For a queue with several types of worker: which type this key is for, asked when the key becomes ready.
   * Default: all keys are for everybody.
   */
  routeOf?(key: string): string;
  /** The routes there are. A route that is not named is an error, for no worker would ever take its keys. */
  readonly routes?: readonly string[];
  /** There is no queue without backoff: a hot loop is a bug that takes a cluster down. */
  readonly backoff?: BackoffOptions;
  /**
   * A key that fails and is added meanwhile (its spec may be right now) waits no longer than this, default 1000 ms. Much
   * lower, and a key that fails and causes its own events is a hot loop.
   */
  readonly eagerMs?: number;
  readonly metrics?: QueueMetrics;
}

export type Settings = Required<Omit<QueueOptions, 'metrics'>> & { readonly metrics: QueueMetrics | undefined };

export const EVERYBODY = '';

export function settingsOf(options: QueueOptions): Settings {
  const lanes = options.lanes ?? [{ name: 'default', weight: 1 }];
  const backoff = options.backoff ?? queueBackoff;
  const wrong =
    lanes.length === 0 || new Set(lanes.map(({ name }) => name)).size < lanes.length
      ? 'lanes must be there and have different names'
      : lanes.some(({ weight }) => !Number.isInteger(weight) || weight < 1)
        ? 'the weight of a lane is a whole number from 1'
        : !(backoff.baseMs > 0 && backoff.factor >= 1 && backoff.capMs >= backoff.baseMs && backoff.jitter > 0)
          ? 'a backoff needs a base, a factor from 1, a cap above the base and jitter'
          : undefined;
  if (wrong !== undefined) throw new ReeveError('QUEUE_OPTIONS', `queue ${options.name}: ${wrong}`);
  return {
    name: options.name,
    lanes,
    groupOf: options.groupOf ?? namespaceOf,
    weightOf: options.weightOf ?? (() => 1),
    routeOf: options.routeOf ?? (() => EVERYBODY),
    routes: options.routes ?? [EVERYBODY],
    backoff,
    eagerMs: options.eagerMs ?? 1_000,
    metrics: options.metrics,
  };
}

function namespaceOf(key: string): string {
  const slash = key.indexOf('/');
  return slash < 0 ? '' : key.slice(0, slash);
}
