/** The operators that come with Reeve, on a control plane: their kinds, and their controllers. */
import { type AnyObject, type KubeClient, resource } from '@reeve/kube';
import { RedisClusterController, redisClusterKind, type RedisOperatorPorts, redisTaskKind } from '@reeve/redis';
import { crdOf, memberKind, memberWritePolicy } from '@reeve/runtime';
import type { Manager } from '@reeve/runtime/manager';

const definitions = resource<AnyObject>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});

const admission = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;
const policies = [
  resource<AnyObject>({ ...admission, plural: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy' }),
  resource<AnyObject>({
    ...admission,
    plural: 'validatingadmissionpolicybindings',
    kind: 'ValidatingAdmissionPolicyBinding',
  }),
];

/** Kinds are applied at each start: a new version of Reeve brings its own. So is the policy that keeps agents in pods to their own. */
export async function installKinds(client: KubeClient): Promise<void> {
  const api = client.resource(definitions);
  for (const kind of [memberKind, redisClusterKind, redisTaskKind]) {
    await api.apply(crdOf(kind) as unknown as Parameters<typeof api.apply>[0], { fieldManager: 'reeve', force: true });
  }
  for (const manifest of memberWritePolicy() as readonly unknown[] as readonly AnyObject[]) {
    const kind = policies.find((one) => one.kind === manifest.kind);
    if (kind) await client.resource(kind).apply(manifest as never, { fieldManager: 'reeve', force: true });
  }
}

export function addOperators(manager: Manager, ports: RedisOperatorPorts): void {
  manager.add(new RedisClusterController(ports, { metrics: manager.measures.registry }));
}
