import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '@reeve/kube';
import { asReeveError, ReeveError } from './errors.ts';

test('an error of the client keeps its code and subjects; errors of the system and bugs do not pass for ours', () => {
  const ours = new ReeveError('QUEUE_OPTIONS', 'no');
  assert.equal(asReeveError(ours), ours);
  const kube = asReeveError(new KubeError('KUBE_CONFLICT', 'changed', { subjects: ['PUT /x'] }));
  assert.deepEqual([kube.code, kube.message, kube.subjects], ['KUBE_CONFLICT', 'changed', ['PUT /x']]);
  assert.ok(kube.cause instanceof KubeError);
  assert.equal(asReeveError(Object.assign(new Error('no file'), { code: 'ENOENT' })).code, 'INTERNAL');
  assert.equal(asReeveError('text').code, 'INTERNAL');
});
