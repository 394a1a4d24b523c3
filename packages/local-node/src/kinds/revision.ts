/** Revisions: what a set was told to be, at one time. */
import { type KubeObject, resource } from '@reeve/kube';

export interface Revision extends KubeObject {
  readonly revision: number;
  readonly data?: unknown;
}

export const revisions = resource<Revision>({
  group: 'apps',
  version: 'v1',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
  namespaced: true,
});
