/** What becomes of an object, given its owners. Pure. */
import type { KubeObject, OwnerReference } from '@reeve/kube';

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';

export type OwnerState =
  /** It is there. */
  | 'solid'
  /** A live read said so: nothing of this name and uid. */
  | 'absent'
  /** It is being deleted and waits for its dependents. */
  | 'waiting'
  /** It could not be looked for: nothing destructive follows. */
  | 'unknown';

export interface Owned {
  readonly owners: readonly { readonly uid: string; readonly state: OwnerState }[];
  readonly finalizers: readonly string[];
  readonly dependents: 'none' | 'some' | 'some are being deleted in foreground';
}

export type Fate =
  | { readonly type: 'keep' }
  /** Others own it: it no longer belongs to these. */
  | { readonly type: 'leave'; readonly uids: readonly string[] }
  | { readonly type: 'delete'; readonly policy: 'Background' | 'Foreground' | 'Orphan'; readonly unblock: boolean };

export function fateOf({ owners, finalizers, dependents }: Owned): Fate {
  const of = (state: OwnerState) => owners.filter((one) => one.state === state).map(({ uid }) => uid);
  if (owners.length === 0 || of('unknown').length > 0) return { type: 'keep' };
  const leaving = [...of('absent'), ...of('waiting')];
  if (of('solid').length > 0) return leaving.length === 0 ? { type: 'keep' } : { type: 'leave', uids: leaving };
  if (of('waiting').length > 0 && dependents !== 'none') {
    // A circle: who waits for whom would never end unless somebody stops blocking.
    return { type: 'delete', policy: 'Foreground', unblock: dependents === 'some are being deleted in foreground' };
  }
  const wish = finalizers.includes(ORPHAN) ? 'Orphan' : finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background';
  return { type: 'delete', policy: wish, unblock: false };
}

export function isWaitingForDependents({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(FOREGROUND);
}

export function isOrphaning({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(ORPHAN);
}

/** It keeps an owner that is deleted in foreground from going. */
export function blocks({ metadata }: Pick<KubeObject, 'metadata'>, uid: string): boolean {
  return (metadata.ownerReferences ?? []).some((one) => one.uid === uid && one.blockOwnerDeletion === true);
}

export function without(references: readonly OwnerReference[], uids: readonly string[]): readonly OwnerReference[] {
  return references.filter(({ uid }) => !uids.includes(uid));
}
