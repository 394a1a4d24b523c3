import { type KubeObject, resource } from '@reeve/kube';

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  /** In base 64. */
  readonly binaryData?: Readonly<Record<string, string>>;
}

export const configMaps = resource<ConfigMap>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});

/** Where Kubernetes publishes the authority of the API server, in every namespace; volumes of service accounts look for it there. */
export const ROOT_CA = 'kube-root-ca.crt';
