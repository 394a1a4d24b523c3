import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Stored } from '@reeve/kube';
import fc from 'fast-check';
import { JOB_TRACKING, type JobSpec, type JobStatus, type PodFailureRule } from '../../kinds/job.ts';
import type { Pod } from '../../kinds/pod.ts';
import { meaningOf } from './failure-policy.ts';
import { formatIndexes, parseIndexes } from './indexes.ts';
import { isTracked, planJob } from './plan.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const LONG_AGO = '2026-01-01T00:00:00Z';

/** `a+` succeeded, `a!` failed, `a` runs, `ax` runs and is being deleted; a small `-` behind: not tracked any more. */
function pod(text: string): Stored<Pod> {
  const [, uid = '', state = '', off] = /^(\w)([+!x]?)(-?)$/.exec(text) ?? [];
  const phase = state === '+' ? 'Succeeded' : state === '!' ? 'Failed' : 'Running';
  const terminated = { exitCode: state === '+' ? 0 : 1, finishedAt: LONG_AGO };
  const main = { name: 'main', ready: false, restartCount: 0, image: '', imageID: '', state: { terminated } };
  return {
    metadata: {
      name: uid,
      uid,
      namespace: 'ns',
      resourceVersion: '1',
      finalizers: off === '-' ? [] : [JOB_TRACKING],
      ...(state === 'x' && { deletionTimestamp: LONG_AGO }),
    },
    status: { phase, ...(phase !== 'Running' && { containerStatuses: [main] }) },
  };
}

const podsOf = (text: string) => text.split(' ').filter(Boolean).map(pod);
const look = (text: string, spec: Partial<JobSpec> = {}, status: JobStatus = {}) =>
  planJob(
    {
      spec: { template: {}, completions: 3, parallelism: 2, ...spec },
      status,
      isBeingDeleted: false,
      pods: podsOf(text),
    },
    NOW,
  );

function said(plan: ReturnType<typeof planJob>): string {
  const names = (all: readonly Stored<Pod>[]) => all.map(({ metadata }) => metadata.name).join('');
  const { succeeded = 0, failed = 0, uncountedTerminatedPods: u } = plan.status;
  const parts = [
    `${succeeded}/${failed}`,
    `uncounted ${u?.succeeded?.join('') ?? ''}|${u?.failed?.join('') ?? ''}`,
    `release ${names(plan.release)}`,
    `remove ${plan.remove.map(({ pod: { metadata }, forget }) => `${metadata.name}${forget ? '' : '!'}`).join('')}`,
    `start ${plan.start.length}`,
  ];
  return parts.join(', ');
}

const rows: readonly (readonly [pods: string, spec: Partial<JobSpec>, status: JobStatus, expected: string])[] = [
  ['', {}, {}, '0/0, uncounted |, release , remove , start 2'],
  ['a b', {}, {}, '0/0, uncounted |, release , remove , start 0'],
  ['a+ b', {}, {}, '0/0, uncounted a|, release a, remove , start 1'],
  ['a+ b', {}, { uncountedTerminatedPods: { succeeded: ['a'] } }, '0/0, uncounted a|, release a, remove , start 1'],
  ['a+- b', {}, { uncountedTerminatedPods: { succeeded: ['a'] } }, '1/0, uncounted |, release , remove , start 1'],
  ['b', {}, { uncountedTerminatedPods: { succeeded: ['a'] } }, '1/0, uncounted |, release , remove , start 1'],
  ['a+- b', {}, { succeeded: 1 }, '1/0, uncounted |, release , remove , start 1'],
  ['a b', {}, { succeeded: 2 }, '2/0, uncounted |, release , remove b, start 0'],
  ['a', {}, { succeeded: 3 }, '3/0, uncounted |, release , remove a, start 0'],
  ['a!', {}, {}, '0/0, uncounted |a, release a, remove , start 2'],
  ['ax', {}, {}, '0/0, uncounted |a, release a, remove , start 2'],
  ['ax', { podReplacementPolicy: 'Failed' }, {}, '0/0, uncounted |, release , remove , start 1'],
  ['a b', { suspend: true }, {}, '0/0, uncounted |, release , remove ab, start 0'],
  ['a! b', { backoffLimit: 0 }, {}, '0/0, uncounted |ab, release ab, remove b!, start 0'],
  ['a- b', {}, {}, '0/0, uncounted |, release , remove a, start 0'],
  ['a b c', { parallelism: 1 }, {}, '0/0, uncounted |, release , remove cb, start 0'],
];

for (const [pods, spec, status, expected] of rows) {
  test(`a job with ${pods || 'nothing'}, ${JSON.stringify(spec)}, ${JSON.stringify(status)}`, () => {
    assert.equal(said(look(pods, spec, status)), expected);
  });
}

const exit = (operator: 'In' | 'NotIn', values: readonly number[], containerName?: string): PodFailureRule => ({
  action: 'Ignore',
  onExitCodes: { operator, values, ...(containerName !== undefined && { containerName }) },
});

test('rules of failures: the first that matches counts, success is never a failure', () => {
  const cases: readonly (readonly [PodFailureRule, string, string])[] = [
    [exit('In', [1, 2]), 'a!', 'ignore'],
    [exit('In', [2]), 'a!', 'count'],
    [exit('NotIn', [2]), 'a!', 'ignore'],
    [exit('NotIn', [1]), 'a!', 'count'],
    [exit('In', [1], 'other'), 'a!', 'count'],
    [exit('NotIn', [1]), 'a+', 'count'],
    [exit('In', [1]), 'ax', 'count'],
  ];
  for (const [rule, name, meaning] of cases)
    assert.equal(meaningOf([rule], pod(name)).type, meaning, JSON.stringify(rule));
});

test('indexes are written as Kubernetes does, and read back', () => {
  assert.equal(formatIndexes([0, 1, 2, 4, 6, 7]), '0-2,4,6,7');
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(40)), (all) => {
      assert.deepEqual(
        [...parseIndexes(formatIndexes(all), 41)],
        all.toSorted((a, b) => a - b),
      );
    }),
  );
});

/**
 * Pods run and end as they like; the controller gets only as far as it likes in each turn, and knows of pods only what it last saw.
 */
test('whatever is interrupted, every outcome is counted once', () => {
  const turn = fc.record({ ends: fc.array(fc.boolean(), { maxLength: 2 }), steps: fc.integer({ min: 0, max: 3 }) });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 20 }), (turns) => {
      const spec: JobSpec = { template: {}, completions: 4, parallelism: 2, backoffLimit: 100 };
      let status: JobStatus = {};
      let made = 0;
      const all = new Map<string, Stored<Pod>>();
      const put = (one: Stored<Pod>) => all.set(one.metadata.uid, one);
      const drain = Array.from({ length: 60 }, () => ({ ends: [true, true], steps: 9 }));
      for (const { ends, steps } of [...turns, ...drain]) {
        for (const isGood of ends) {
          const running = [...all.values()].find((one) => one.status?.phase === 'Running');
          if (running) put({ ...pod(`z${isGood ? '+' : '!'}`), metadata: running.metadata });
        }
        const plan = planJob({ spec, status, isBeingDeleted: false, pods: [...all.values()] }, NOW);
        const writes = [
          () => void (status = plan.status),
          ...plan.release.map((one) => () => put({ ...one, metadata: { ...one.metadata, finalizers: [] } })),
          ...plan.start.map(() => () => {
            const uid = `u${++made}`;
            return put({ ...pod('a'), metadata: { ...pod('a').metadata, name: uid, uid } });
          }),
        ];
        for (const write of writes.slice(0, steps)) write();
      }
      const ended = (phase: string) => [...all.values()].filter((one) => one.status?.phase === phase).length;
      assert.deepEqual([status.succeeded, status.failed], [ended('Succeeded'), ended('Failed')]);
      assert.ok(![...all.values()].some(isTracked));
      assert.ok(status.conditions?.some(({ type }) => type === 'Complete'));
    }),
  );
});
