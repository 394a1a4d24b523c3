/** What the runtime needs of a Kubernetes client. `KubeClient` fits; a test or the simulation passes one with another transport. */
import type { KubeObject, Resource, ResourceClient, Selection, Stored } from '@reeve/kube';
import type { ListWatch, WatchMessage } from '../reflector/port.ts';

/** What a kind is called and where it is served; the type of its objects rides along. Made with `resource` of the client. */
export type Kind<T extends KubeObject> = Resource<T>;

export type ResourceApi<T extends KubeObject> = Pick<
  ResourceClient<T>,
  'get' | 'find' | 'list' | 'watchBatches' | 'create' | 'update' | 'patch' | 'apply' | 'delete'
>;

export interface Api {
  /** Without a namespace: all of them, to list and to watch. */
  resource<T extends KubeObject>(kind: Kind<T>, namespace?: string): ResourceApi<T>;
}

/** What a cache makes of objects: managed fields are of no use to it, and most other fields are never read. */
export const asCached = { dropManagedFields: true, lazy: true } as const;

/** The client's list and watch as a reflector asks for them. */
export function listWatchOf<T extends KubeObject>(
  api: ResourceApi<T>,
  selection: Selection = {},
): ListWatch<Stored<T>> {
  const shared = { ...selection, ...asCached };
  return {
    list: ({ resourceVersion, ...request }) =>
      api.list({ ...shared, ...request, ...(resourceVersion !== '' && { resourceVersion }) }),
    watch: ({ resourceVersion, sendInitialEvents, timeoutSeconds, signal }) =>
      api.watchBatches({
        ...shared,
        timeoutSeconds,
        signal,
        ...(resourceVersion !== '' && { resourceVersion }),
        ...(sendInitialEvents && { sendInitialEvents }),
      }) as AsyncIterable<readonly WatchMessage<Stored<T>>[]>, // what a watch tells came from a server
  };
}

/** The name of a kind in messages, metrics and keys of maps: `redisclusters.redis.reeve.dev`. */
export function kindName({ plural, group }: Pick<Kind<KubeObject>, 'plural' | 'group'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}
