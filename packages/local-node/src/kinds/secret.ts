import { type KubeObject, resource } from '@reeve/kube';

export interface Secret extends KubeObject {
  readonly type?: string;
  /** In base 64. */
  readonly data?: Readonly<Record<string, string>>;
}

export const secrets = resource<Secret>({
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
});
