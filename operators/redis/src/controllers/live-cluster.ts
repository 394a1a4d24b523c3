/** A cluster as the server has it at this moment: what follows from its status must not rest on a cache that lags. */
import { ReeveError } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import { type RedisClusterObject, redisClusters } from '../api/kinds.ts';

/** Throws if it is gone: then nothing is done for it. */
export async function liveCluster(
  work: Pick<Reconcile<RedisClusterObject>, 'api' | 'key' | 'object' | 'signal'>,
): Promise<RedisClusterObject> {
  const { name, namespace, uid } = work.object.metadata;
  const live = await work.api.resource(redisClusters, namespace).find(name, { signal: work.signal });
  if (live?.metadata.uid === uid) return live;
  throw new ReeveError('OBJECT_REPLACED', `RedisCluster ${work.key} is gone, or another one has its name`);
}
