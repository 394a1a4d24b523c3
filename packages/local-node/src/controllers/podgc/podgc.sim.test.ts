import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import { jobs } from '../../kinds/job.ts';
import { pods } from '../../kinds/pod.ts';
import { statefulSets } from '../../kinds/statefulset.ts';
import { Scheduler } from '../../scheduler/controller.ts';
import { Cluster } from '../cluster-testing.ts';
import { JobController } from '../job/controller.ts';
import { StatefulSetController } from '../statefulset/controller.ts';
import { PodCollector } from './controller.ts';

const nodes = resource<AnyObject>({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false });
const template = { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'c', image: 'x' }] } };

test('when a node is gone its pods fail and come up elsewhere; one that is only late keeps them', async (t) => {
  const controllers = () => [new PodCollector(), new Scheduler(), new StatefulSetController(), new JobController()];
  const cluster = await Cluster.start(t, { controllers, places: false });
  await cluster.addNode('a');
  await cluster.of(statefulSets).create({
    metadata: { name: 'db' },
    spec: { replicas: 1, selector: { matchLabels: { app: 'db' } }, template },
  });
  await cluster.of(jobs).create({
    metadata: { name: 'w' },
    spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } },
  });
  const running = async () => (await cluster.pods()).filter(({ status }) => status?.phase === 'Running');
  await cluster.until('both run', async () => (await running()).length === 2);
  const before = (await cluster.of(pods).get('db-0')).metadata.uid;
  await cluster.of(nodes).delete('a');
  await cluster.run(20_000);
  await cluster.addNode('a');
  await cluster.run(60_000);
  assert.equal((await cluster.of(pods).get('db-0')).metadata.uid, before, 'it came back in time');
  await cluster.addNode('b');
  await cluster.of(nodes).delete('a');
  await cluster.until(
    'all are elsewhere',
    async () => {
      const all = await running();
      return all.length === 2 && all.every(({ spec }) => spec?.nodeName === 'b');
    },
    200_000,
  );
  assert.notEqual((await cluster.of(pods).get('db-0')).metadata.uid, before);
  await cluster.until('the loss is counted', async () => (await cluster.of(jobs).get('w')).status?.failed === 1);
});
