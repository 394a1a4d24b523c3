import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import { deployments } from '../kinds/deployment.ts';
import { endpointSlices } from '../kinds/endpointslice.ts';
import { isFinished, jobs } from '../kinds/job.ts';
import { namespaces } from '../kinds/namespace.ts';
import { services } from '../kinds/service.ts';
import { statefulSets } from '../kinds/statefulset.ts';
import { volumeClaims, volumes } from '../kinds/volumeclaim.ts';
import { ended, ready } from './cluster-testing.ts';
import { controlPlane, furnish } from './control-plane-testing.ts';

const labels = (app: string) => ({ metadata: { labels: { app } } });
const containers = [{ name: 'main', image: 'x' }];
const accounts = resource<AnyObject>({
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
});

test('a whole namespace comes up, comes to rest, and goes without leaving anything', async (t) => {
  const { cluster, directories } = controlPlane({
    kubelet: (pod, now) =>
      pod.metadata.labels?.app === 'once'
        ? ended('Succeeded', 0)(pod, now)
        : { ...ready(pod, now), podIP: `127.1.0.${pod.metadata.name.length}` },
  });
  await cluster.open();
  t.after(() => cluster.end());
  await furnish(cluster);
  await cluster
    .of(services)
    .create({ metadata: { name: 'db' }, spec: { clusterIP: 'None', selector: { app: 'db' }, ports: [{ port: 1 }] } });
  await cluster.of(statefulSets).create({
    metadata: { name: 'db' },
    spec: {
      replicas: 3,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: {
        ...labels('db'),
        spec: {
          containers,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'topology.kubernetes.io/zone',
              whenUnsatisfiable: 'DoNotSchedule',
              labelSelector: { matchLabels: { app: 'db' } },
            },
          ],
        },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  });
  await cluster.of(deployments).create({
    metadata: { name: 'web' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: { ...labels('web'), spec: { containers } },
    },
  });
  await cluster.of(jobs).create({
    metadata: { name: 'once' },
    spec: { template: { ...labels('once'), spec: { restartPolicy: 'Never', containers } } },
  });
  await cluster.until('all is there', async () => {
    const set = (await cluster.of(statefulSets).get('db')).status;
    const web = (await cluster.of(deployments).get('web')).status;
    const slices = (await cluster.of(endpointSlices).listAll()).items;
    const addresses = slices.flatMap(({ endpoints }) => endpoints ?? []).length;
    return (
      set?.readyReplicas === 3 &&
      web?.availableReplicas === 3 &&
      addresses === 3 &&
      isFinished((await cluster.of(jobs).get('once')).status)
    );
  });
  const nodes = (await cluster.pods())
    .filter(({ metadata }) => metadata.labels?.app === 'db')
    .map(({ spec }) => spec?.nodeName);
  assert.deepEqual(nodes.toSorted(), ['a', 'b', 'c']);
  assert.equal(directories.all.size, 3);
  assert.ok(await cluster.of(accounts).find('default'));

  // At rest: nobody writes anything but events.
  await cluster.run(20_000);
  const versions = async () => {
    const kinds = [statefulSets, deployments, jobs, volumeClaims, endpointSlices, services] as const;
    const lists = await Promise.all(
      kinds.map(async (kind) => (await cluster.of(kind as typeof statefulSets).listAll()).items),
    );
    return [...lists.flat(), ...(await cluster.pods())].map(({ metadata }) => metadata.resourceVersion);
  };
  const before = await versions();
  await cluster.run(120_000);
  assert.deepEqual(await versions(), before);

  await cluster.of(namespaces).delete('ns');
  await cluster.until('it is gone', async () => (await cluster.of(namespaces).find('ns')) === undefined);
  await cluster.until('so is the data', async () => (await cluster.of(volumes).listAll()).items.length === 0);
  assert.equal(directories.all.size, 0);
  assert.deepEqual(
    cluster.lines.filter((line) => line.startsWith('a reconcile failed') || line.startsWith('hot loop')),
    [],
  );
});
