/** Claims and volumes, as far as a node reads them. */
import { type KubeObject, resource } from '@reeve/kube';

export interface VolumeClaim extends KubeObject {
  readonly spec?: { readonly volumeName?: string };
  readonly status?: { readonly phase?: string };
}

export interface BoundVolume extends KubeObject {
  readonly spec?: {
    readonly claimRef?: { readonly uid?: string };
    readonly hostPath?: { readonly path: string };
    readonly local?: { readonly path: string };
  };
}

export const volumeClaims = resource<VolumeClaim>({
  group: '',
  version: 'v1',
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
});

export const boundVolumes = resource<BoundVolume>({
  group: '',
  version: 'v1',
  plural: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
});
