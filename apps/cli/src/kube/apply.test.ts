import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyObject } from '@reeve/kube';
import { outcome } from './apply.ts';

const at = (resourceVersion: string, more: object): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', resourceVersion, generation: 1 },
  ...more,
});

test('what became of an object is told by what was applied, not by what others wrote meanwhile', () => {
  const manifest = at('', { spec: { size: 1 } });
  const before = at('1', { spec: { size: 1 }, status: { phase: 'Pending' } });
  const told = (after: AnyObject, more: object = {}) => outcome({ before, after, manifest, isDryRun: false, ...more });
  assert.equal(told(at('1', { spec: { size: 1 }, status: { phase: 'Pending' } })), 'unchanged');
  assert.equal(
    told(at('2', { status: { phase: 'Running' }, spec: { size: 1 } })),
    'unchanged',
    'somebody wrote its status',
  );
  assert.equal(told(at('2', { spec: { size: 2 }, status: { phase: 'Pending' } })), 'changed');
  assert.equal(told(at('1', { spec: { size: 2 } }), { isDryRun: true }), 'would be changed');
  assert.equal(told(before, { before: undefined }), 'created');
  const running = at('2', { spec: { size: 1 }, status: { phase: 'Running' } });
  assert.equal(
    told(running, { manifest: at('', { status: { phase: 'Running' } }) }),
    'changed',
    'a status that was applied',
  );
});
