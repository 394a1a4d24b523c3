/** Names of services and their pods, for the `/etc/hosts` of pods: nothing else on this machine knows them. Pure. */
import { type KubeObject, resource } from '@reeve/kube';
import type { DeepReadonly } from '@reeve/runtime';

export interface ServiceEndpoints extends KubeObject {
  /** Null where there are none: that is how the server writes an empty list of this kind. */
  readonly endpoints?:
    | readonly {
        readonly addresses: readonly string[];
        readonly hostname?: string;
        readonly conditions?: { readonly ready?: boolean };
      }[]
    | null;
}

export const serviceEndpoints = resource<ServiceEndpoints>({
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
});

const SERVICE_LABEL = 'kubernetes.io/service-name';
const DOMAIN = 'svc.cluster.local';

/** Lines as a pod of this namespace should have them, always in the same order. */
export function nameLines(slices: readonly DeepReadonly<ServiceEndpoints>[], namespace: string): readonly string[] {
  const lines = new Set<string>();
  for (const { metadata, endpoints } of slices) {
    const service = metadata.labels?.[SERVICE_LABEL];
    const home = metadata.namespace;
    if (service === undefined || home === undefined) continue;
    for (const { addresses, hostname, conditions } of endpoints ?? []) {
      if (conditions?.ready === false) continue;
      const own = hostname === undefined ? [] : formsOf(`${hostname}.${service}`, home, namespace);
      const all = [...own, ...formsOf(service, home, namespace)];
      for (const address of addresses) lines.add(`${address}\t${all.join(' ')}`);
    }
  }
  return [...lines].sort();
}

/** From the longest to the shortest that a resolver in this namespace would find. */
function formsOf(name: string, home: string, namespace: string): readonly string[] {
  const forms = [`${name}.${home}.${DOMAIN}`, `${name}.${home}.svc`, `${name}.${home}`];
  return home === namespace ? [...forms, name] : forms;
}
