/** A job whose controller dies at each of its writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Stored } from '@reeve/kube';
import { isFinished, type Job, type JobSpec, jobs } from '../../kinds/job.ts';
import type { Pod, PodStatus } from '../../kinds/pod.ts';
import { Cluster, dyingAt, ended } from '../cluster-testing.ts';
import { JobController } from './controller.ts';

type Kubelet = (pod: Stored<Pod>, now: string) => PodStatus | undefined;
const succeeds: Kubelet = ended('Succeeded', 0);
const fails: Kubelet = ended('Failed', 3);

function work(spec: Partial<JobSpec>): Job {
  const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'main', image: 'x' }] } };
  return { metadata: { name: 'w' }, spec: { template, ...spec } };
}

test('no outcome is lost or counted twice, at whichever write the process dies', async () => {
  const spec: Partial<JobSpec> = { completions: 3, parallelism: 2, backoffLimit: 3 };
  for (const isDone of [false, true]) {
    let deaths = 0;
    for (let count = 1; count <= 24; count++) {
      // Every third pod fails.
      let made = 0;
      const fate = new Map<string, Kubelet>();
      const kubelet: Kubelet = (pod, now) => {
        const known = fate.get(pod.metadata.uid) ?? (++made % 3 === 2 ? fails : succeeds);
        fate.set(pod.metadata.uid, known);
        return known(pod, now);
      };
      const cluster = new Cluster({ controllers: () => [new JobController()], kubelet });
      const dying = dyingAt(count, isDone);
      cluster.wire = dying.wire;
      await cluster.open();
      await cluster.of(jobs).create(work(spec));
      await cluster.until(
        'dead or over',
        async () => dying.isDead() || isFinished((await cluster.of(jobs).get('w')).status),
      );
      if (dying.isDead()) deaths++;
      await cluster.stopManager();
      cluster.wire = (transport) => transport;
      cluster.startManager();
      await cluster.until('it is over', async () => isFinished((await cluster.of(jobs).get('w')).status));
      const { status } = await cluster.of(jobs).get('w');
      const all = await cluster.pods();
      const of = (phase: string) => all.filter((pod) => pod.status?.phase === phase).length;
      const what = `write ${count}, ${isDone ? 'done' : 'not done'}`;
      assert.deepEqual([status?.succeeded, status?.failed ?? 0], [of('Succeeded'), of('Failed')], what);
      assert.equal(of('Succeeded'), 3, what);
      await cluster.stopManager();
    }
    assert.ok(deaths > 10, 'the writes of a whole job were tried');
  }
});
