/** The proof that a pod may be replaced out of turn, from what the server has at this moment. */
import type { Reconcile } from '@reeve/runtime/manager';
import { pods, type RedisClusterObject, statefulSets } from '../api/kinds.ts';
import { isBroken } from '../plan/broken-pods.ts';
import { namesOf } from '../plan/children.ts';
import type { PodMember } from '../plan/pods.ts';
import { podFacts } from './cluster-facts.ts';

type Work = Pick<Reconcile<RedisClusterObject>, 'object' | 'api' | 'signal'>;

/** Caches lag: by now it may run, or be of the newest kind after all. That nobody answers in it is the look's to say. */
export async function isBrokenNow({ object, api, signal }: Work, { name, uid }: PodMember): Promise<boolean> {
  const { name: cluster, namespace } = object.metadata;
  const setName = namesOf(cluster).statefulSet;
  const set = await api.resource(statefulSets, namespace).find(setName, { signal });
  const fieldSelector = `metadata.name=${name}`;
  const { items } = await api.resource(pods, namespace).list({ fieldSelector, signal });
  return podFacts(items, { set, setName, spreadBy: [], workerNode: () => undefined }).some(
    (pod) => pod.uid === uid && isBroken(pod),
  );
}
