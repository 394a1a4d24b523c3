/** All controllers at once, on three nodes in three zones, with a class of storage that waits for its consumer. */
import { storageClasses } from '../kinds/volumeclaim.ts';
import { Cluster, type ClusterOptions } from './cluster-testing.ts';
import { addControlPlane } from './index.ts';
import { memoryDirectories } from './memory-directories-testing.ts';

export function controlPlane(options: Omit<ClusterOptions, 'controllers' | 'places'> = {}) {
  const directories = memoryDirectories();
  const cluster = new Cluster({
    ...options,
    places: false,
    controllers: (manager, { clock, api }) => addControlPlane(manager, { clock, client: api.client, directories }),
  });
  return { cluster, directories };
}

export async function furnish(cluster: Cluster): Promise<void> {
  for (const [name, zone] of [
    ['a', 'z1'],
    ['b', 'z2'],
    ['c', 'z3'],
  ] as const) {
    await cluster.addNode(name, {}, { 'topology.kubernetes.io/zone': zone });
  }
  await cluster.of(storageClasses).create({
    metadata: { name: 'local', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'reeve.dev/local',
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
}
