import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionNews } from './condition-news.ts';

const condition = (type: string, status: 'True' | 'False' | 'Unknown', reason: string, message: string) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '',
});

test('what is amiss is told when it comes and when it says something else, not while it stands', () => {
  const invalid = condition('Valid', 'False', 'ConfigInvalid', 'port is not for you to say');
  const missing = condition('UserSecretMissing', 'True', 'PasswordKept', 'there is no secret app');
  const after = { conditions: [invalid, missing, condition('Declared', 'True', 'AsAsked', '')] };
  const told = [
    { reason: 'ConfigInvalid', note: 'port is not for you to say' },
    { reason: 'UserSecretMissing', note: 'there is no secret app' },
  ];
  assert.deepEqual(conditionNews({}, after), told);
  assert.deepEqual(conditionNews(after, after), []);
  assert.deepEqual(conditionNews({ conditions: [{ ...invalid, status: 'True' }, missing] }, after), told.slice(0, 1));
  assert.deepEqual(conditionNews({ conditions: [invalid, { ...missing, message: 'another' }] }, after), told.slice(1));
});

test('a pod that is stuck is told by its reason: not again for another pod, nor for every try of a kubelet', () => {
  const stuck = (reason: string, pods: string) => ({
    conditions: [condition('PodStuck', 'True', reason, `pods ${pods}`)],
  });
  const told = [{ reason: 'PodStuck', note: 'pods c-1' }];
  assert.deepEqual(conditionNews({}, stuck('ErrImagePull', 'c-1')), told);
  assert.deepEqual(conditionNews(stuck('ErrImagePull', 'c-1'), stuck('ErrImagePull', 'c-1, c-2')), []);
  assert.deepEqual(conditionNews(stuck('ErrImagePull', 'c-1'), stuck('ImagePullBackOff', 'c-1')), []);
  assert.deepEqual(conditionNews(stuck('ImagePullBackOff', 'c-1'), stuck('ErrImagePull', 'c-1')), []);
  assert.deepEqual(conditionNews(stuck('ErrImagePull', 'c-1'), stuck('CrashLoopBackOff', 'c-1')), told);
  assert.deepEqual(conditionNews(stuck('ErrImagePull', 'c-1'), {}), []);
});

test('each refusal is told once, with its code and what to do, until it is over', () => {
  const refusal = (code: string, message = 'no') => ({ kind: 'fix', stage: 'proposal' as const, code, message });
  const [old, split] = [refusal('UNSUPPORTED_VERSION'), refusal('SPLIT_CLUSTER')];
  const failed = { ...refusal('REDIS_REPLY'), stage: 'run' as const };
  const [said, ...more] = conditionNews({}, { setbacks: [failed, old, { ...old, message: 'nor that' }] });
  assert.deepEqual(more, []);
  assert.equal(said?.reason, 'UnsupportedVersion');
  assert.match(said?.note ?? '', /^fix: nor that\. \w/);
  assert.deepEqual(conditionNews({ setbacks: [old] }, { setbacks: [{ ...old, message: 'of another' }] }), []);
  assert.deepEqual(
    conditionNews({ setbacks: [old] }, { setbacks: [old, split] }).map(({ reason }) => reason),
    ['SplitCluster'],
  );
  assert.deepEqual(conditionNews({ setbacks: [old] }, {}), []);
});
