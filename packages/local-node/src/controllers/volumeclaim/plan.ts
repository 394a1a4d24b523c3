/** What a claim needs next: a class, a volume, or nothing. Pure. */
import type { Stored } from '@reeve/kube';
import { milli } from '../../kinds/quantity.ts';
import { type LabelSelector } from '../../kinds/pod.ts';
import { selects } from '../../kinds/selector.ts';
import {
  defaultClassName,
  SELECTED_NODE,
  type StorageClass,
  type Volume,
  type VolumeClaim,
} from '../../kinds/volumeclaim.ts';

export const PROVISIONER = 'reeve.dev/local';
export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';

export interface ClaimsView {
  readonly claim: Stored<VolumeClaim>;
  readonly classes: readonly StorageClass[];
  readonly volumes: readonly Stored<Volume>[];
}

export type ClaimStep =
  | { readonly type: 'none' }
  | { readonly type: 'class'; readonly name: string }
  | { readonly type: 'wait'; readonly reason: string; readonly message: string; readonly isProblem: boolean }
  | { readonly type: 'bind'; readonly volume: Stored<Volume> }
  | {
      readonly type: 'provision';
      readonly volume: string;
      readonly storageClass: StorageClass;
      readonly node: string | undefined;
    }
  | { readonly type: 'lost' };

export function volumeNameOf({ metadata }: Stored<VolumeClaim>): string {
  return `pvc-${metadata.uid}`;
}

export function planClaim({ claim, classes, volumes }: ClaimsView): ClaimStep {
  const { metadata, spec, status } = claim;
  if (metadata.deletionTimestamp !== undefined) return { type: 'none' };
  const named = spec?.volumeName ?? '';
  if (named !== '')
    return planNamed(
      claim,
      volumes.find((one) => one.metadata.name === named),
    );
  if (status?.phase === 'Bound') return { type: 'lost' };
  if (spec?.storageClassName === undefined) {
    const name = defaultClassName(classes);
    if (name !== undefined) return { type: 'class', name };
  }
  const storageClass = classes.find((one) => one.metadata.name === (spec?.storageClassName ?? ''));
  const node = metadata.annotations?.[SELECTED_NODE];
  const isWaiting = storageClass?.volumeBindingMode === 'WaitForFirstConsumer' && node === undefined;
  const ours = volumes.find((one) => isFor(one, claim));
  if (ours && ours.metadata.name !== volumeNameOf(claim)) return { type: 'bind', volume: ours };
  if (isWaiting) {
    const message = 'waiting for first consumer to be created before binding';
    return { type: 'wait', reason: 'WaitForFirstConsumer', message, isProblem: false };
  }
  const found = ours ? undefined : bestMatch(claim, volumes);
  if (found) return { type: 'bind', volume: found };
  return planProvision(claim, storageClass, node);
}

/** The claim says which volume: it is bound to it as soon as both agree. */
function planNamed(claim: Stored<VolumeClaim>, volume: Stored<Volume> | undefined): ClaimStep {
  const { metadata, status } = claim;
  const isCompleted = metadata.annotations?.[BIND_COMPLETED] === 'yes';
  if (!volume) return isCompleted && status?.phase !== 'Lost' ? { type: 'lost' } : { type: 'none' };
  const { claimRef } = volume.spec ?? {};
  if (!claimRef || isFor(volume, claim)) {
    const isDone = isCompleted && status?.phase === 'Bound' && claimRef?.uid === metadata.uid;
    return isDone ? { type: 'none' } : { type: 'bind', volume };
  }
  if (isCompleted) return status?.phase === 'Lost' ? { type: 'none' } : { type: 'lost' };
  const message = `volume "${volume.metadata.name}" already bound to a different claim.`;
  return { type: 'wait', reason: 'FailedBinding', message, isProblem: true };
}

function planProvision(
  claim: Stored<VolumeClaim>,
  storageClass: StorageClass | undefined,
  node: string | undefined,
): ClaimStep {
  const name = claim.spec?.storageClassName ?? '';
  if (name === '') {
    const message = 'no persistent volumes available for this claim and no storage class is set';
    return { type: 'wait', reason: 'FailedBinding', message, isProblem: false };
  }
  if (!storageClass) {
    const message = `storageclass.storage.k8s.io "${name}" not found`;
    return { type: 'wait', reason: 'ProvisioningFailed', message, isProblem: true };
  }
  if (storageClass.provisioner !== PROVISIONER) {
    const message = `Waiting for a volume to be created either by the external provisioner '${storageClass.provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
    return { type: 'wait', reason: 'ExternalProvisioning', message, isProblem: false };
  }
  return { type: 'provision', volume: volumeNameOf(claim), storageClass, node };
}

/** It names this claim; one with another uid is of another time. */
function isFor({ spec }: Volume, { metadata }: Stored<VolumeClaim>): boolean {
  const ref = spec?.claimRef;
  if (ref?.name !== metadata.name || ref?.namespace !== metadata.namespace) return false;
  return ref?.uid === undefined || ref.uid === metadata.uid;
}

/** The smallest that nobody has and that is enough. */
function bestMatch({ spec }: Stored<VolumeClaim>, volumes: readonly Stored<Volume>[]): Stored<Volume> | undefined {
  const wanted = milli(spec?.resources?.requests?.storage) ?? 0;
  const sizeOf = (one: Volume) => milli(one.spec?.capacity?.storage) ?? 0;
  const modes = spec?.accessModes ?? [];
  const fitting = volumes.filter((one) => {
    const { claimRef, storageClassName = '', accessModes = [], volumeMode = 'Filesystem' } = one.spec ?? {};
    if (claimRef || one.metadata.deletionTimestamp !== undefined) return false;
    if (storageClassName !== (spec?.storageClassName ?? '') || sizeOf(one) < wanted) return false;
    if (volumeMode !== (spec?.volumeMode ?? 'Filesystem')) return false;
    if (spec?.selector && !selects(spec.selector as LabelSelector, one.metadata.labels)) return false;
    return modes.every((mode) => accessModes.includes(mode));
  });
  return fitting.toSorted((a, b) => sizeOf(a) - sizeOf(b) || (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}
