import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Stored } from '@reeve/kube';
import {
  COMPLETION_INDEX,
  INDEX_FAILURES,
  INDEX_IGNORED_FAILURES,
  JOB_TRACKING,
  type JobSpec,
  type JobStatus,
  type PodFailureRule,
} from '../../kinds/job.ts';
import type { Pod } from '../../kinds/pod.ts';
import { planJob } from './plan.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const LONG_AGO = '2026-01-01T00:00:00Z';
const JUST_NOW = '2026-01-01T00:59:59Z';

interface Told {
  readonly state: 'runs' | 'failed' | 'succeeded';
  readonly before?: number;
  readonly ignored?: number;
  readonly code?: number;
  readonly at?: string;
}

/** One of index 1 is `1a`. */
function pod(name: string, { state, before = 0, ignored = 0, code = 1, at = LONG_AGO }: Told): Stored<Pod> {
  const phase = state === 'runs' ? 'Running' : state === 'failed' ? 'Failed' : 'Succeeded';
  const terminated = { exitCode: state === 'failed' ? code : 0, finishedAt: at };
  const main = { name: 'main', ready: false, restartCount: 0, image: '', imageID: '', state: { terminated } };
  const annotations = {
    [COMPLETION_INDEX]: name[0] as string,
    [INDEX_FAILURES]: String(before),
    ...(ignored > 0 && { [INDEX_IGNORED_FAILURES]: String(ignored) }),
  };
  return {
    metadata: { name, uid: name, namespace: 'ns', resourceVersion: '1', finalizers: [JOB_TRACKING], annotations },
    status: { phase, ...(state !== 'runs' && { containerStatuses: [main] }) },
  };
}

function look(pods: readonly Stored<Pod>[], spec: Partial<JobSpec> = {}, status: JobStatus = {}) {
  const whole: JobSpec = {
    template: {},
    completionMode: 'Indexed',
    completions: 3,
    parallelism: 3,
    backoffLimitPerIndex: 1,
    ...spec,
  };
  const plan = planJob({ spec: whole, status, isBeingDeleted: false, pods }, NOW);
  return {
    failed: plan.status.failedIndexes,
    completed: plan.status.completedIndexes,
    uncounted: plan.status.uncountedTerminatedPods?.failed,
    released: plan.release.map(({ metadata }) => metadata.name),
    started: plan.start.map(({ index, failures }) => [index, failures?.counted, failures?.ignored]),
    wakeAt: plan.wakeAt,
    ends: plan.status.conditions?.map(({ type, reason }) => `${type} ${reason}`),
  };
}

const runs = (name: string, before = 0) => pod(name, { state: 'runs', before });

test('every index begins without failures, and says so', () => {
  const { started, failed } = look([]);
  assert.deepEqual(started, [
    [0, 0, 0],
    [1, 0, 0],
    [2, 0, 0],
  ]);
  assert.equal(failed, '');
});

test('a pod that failed is held until its successor is there, which knows of it', () => {
  const first = pod('1a', { state: 'failed' });
  const held = look([runs('0a'), first, runs('2a')]);
  assert.deepEqual([held.started, held.released, held.uncounted], [[[1, 1, 0]], [], []]);
  const replaced = look([runs('0a'), first, runs('1b', 1), runs('2a')]);
  assert.deepEqual([replaced.started, replaced.released, replaced.uncounted], [[], ['1a'], ['1a']]);
});

test('an index pauses after its own failures, and no other does', () => {
  const waits = look([runs('0a'), pod('1a', { state: 'failed', at: JUST_NOW })]);
  assert.deepEqual(waits.started, [[2, 0, 0]]);
  assert.equal(waits.wakeAt, Date.parse(JUST_NOW) + 10_000);
  const longer = look([runs('0a'), pod('1b', { state: 'failed', before: 1, ignored: 1, at: JUST_NOW })], {
    backoffLimitPerIndex: 5,
  });
  assert.equal(longer.wakeAt, Date.parse(JUST_NOW) + 40_000);
});

test('an index at its limit has failed; the others go on, and the job fails when they are over', () => {
  const last = pod('1b', { state: 'failed', before: 1 });
  const one = look([runs('0a'), last, runs('2a')]);
  assert.deepEqual([one.failed, one.started, one.uncounted, one.ends], ['1', [], ['1b'], undefined]);
  const done = pod('0a', { state: 'succeeded' });
  const over = look([done, last, pod('2a', { state: 'succeeded' })]);
  assert.deepEqual([over.completed, over.failed], ['0,2', '1']);
  assert.deepEqual(over.ends, ['FailureTarget FailedIndexes']);
});

test('more failed indexes than may be end the job at once', () => {
  const last = (name: string) => pod(name, { state: 'failed', before: 1 });
  const two = look([last('0b'), last('1b'), runs('2a')], { maxFailedIndexes: 1 });
  assert.deepEqual(two.ends, ['FailureTarget MaxFailedIndexesExceeded']);
  assert.deepEqual(two.uncounted, ['0b', '1b', '2a']);
  assert.equal(look([last('0b'), runs('1a'), runs('2a')], { maxFailedIndexes: 1 }).ends, undefined);
});

test('rules: one fails its index at once, one is not counted and only prolongs the pause', () => {
  const rules: readonly PodFailureRule[] = [
    { action: 'FailIndex', onExitCodes: { operator: 'In', values: [42] } },
    { action: 'Ignore', onExitCodes: { operator: 'In', values: [7] } },
  ];
  const podFailurePolicy = { rules };
  const fatal = look([pod('0a', { state: 'failed', code: 42 }), runs('1a'), runs('2a')], { podFailurePolicy });
  assert.deepEqual([fatal.failed, fatal.uncounted], ['0', ['0a']]);
  const ignored = look([pod('0a', { state: 'failed', code: 7, before: 1 }), runs('1a'), runs('2a')], {
    podFailurePolicy,
  });
  assert.deepEqual([ignored.failed, ignored.started, ignored.released], ['', [[0, 1, 1]], []]);
});

test('what was said of an index stays true when its pods are gone', () => {
  const { failed, started } = look([runs('0a')], {}, { failedIndexes: '1', completedIndexes: '2', succeeded: 1 });
  assert.deepEqual([failed, started], ['1', []]);
});
