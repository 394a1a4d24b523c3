/** What agents in pods need in the API: the account and rights of all of them, and a Member for each pod. Applies only. */
import type { AnyObject } from '@reeve/kube';
import { canonicalJson, podAgentRights } from '@reeve/runtime';
import type { Api, Reconcile } from '@reeve/runtime/manager';
import { accounts, members, type RedisClusterObject, roleBindings } from '../api/kinds.ts';
import { labelsOf } from '../plan/children.ts';
import { endpointOf, type PodFacts } from '../plan/pods.ts';
import { sameEndpoint } from '../plan/topology.ts';

const kinds = [accounts, roleBindings];

/** Of a namespace: they are the same for all clusters in it, and outlive each. Only for agents that are narrowed (agent-policy.ts). */
export async function declareAgentRights(api: Api, namespace: string, signal: AbortSignal): Promise<void> {
  for (const manifest of podAgentRights(namespace) as readonly unknown[] as readonly AnyObject[]) {
    const kind = kinds.find((one) => one.kind === manifest.kind);
    if (!kind) throw new TypeError(`agents have no ${String(manifest.kind)}`);
    await api.resource(kind, namespace).apply(manifest as never, { fieldManager: 'redis', force: true, signal });
  }
}

/** A pod owns its member: it goes with the pod, and the next pod of that name gets its own. */
export async function declarePodMembers(work: Reconcile<RedisClusterObject>, pods: readonly PodFacts[]): Promise<void> {
  const { name: cluster, namespace = '' } = work.object.metadata;
  for (const pod of pods) {
    const endpoint = endpointOf(pod);
    if (!endpoint || pod.isDeleting) continue;
    const { name, uid } = pod;
    const present = work.read(members, `${namespace}/${name}`);
    const isOwn = present?.spec.pod?.uid === uid;
    const { annotations } = pod;
    const isAsTold = canonicalJson(present?.spec.annotations ?? {}) === canonicalJson(annotations);
    if (isOwn && isAsTold && sameEndpoint(present.spec.endpoint, endpoint)) continue;
    // That of the pod before, which goes with it: what its agent said is nothing that this one did.
    if (!isOwn && (present?.metadata.ownerReferences ?? []).length > 0) continue;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name, uid }];
    // A pod can be told the name of its worker node, and none of its labels.
    const place = Object.keys(annotations).length > 0 && { annotations };
    const spec = { system: 'redis', endpoint, pod: { name, uid }, ...place };
    const metadata = { name, labels: labelsOf(cluster), ownerReferences };
    await work.apply(members, { metadata, spec } as never, { owned: false });
  }
}
