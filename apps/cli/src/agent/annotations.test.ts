import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotationsFrom } from './annotations.ts';

test('from options, the last of equal keys; what is no pair is refused', () => {
  assert.deepEqual(annotationsFrom({}, ['zone=a', 'rack=r=1', 'zone=b']), { zone: 'b', rack: 'r=1' });
  for (const wrong of ['zone', '=a', 'zone=', '1zone=a']) {
    assert.throws(() => annotationsFrom({}, [wrong]), { code: 'USAGE' }, wrong);
  }
});

test('in a pod from its environment, which options overrule', () => {
  const env = { NODE_NAME: 'worker-1', NODE_ZONE: 'a', NODE_REGION: '', OTHER: 'x' };
  assert.deepEqual(annotationsFrom(env, []), { host: 'worker-1', zone: 'a' });
  assert.deepEqual(annotationsFrom(env, ['zone=b']), { host: 'worker-1', zone: 'b' });
});

test('more than a report has room for is refused at the start, not in the first report', () => {
  assert.throws(() => annotationsFrom({}, [`note=${'x'.repeat(600)}`]), { code: 'USAGE' });
});
