/** The whole control plane dies at each of its writes, in the middle of things, and is started again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployments } from '../kinds/deployment.ts';
import { replicaSets } from '../kinds/replicaset.ts';
import { revisions } from '../kinds/revision.ts';
import { statefulSets } from '../kinds/statefulset.ts';
import { volumeClaims, volumes } from '../kinds/volumeclaim.ts';
import { type Cluster, dyingAt } from './cluster-testing.ts';
import { controlPlane, furnish } from './control-plane-testing.ts';

const template = (app: string, image: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image }] },
});

async function build(cluster: Cluster, image: string): Promise<void> {
  const data = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  await cluster.of(statefulSets).create({
    metadata: { name: 'db' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'db' } },
      template: template('db', image),
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: data }],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
    },
  });
  await cluster.of(deployments).create({
    metadata: { name: 'web' },
    spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: template('web', image) },
  });
}

async function isUp(cluster: Cluster, image: string, replicas: number): Promise<boolean> {
  const set = await cluster.of(statefulSets).get('db');
  const web = await cluster.of(deployments).get('web');
  const all = await cluster.pods();
  return (
    set.status?.observedGeneration === set.metadata.generation &&
    set.status?.readyReplicas === replicas &&
    set.status.updatedReplicas === replicas &&
    web.status?.observedGeneration === web.metadata.generation &&
    web.status?.availableReplicas === 2 &&
    web.status.updatedReplicas === 2 &&
    all.length === 2 + replicas &&
    all.every(({ spec }) => spec?.containers[0]?.image === image)
  );
}

/** What a test of the story needs: begun, in the middle of an update and a scale down, deleted. */
const stories: Readonly<Record<string, (cluster: Cluster) => Promise<() => Promise<boolean>>>> = {
  async creation(cluster) {
    await build(cluster, 'v1');
    return () => isUp(cluster, 'v1', 2);
  },
  async 'update and scale'(cluster) {
    await build(cluster, 'v1');
    await cluster.until('up', () => isUp(cluster, 'v1', 2));
    for (const [kind, name, replicas] of [
      [statefulSets, 'db', 1],
      [deployments, 'web', 2],
    ] as const) {
      const value = { spec: { replicas, template: template(name, 'v2') } };
      await cluster.of(kind as typeof statefulSets).patch(name, { type: 'merge', value });
    }
    return async () => {
      const claims = (await cluster.of(volumeClaims).listAll()).items.length;
      return claims === 1 && (await cluster.of(volumes).listAll()).items.length === 1 && isUp(cluster, 'v2', 1);
    };
  },
  async deletion(cluster) {
    await build(cluster, 'v1');
    await cluster.until('up', () => isUp(cluster, 'v1', 2));
    await cluster.of(statefulSets).delete('db', { propagationPolicy: 'Foreground' });
    await cluster.of(deployments).delete('web', { propagationPolicy: 'Background' });
    return async () => {
      const kinds = [statefulSets, deployments, replicaSets, revisions, volumeClaims, volumes] as const;
      const left = await Promise.all(
        kinds.map(async (kind) => (await cluster.of(kind as typeof statefulSets).listAll()).items.length),
      );
      return left.every((count) => count === 0) && (await cluster.pods()).length === 0;
    };
  },
};

/** The story up to where it is interrupted takes many writes; only those after that are tried, every so many of them. */
for (const [name, begin] of Object.entries(stories)) {
  for (const isDone of [false, true]) {
    test(`${name}: at whichever write it dies ${isDone ? 'after' : 'before'} it arrives, it comes to the same end`, async () => {
      let deaths = 0;
      for (let count = 1; count <= 60; count += 2) {
        const { cluster, directories } = controlPlane();
        let dying: ReturnType<typeof dyingAt> | undefined;
        cluster.wire = (transport) => (request) => (dying ? dying.wire(transport)(request) : transport(request));
        await cluster.open();
        await furnish(cluster);
        const isOver = await begin(cluster);
        dying = dyingAt(count, isDone);
        const death = dying;
        await cluster.until('dead or over', async () => death.isDead() || (await isOver()));
        const isLate = !death.isDead();
        await cluster.stopManager();
        dying = undefined;
        if (isLate) break;
        deaths++;
        cluster.startManager();
        await cluster.until(`${name} after write ${count}`, isOver, 300_000);
        await cluster.until('no directory without claim', async () => {
          return directories.all.size === (await cluster.of(volumes).listAll()).items.length;
        });
        await cluster.stopManager();
      }
      assert.ok(deaths >= 5, `${deaths} deaths`);
    });
  }
}
