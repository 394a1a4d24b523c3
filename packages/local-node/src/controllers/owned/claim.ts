/**
 * Whose an object is. Those without a controller that a selector selects are adopted, after the owner was proved to live by a live read;
 * those that it no longer selects are released.
 */
import { apiVersionOf, isKubeError, type KubeObject, type OwnerReference, type Stored } from '@reeve/kube';
import type { DeepReadonly } from '@reeve/runtime';
import type { Kind, Reflection } from '@reeve/runtime/manager';
import type { LabelSelector } from '../../kinds/pod.ts';
import { selects } from '../../kinds/selector.ts';
import { change, metaOf, readLive, type Writing } from './writes.ts';

type Any = DeepReadonly<KubeObject>;

export interface Claims<T> {
  readonly owned: readonly T[];
  readonly adopt: readonly T[];
  readonly release: readonly T[];
}

export interface Claimant {
  readonly selector: LabelSelector | undefined;
  readonly isBeingDeleted: boolean;
  /** Further conditions: members of a StatefulSet have names of a form. */
  readonly isMember?: (object: Any) => boolean;
}

/** Pure. `owned` have this controller; `orphans` have none. */
export function claim<T extends Any>(
  { selector, isBeingDeleted, isMember = () => true }: Claimant,
  owned: readonly T[],
  orphans: readonly T[],
): Claims<T> {
  const isOurs = (object: T) => selects(selector, object.metadata.labels) && isMember(object);
  if (isBeingDeleted) return { owned: owned.filter(isOurs), adopt: [], release: [] };
  return {
    owned: owned.filter(isOurs),
    adopt: orphans.filter((object) => isOurs(object) && object.metadata.deletionTimestamp === undefined),
    release: owned.filter((object) => !isOurs(object)),
  };
}

/** Carries it out, and returns all that are owned then. `finalizer`: those that are adopted get it, too. */
export async function settleClaims<T extends KubeObject, O extends KubeObject>(
  writing: Writing,
  of: Reflection<T>,
  { kind, owner }: { readonly kind: Kind<O>; readonly owner: Stored<O> },
  { owned, adopt, release }: Claims<Stored<T>>,
  finalizer?: string,
): Promise<readonly Stored<T>[]> {
  const ours = [...owned];
  for (const object of release) await letGo(writing, of, object, metaOf<O>(owner).uid);
  if (adopt.length === 0) return ours;
  const live = await readLive(writing, { kind }, owner);
  // Gone or going: whoever adopted now would hand the object to the garbage collector.
  if (!live || live.metadata.deletionTimestamp !== undefined) return ours;
  for (const object of adopt) {
    const ownerReferences = [...(object.metadata.ownerReferences ?? []), controllerReference(kind, owner)];
    const { finalizers = [] } = object.metadata;
    const held =
      finalizer === undefined || finalizers.includes(finalizer) ? {} : { finalizers: [...finalizers, finalizer] };
    const adopted = await unlessGone(() => change(writing, of, object, { metadata: { ownerReferences, ...held } }));
    if (adopted) ours.push(adopted);
  }
  return ours;
}

async function letGo<T extends KubeObject>(
  writing: Writing,
  of: Reflection<T>,
  object: Stored<T>,
  uid: string,
): Promise<void> {
  const ownerReferences = (object.metadata.ownerReferences ?? []).filter((one) => one.uid !== uid);
  await unlessGone(() => change(writing, of, object, { metadata: { ownerReferences } }));
}

async function unlessGone<R>(work: () => Promise<R>): Promise<R | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return undefined;
    throw error;
  }
}

export function controllerReference<O extends KubeObject>(kind: Kind<O>, owner: Stored<O>): OwnerReference {
  const { name, uid } = metaOf<O>(owner);
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

export function controllerOf({ metadata }: Any): DeepReadonly<OwnerReference> | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** An index: objects that nobody controls, by namespace. */
export const ORPHANS = 'reeve/orphans';

export function orphanIndex(object: Any): readonly string[] {
  return controllerOf(object) ? [] : [object.metadata.namespace ?? ''];
}
