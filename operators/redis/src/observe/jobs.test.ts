import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runningJobsOf } from './jobs.ts';

const job = (state: string, ...more: string[]) => [
  'name',
  'n',
  'operation',
  'IMPORT',
  'slot_ranges',
  '0-9',
  'state',
  state,
  ...more,
];

test('what a replica mentions of its primary’s job is no job of its own: it names neither source nor target', () => {
  const own = job('snapshotting', 'source_node', 'a', 'target_node', 'b');
  assert.deepEqual(
    runningJobsOf([job('occurring-on-primary'), own, job('success')]).map(({ sourceId, targetId }) => [
      sourceId,
      targetId,
    ]),
    [['a', 'b']],
  );
});
