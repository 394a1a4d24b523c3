import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Stored } from '@reeve/kube';
import { isFinished, type Job, jobCondition, type JobSpec, jobs } from '../../kinds/job.ts';
import { type Pod, type PodStatus, pods } from '../../kinds/pod.ts';
import { Cluster, ended, ready } from '../cluster-testing.ts';
import { GarbageKeeper } from '../garbage/keeper.ts';
import { JobController } from './controller.ts';

function work(spec: Partial<JobSpec> = {}): Job {
  const containers = [{ name: 'main', image: 'x' }];
  const template = { metadata: { labels: { app: 'w' } }, spec: { restartPolicy: 'Never' as const, containers } };
  return { metadata: { name: 'w' }, spec: { template, ...spec } };
}

type Kubelet = (pod: Stored<Pod>, now: string) => PodStatus | undefined;
const succeeds: Kubelet = ended('Succeeded', 0);
const fails: Kubelet = ended('Failed', 3);

async function world(t: TestContext, spec: Partial<JobSpec>, kubelet: Kubelet = succeeds) {
  const cluster = await Cluster.start(t, { controllers: () => [new JobController()], kubelet });
  const all = cluster.of(jobs);
  await all.create(work(spec));
  const status = async () => (await all.get('w')).status ?? {};
  const isOver = async () => isFinished(await status());
  const running = async () =>
    (await cluster.pods()).filter(
      ({ metadata, status: is }) => metadata.deletionTimestamp === undefined && is?.phase === 'Running',
    );
  const set = (value: object) => all.patch('w', { type: 'merge', value: { spec: value } });
  return { cluster, all, status, isOver, running, set };
}

test('a job runs so many pods at once and so many in all, and is complete then', async (t) => {
  let most = 0;
  const { cluster, status, isOver } = await world(t, { completions: 5, parallelism: 2 });
  await cluster.until('it is over', async () => {
    const active = (await cluster.pods()).filter(({ status: is }) => is?.phase !== 'Succeeded').length;
    most = Math.max(most, active);
    return isOver();
  });
  const { succeeded, failed, active, completionTime, uncountedTerminatedPods } = await status();
  assert.deepEqual([succeeded, failed ?? 0, active ?? 0], [5, 0, 0]);
  assert.equal(most, 2);
  assert.ok(completionTime);
  assert.deepEqual(uncountedTerminatedPods, {});
  assert.equal(jobCondition(await status(), 'Complete')?.reason, 'CompletionsReached');
  assert.ok(jobCondition(await status(), 'SuccessCriteriaMet'));
  const left = await cluster.pods();
  assert.equal(left.length, 5);
  assert.ok(left.every(({ metadata }) => (metadata.finalizers ?? []).length === 0));
});

test('failures are tried again with growing pauses, up to the limit', async (t) => {
  const { cluster, status, isOver } = await world(t, { backoffLimit: 2 }, fails);
  const times: number[] = [];
  await cluster.until('it has failed', async () => {
    const { length } = await cluster.pods();
    if (length > times.length) times.push(cluster.clock.now());
    return isOver();
  });
  assert.equal((await status()).failed, 3);
  const failed = jobCondition(await status(), 'Failed');
  assert.equal(failed?.reason, 'BackoffLimitExceeded');
  assert.equal(failed.message, 'Job has reached the specified backoff limit');
  const [first = 0, second = 0, third = 0] = times;
  assert.ok(second - first >= 9_000 && third - second >= 19_000, times.join());
  assert.ok((await cluster.events()).some(({ reason }) => reason === 'BackoffLimitExceeded'));
});

test('exit codes decide: ignored ones are not counted, a fatal one ends the job', async (t) => {
  const rules = [
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    { action: 'FailJob', onExitCodes: { containerName: 'main', operator: 'In', values: [42] } },
  ] as const;
  let count = 0;
  const seen = new Map<string, number>();
  const kubelet: Kubelet = (pod, now) => {
    const turn = seen.get(pod.metadata.uid) ?? ++count;
    seen.set(pod.metadata.uid, turn);
    const status = ended('Failed', turn === 1 ? 1 : 42)(pod, now);
    const disrupted = { type: 'DisruptionTarget', status: 'True' as const };
    return turn === 1 ? { ...status, conditions: [...(status.conditions ?? []), disrupted] } : status;
  };
  const { cluster, status, isOver } = await world(t, { backoffLimit: 0, podFailurePolicy: { rules } }, kubelet);
  await cluster.until('it has failed', isOver);
  const failed = jobCondition(await status(), 'Failed');
  assert.equal(failed?.reason, 'PodFailurePolicy');
  assert.match(
    failed.message ?? '',
    /^Container main for pod ns\/w-\w+ failed with exit code 42 matching FailJob rule at index 1$/,
  );
  assert.equal((await status()).failed, 1);
});

test('a job that is suspended has no pods and counts none; resumed, it begins anew', async (t) => {
  const { cluster, status, running, set, isOver } = await world(t, { completions: 2, parallelism: 2 }, ready);
  await cluster.until('both run', async () => (await running()).length === 2);
  const before = (await status()).startTime;
  await set({ suspend: true });
  await cluster.until('none runs', async () => (await cluster.pods()).length === 0);
  await cluster.run(5_000);
  assert.equal(jobCondition(await status(), 'Suspended')?.reason, 'JobSuspended');
  assert.equal((await status()).startTime, undefined);
  assert.equal((await status()).failed ?? 0, 0);
  await set({ suspend: false });
  cluster.kubelet = succeeds;
  await cluster.until('it is over', isOver);
  assert.notEqual((await status()).startTime, before);
  assert.deepEqual(
    (await status()).conditions?.map(({ type, status: is }) => `${type}=${is}`),
    ['Suspended=False', 'SuccessCriteriaMet=True', 'Complete=True'],
  );
  assert.ok((await cluster.events()).some(({ reason }) => reason === 'Resumed'));
});

test('a job whose time is up ends its pods, and fails when they are gone', async (t) => {
  const { cluster, status, running, isOver } = await world(t, { activeDeadlineSeconds: 30 }, ready);
  await cluster.until('it runs', async () => (await running()).length === 1);
  const [pod] = await running();
  cluster.stubborn.add(pod?.metadata.name ?? '');
  await cluster.run(40_000);
  assert.equal(jobCondition(await status(), 'FailureTarget')?.reason, 'DeadlineExceeded');
  assert.equal(await isOver(), false);
  cluster.stubborn.clear();
  await cluster.until('it is over', isOver);
  assert.equal((await status()).failed, 1);
  assert.equal(jobCondition(await status(), 'Failed')?.message, 'Job was active longer than specified deadline');
});

test('with podReplacementPolicy Failed a pod that is being deleted is replaced when it has ended', async (t) => {
  for (const [podReplacementPolicy, isReplacedAtOnce] of [
    ['Failed', false],
    ['TerminatingOrFailed', true],
  ] as const) {
    const { cluster, running } = await world(t, { podReplacementPolicy, backoffLimit: 6 }, ready);
    await cluster.until('it runs', async () => (await running()).length === 1);
    const [{ metadata }] = (await running()) as [Stored<Pod>];
    cluster.stubborn.add(metadata.name);
    await cluster.of(pods).delete(metadata.name);
    await cluster.run(15_000);
    assert.equal((await running()).length === 1, isReplacedAtOnce, podReplacementPolicy);
    cluster.stubborn.clear();
    await cluster.until(
      'there is another',
      async () => (await running())[0]?.metadata.name !== metadata.name && (await running()).length === 1,
    );
  }
});

test('an indexed job does each index once', async (t) => {
  const kubelet: Kubelet = (pod, now) => {
    const isBad =
      pod.metadata.annotations?.['batch.kubernetes.io/job-completion-index'] === '1' && cluster.clock.now() < later;
    return isBad ? fails(pod, now) : succeeds(pod, now);
  };
  const { cluster, status, isOver } = await world(
    t,
    { completionMode: 'Indexed', completions: 4, parallelism: 2, backoffLimit: 50 },
    (pod, now) => kubelet(pod, now),
  );
  const later = cluster.clock.now() + 500;
  await cluster.until('it is over', isOver);
  assert.equal((await status()).completedIndexes, '0-3');
  assert.equal((await status()).succeeded, 4);
  assert.ok(((await status()).failed ?? 0) >= 1);
  const [pod] = await cluster.pods();
  const env = pod?.spec?.containers[0]?.env?.find(({ name }) => name === 'JOB_COMPLETION_INDEX');
  assert.equal(env?.valueFrom?.fieldRef?.fieldPath, "metadata.annotations['batch.kubernetes.io/job-completion-index']");
});

test('a finished job goes after its time to live, and a deleted one leaves no pod that waits to be counted', async (t) => {
  const controllers = (host: ConstructorParameters<typeof GarbageKeeper>[0]['host'], { clock, api }: Cluster) => [
    new JobController(),
    new GarbageKeeper({ clock, client: api.client, host }),
  ];
  const cluster = await Cluster.start(t, { controllers, kubelet: succeeds });
  await cluster.of(jobs).create(work({ ttlSecondsAfterFinished: 20 }));
  await cluster.until('it is over', async () => isFinished((await cluster.of(jobs).get('w')).status));
  await cluster.run(10_000);
  assert.ok(await cluster.of(jobs).find('w'));
  await cluster.until('it is gone', async () => (await cluster.of(jobs).find('w')) === undefined);
  await cluster.until('so are its pods', async () => (await cluster.pods()).length === 0);
  for (const propagationPolicy of ['Background', 'Foreground', 'Orphan'] as const) {
    cluster.kubelet = ready;
    await cluster.of(jobs).create(work());
    await cluster.until('it runs', async () => (await cluster.pods())[0]?.status?.phase === 'Running');
    await cluster.of(jobs).delete('w', { propagationPolicy });
    await cluster.until('it is gone', async () => (await cluster.of(jobs).find('w')) === undefined);
    await cluster.run(1_000);
    const left = await cluster.pods();
    assert.equal(left.length, propagationPolicy === 'Orphan' ? 1 : 0, propagationPolicy);
    assert.ok(left.every(({ metadata }) => (metadata.finalizers ?? []).length === 0));
  }
});
