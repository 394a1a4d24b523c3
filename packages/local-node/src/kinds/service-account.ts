import { type KubeObject, resource } from '@reeve/kube';

export const serviceAccounts = resource<KubeObject>({
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
});
