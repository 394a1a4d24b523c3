/** What would become of a cluster's objects, as their server says. */
import { apiVersionOf, isKubeError, type KubeObject, type Resource } from '@reeve/kube';
import {
  configMaps,
  disruptionBudgets,
  type RedisClusterObject,
  redisClusters,
  secrets,
  services,
  statefulSets,
} from '../../api/kinds.ts';
import { configMapOf, disruptionBudgetOf, namesOf, servicesOf, statefulSetOf } from '../../plan/children.ts';
import { safeReplicas } from '../../plan/shrink.ts';
import { connectOptionsOf } from '../credentials.ts';
import { configDigest } from '../declare.ts';
import type { Around, DryRunPorts } from './around.ts';
import { type FieldChange, fieldChanges } from './field-changes.ts';

export interface ObjectPlan {
  readonly kind: string;
  readonly name: string;
  /** `refused`: the server would not take it. `unknown`: whoever asks may not ask the server that. */
  readonly change: 'create' | 'change' | 'none' | 'refused' | 'unknown';
  /** Why it is refused. */
  readonly message?: string;
  /** What of it changes. */
  readonly fields?: readonly FieldChange[];
}

type Named = KubeObject & { readonly metadata: { readonly name: string } };

/** Of servers that somebody else runs there are none. */
export async function childrenOf(given: DryRunPorts, around: Around): Promise<readonly ObjectPlan[]> {
  const { cluster, desired, secret, seen, present, users, held } = around;
  if (desired.members === 'external') return [];
  const { name } = cluster.metadata;
  const replicas = cluster.status?.currentOperation
    ? Math.max(present ?? 0, desired.size)
    : safeReplicas(desired.size, present, seen.members, seen.view);
  const wanted = held ? { ...desired, image: held.image } : desired;
  const set = statefulSetOf(name, wanted, { replicas, configDigest: configDigest(desired, users) });
  const children: readonly (readonly [Resource<never>, Named])[] = [
    [configMaps as never, configMapOf(name, desired)],
    ...servicesOf(name).map((service) => [services as never, service] as const),
    [disruptionBudgets as never, disruptionBudgetOf(name)],
    [statefulSets as never, set],
  ];
  const plans: ObjectPlan[] = [
    { kind: secrets.kind, name: namesOf(name).secret, change: connectOptionsOf(secret) ? 'none' : 'create' },
  ];
  for (const [kind, child] of children) plans.push(await changeOf(given, cluster, kind as Resource<KubeObject>, child));
  return plans;
}

/** By the server, which knows its own defaults: applied as the operator would, and not kept. */
async function changeOf(
  { client, signal }: DryRunPorts,
  { metadata: owner }: RedisClusterObject,
  kind: Resource<KubeObject>,
  child: Named,
): Promise<ObjectPlan> {
  const { name } = child.metadata;
  const api = client.resource(kind, owner.namespace);
  const plan = { kind: kind.kind, name };
  const before = await api.find(name, { signal });
  if (!before) return { ...plan, change: 'create' };
  const reference = {
    apiVersion: apiVersionOf(redisClusters),
    kind: redisClusters.kind,
    name: owner.name,
    uid: owner.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
  const wanted = { ...child, metadata: { ...child.metadata, ownerReferences: [reference] } };
  try {
    const after = await api.apply(wanted, { dryRun: true, force: true, fieldManager: 'redis', signal });
    const fields = fieldChanges(contentOf(before), contentOf(after));
    return fields.length === 0 ? { ...plan, change: 'none' } : { ...plan, change: 'change', fields };
  } catch (error) {
    if (isKubeError(error, 'KUBE_FORBIDDEN')) return { ...plan, change: 'unknown' };
    if (isKubeError(error, 'KUBE_INVALID')) return { ...plan, change: 'refused', message: (error as Error).message };
    throw error;
  }
}

/** Without what the server counts by itself. */
function contentOf({ metadata, ...rest }: KubeObject): object {
  const { managedFields: _managed, resourceVersion: _version, generation: _generation, ...kept } = metadata;
  return { ...rest, metadata: kept };
}
