/** A job whose controller dies at each of its writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Stored } from '@reeve/kube';
import {
  COMPLETION_INDEX,
  INDEX_FAILURES,
  isFinished,
  type Job,
  jobCondition,
  type JobSpec,
  jobs,
  type JobStatus,
} from '../../kinds/job.ts';
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

/** The job, its pods and what was tried, once it is over in spite of all deaths. */
type Check = (status: JobStatus | undefined, pods: readonly Stored<Pod>[], what: string) => void;

async function dieAtEachWrite(spec: Partial<JobSpec>, kubelet: () => Kubelet, most: number, check: Check) {
  for (const isDone of [false, true]) {
    let deaths = 0;
    for (let count = 1; count <= most; count++) {
      const cluster = new Cluster({ controllers: () => [new JobController()], kubelet: kubelet() });
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
      check(status, await cluster.pods(), `write ${count}, ${isDone ? 'done' : 'not done'}`);
      await cluster.stopManager();
    }
    assert.ok(deaths > 10, 'the writes of a whole job were tried');
  }
}

const countOf = (all: readonly Stored<Pod>[], phase: string) => all.filter((pod) => pod.status?.phase === phase).length;

test('no outcome is lost or counted twice, at whichever write the process dies', async () => {
  const kubelet = () => {
    // Every third pod fails.
    let made = 0;
    const fate = new Map<string, Kubelet>();
    const says: Kubelet = (pod, now) => {
      const known = fate.get(pod.metadata.uid) ?? (++made % 3 === 2 ? fails : succeeds);
      fate.set(pod.metadata.uid, known);
      return known(pod, now);
    };
    return says;
  };
  await dieAtEachWrite({ completions: 3, parallelism: 2, backoffLimit: 3 }, kubelet, 24, (status, all, what) => {
    assert.deepEqual(
      [status?.succeeded, status?.failed ?? 0],
      [countOf(all, 'Succeeded'), countOf(all, 'Failed')],
      what,
    );
    assert.equal(countOf(all, 'Succeeded'), 3, what);
  });
});

test('how often an index failed is not forgotten, at whichever write the process dies', async () => {
  const spec: Partial<JobSpec> = {
    completionMode: 'Indexed',
    completions: 2,
    parallelism: 2,
    backoffLimitPerIndex: 2,
  };
  const kubelet = (): Kubelet => (pod, now) =>
    (pod.metadata.annotations?.[COMPLETION_INDEX] === '0' ? fails : succeeds)(pod, now);
  await dieAtEachWrite(spec, kubelet, 24, (status, all, what) => {
    assert.equal(jobCondition(status, 'Failed')?.reason, 'FailedIndexes', what);
    assert.deepEqual([status?.failedIndexes, status?.completedIndexes], ['0', '1'], what);
    // Three times: the first, and two more.
    assert.deepEqual([status?.failed, countOf(all, 'Failed'), countOf(all, 'Succeeded')], [3, 3, 1], what);
    const counts = all.map(({ metadata }) => metadata.annotations?.[INDEX_FAILURES]);
    assert.deepEqual(counts.toSorted(), ['0', '0', '1', '2'], what);
  });
});
