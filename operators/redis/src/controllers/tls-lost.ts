/**
 * What servers were given of somebody's certificates is gone from the API, or never was there. Servers that run have what they have read;
 * another pair would lock them out. So it is asked what is known of it: by the status, and by the servers themselves.
 */
import { ReeveError, type Refusal } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import type { Certificates, TlsAccess } from '../api/certificates.ts';
import { CLUSTER_LABEL } from '../api/cluster.ts';
import { type Pod, pods, type RedisClusterObject, redisClusters } from '../api/kinds.ts';
import { SERVER_CONTAINER } from '../plan/children.ts';
import { lifeOf } from '../plan/pod-trouble.ts';
import { endpointOf } from '../plan/pods.ts';
import { takenDigest } from '../plan/tls-offer.ts';

interface Lost {
  /** Ours, which is not there. */
  readonly secretName: string;
  readonly certificates: Pick<Certificates, 'read' | 'presentedAt'>;
}

/** `same`: servers had exactly what is offered. `nothing`: none of them has read anything yet. */
export type LostTls = { readonly was: 'same' | 'nothing' } | { readonly was: 'other'; readonly refused: Refusal };

/** What to do about it ends with deleting pods: for this cluster that is no way out. */
const NO_STORAGE = '; this cluster has no storage: all its data would go with its pods';

/** By live reads only. */
export async function lostTls(
  { object, api, signal }: Pick<Reconcile<RedisClusterObject>, 'object' | 'api' | 'signal'>,
  { secretName, certificates }: Lost,
  offered: TlsAccess,
): Promise<LostTls> {
  const { name, namespace, uid } = object.metadata;
  const live = await api.resource(redisClusters, namespace).find(name, { signal });
  if (live?.metadata.uid !== uid) {
    throw new ReeveError('OBJECT_REPLACED', `RedisCluster ${name} is gone, or another one has its name`);
  }
  const taken = live.status?.tls?.taken;
  const isSaid = taken === takenDigest(offered);
  const labelSelector = `${CLUSTER_LABEL}=${name}`;
  const { items } = await api.resource(pods, namespace).list({ labelSelector, signal });
  // One that ran in this pod before finds the files that it had then.
  const begun = items.filter((pod) => lifeOf(pod, SERVER_CONTAINER) !== 'unstarted');
  if (begun.length === 0) return { was: isSaid ? 'same' : 'nothing' };
  const fingerprint = certificates.read(offered.cert)?.fingerprint;
  const isOther = async ({ status }: Pod): Promise<boolean> => {
    // The status knows that it was another one: a server that shows the same certificate has other authorities.
    if (fingerprint === undefined || (taken !== undefined && !isSaid)) return true;
    const endpoint = status?.podIP ? endpointOf({ ip: status.podIP }) : undefined;
    const shown = endpoint && (await certificates.presentedAt(endpoint, offered).catch(() => undefined));
    // A status may be behind: who gave servers more may have died before writing it down. They know better, if they answer.
    return shown === undefined ? !isSaid : shown !== fingerprint;
  };
  const others = await Promise.all(begun.map(async (pod) => ((await isOther(pod)) ? [pod.metadata.name] : [])));
  const names = others.flat();
  if (names.length === 0) return { was: 'same' };
  const whose = `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
  const message = `what it has is not known to be what ${whose} run with, and secret ${secretName}, which had that, is gone${object.spec.storage ? '' : NO_STORAGE}`;
  return { was: 'other', refused: { code: 'TLS_TAKEN_LOST', message, subjects: names.slice(0, 16) } };
}
