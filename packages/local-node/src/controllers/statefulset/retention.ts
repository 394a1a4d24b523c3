/** Who owns the claims of a pod, so that the garbage collector deletes them with the set or with the pod, or not at all. */
import type { KubeObject, OwnerReference, Stored } from '@reeve/kube';
import { type Pod, pods } from '../../kinds/pod.ts';
import { type StatefulSet, statefulSets } from '../../kinds/statefulset.ts';
import { controllerReference } from '../owned/claim.ts';

/** The references as they should be; undefined: they are so already. Owners that are others' business stay. */
export function retentionOwners(
  set: Stored<StatefulSet>,
  pod: Stored<Pod>,
  claim: KubeObject,
  isScaledDown: boolean,
): readonly OwnerReference[] | undefined {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  const byPod = whenScaled === 'Delete' && isScaledDown;
  const bySet = whenDeleted === 'Delete' && !byPod;
  const before = claim.metadata.ownerReferences ?? [];
  const ofSet = (one: OwnerReference) => one.kind === 'StatefulSet' && one.name === set.metadata.name;
  const ofPod = (one: OwnerReference) => one.kind === 'Pod' && one.name === pod.metadata.name;
  const after = [
    ...before.filter((one) => !ofSet(one) && !ofPod(one)),
    ...(bySet ? [controllerReference(statefulSets, set)] : []),
    ...(byPod ? [controllerReference(pods, pod)] : []),
  ];
  const uids = (all: readonly OwnerReference[]) => all.map(({ uid }) => uid).toSorted();
  return uids(before).join() === uids(after).join() ? undefined : after;
}

/** It belongs to an earlier pod of this name, and goes with it: the next pod must not use it. */
export function isStale(claim: KubeObject, podName: string, podUid: string | undefined): boolean {
  const owners = claim.metadata.ownerReferences ?? [];
  return owners.some(({ kind, name, uid }) => kind === 'Pod' && name === podName && uid !== podUid);
}
