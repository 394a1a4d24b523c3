/** The operators that come with Reeve, on a control plane: their kinds, and their controllers. */
import { type AnyObject, type KubeClient, resource } from '@reeve/kube';
import {
  folderBackups,
  RedisClusterController,
  redisClusterKind,
  type RedisOperatorPorts,
  redisTaskKind,
  snapshotSource,
} from '@reeve/redis';
import { crdOf, memberKind } from '@reeve/runtime';
import type { Manager } from '@reeve/runtime/manager';
import { peerCertificates } from '../certificates/peers.ts';

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

/** @param backups the folder that backups are kept in. */
export function addOperators(manager: Manager, ports: RedisOperatorPorts, backups: string): void {
  const parts = {
    certificates: peerCertificates,
    backups: { store: folderBackups(backups, ports.ids), snapshotsOf: snapshotSource },
  };
  manager.add(new RedisClusterController({ ...ports, ...parts }, { metrics: manager.measures.registry }));
}
