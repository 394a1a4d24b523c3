/** The operators that come with Reeve, on a control plane: their kinds, and their controllers. */
import { type AnyObject, type KubeClient, resource } from '@reeve/kube';
import { RedisClusterController, redisClusterKind, type RedisOperatorPorts, redisTaskKind } from '@reeve/redis';
import { crdOf, memberKind } from '@reeve/runtime';
import type { Manager } from '@reeve/runtime/manager';

const definitions = resource<AnyObject>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});

/** Kinds are applied at each start: a new version of Reeve brings its own. */
export async function installKinds(client: KubeClient): Promise<void> {
  const api = client.resource(definitions);
  for (const kind of [memberKind, redisClusterKind, redisTaskKind]) {
    await api.apply(crdOf(kind) as unknown as Parameters<typeof api.apply>[0], { fieldManager: 'reeve', force: true });
  }
}

export function addOperators(manager: Manager, ports: RedisOperatorPorts): void {
  manager.add(new RedisClusterController(ports, { metrics: manager.measures.registry }));
}
