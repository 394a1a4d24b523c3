/** Claims of storage, the volumes that they are bound to, and the classes that say where these come from. */
import { type KubeObject, resource } from '@reeve/kube';
import type { NodeSelectorTerm } from './pod.ts';

export interface VolumeClaimSpec {
  readonly accessModes?: readonly string[];
  readonly storageClassName?: string;
  readonly volumeName?: string;
  readonly volumeMode?: string;
  readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  readonly selector?: object;
}

export interface VolumeClaim extends KubeObject {
  readonly spec?: VolumeClaimSpec;
  readonly status?: {
    readonly phase?: 'Pending' | 'Bound' | 'Lost';
    readonly accessModes?: readonly string[];
    readonly capacity?: Readonly<Record<string, string>>;
  };
}

export interface ClaimReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface Volume extends KubeObject {
  readonly spec?: {
    readonly accessModes?: readonly string[];
    readonly capacity?: Readonly<Record<string, string>>;
    readonly storageClassName?: string;
    readonly volumeMode?: string;
    readonly persistentVolumeReclaimPolicy?: 'Delete' | 'Retain' | 'Recycle';
    readonly claimRef?: ClaimReference;
    readonly hostPath?: { readonly path: string; readonly type?: string };
    readonly local?: { readonly path: string };
    readonly nodeAffinity?: { readonly required?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] } };
  };
  readonly status?: {
    readonly phase?: 'Pending' | 'Available' | 'Bound' | 'Released' | 'Failed';
    readonly message?: string;
    readonly reason?: string;
    readonly lastPhaseTransitionTime?: string;
  };
}

export interface StorageClass extends KubeObject {
  readonly provisioner?: string;
  readonly reclaimPolicy?: 'Delete' | 'Retain';
  readonly volumeBindingMode?: 'Immediate' | 'WaitForFirstConsumer';
}

export const volumeClaims = resource<VolumeClaim>({
  group: '',
  version: 'v1',
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
});

export const volumes = resource<Volume>({
  group: '',
  version: 'v1',
  plural: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
});

export const storageClasses = resource<StorageClass>({
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
});

/** On a claim: the node that the scheduler chose, for a class that waits for the first consumer. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

/** Both sides say so: the claim names the volume and the controller has completed it. */
export function isBound({ spec, status }: Pick<VolumeClaim, 'spec' | 'status'>): boolean {
  return (spec?.volumeName ?? '') !== '' && status?.phase === 'Bound';
}

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** Of claims that name none. */
export function defaultClassName(classes: readonly Pick<StorageClass, 'metadata'>[]): string | undefined {
  return classes.find(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true')?.metadata.name;
}
