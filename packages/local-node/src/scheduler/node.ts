/** Nodes, as far as scheduling reads them. */
import { type KubeObject, resource } from '@reeve/kube';

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface SchedulingNode extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] };
  readonly status?: {
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly capacity?: Readonly<Record<string, string>>;
  };
}

export const schedulingNodes = resource<SchedulingNode>({
  group: '',
  version: 'v1',
  plural: 'nodes',
  kind: 'Node',
  namespaced: false,
});
