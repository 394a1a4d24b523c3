/** Who owns an object, and how an object says that it owns another. */
import { apiVersionOf, type KubeObject, type OwnerReference, splitApiVersion } from '@reeve/kube';
import type { Kind } from '../client/api.ts';
import type { DeepReadonly } from '../resource/resource.ts';

type Any = DeepReadonly<KubeObject>;

/** The key of the one that controls this object, if it is of that kind; of any version, for versions come and go. */
export function ownerKeys(
  { metadata }: Any,
  kind: Pick<Kind<KubeObject>, 'kind' | 'group' | 'namespaced'>,
): readonly string[] {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (!owner || owner.kind !== kind.kind || splitApiVersion(owner.apiVersion).group !== kind.group) return [];
  return [kind.namespaced && metadata.namespace !== undefined ? `${metadata.namespace}/${owner.name}` : owner.name];
}

/** The index by which children are found. */
export const OWNER_INDEX = 'reeve/owner';

export function ownerUids({ metadata }: Any): readonly string[] {
  const uid = metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
  return uid === undefined ? [] : [uid];
}

export function ownerReference(
  kind: Pick<Kind<KubeObject>, 'group' | 'version' | 'kind'>,
  { name, uid }: { readonly name: string; readonly uid: string },
): OwnerReference {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: true, blockOwnerDeletion: true };
}
