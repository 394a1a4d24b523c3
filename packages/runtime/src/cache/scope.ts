import { ReeveError } from '../errors/errors.ts';

/** What a cache is asked to hold. */
export interface CacheScope {
  /** '' for the core group. */
  readonly group: string;
  readonly kind: string;
  /** One namespace, or all of them. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /**
   * Cache all objects of a heavy kind. Danger: all Pods of a cluster are 10 to 40 KB each, and all Secrets are a gift for whoever
   * reads this process's memory.
   */
  readonly unscoped?: boolean;
}

/** Kinds of which a cluster has tens of thousands, or whose content nobody should hold without need. */
const heavy: readonly string[] = [
  ...['/Secret', '/ConfigMap', '/Event', '/Pod', '/Endpoints'],
  ...['events.k8s.io/Event', 'discovery.k8s.io/EndpointSlice', 'apps/ReplicaSet', 'apps/ControllerRevision'],
  ...['coordination.k8s.io/Lease', 'batch/Job'],
];

/** Throws if the cache would hold a whole heavy kind without having been told to. */
export function demandScope(scope: CacheScope): void {
  const { group, kind, namespace, labelSelector, fieldSelector, unscoped } = scope;
  if (unscoped || namespace || labelSelector || fieldSelector) return;
  if (!heavy.includes(`${group}/${kind}`)) return;
  throw new ReeveError('CACHE_UNSCOPED', `a cache of all objects of kind ${kind} in all namespaces was not asked for`, {
    subjects: [kind],
  });
}
