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
