import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../api/findings.ts';
import { noStrays, strayConditions, strayLook } from './stray-keys.ts';

const finding = (code: Finding['code'], severity: Finding['severity']): Finding => ({
  code,
  severity,
  message: 'a holds 2 keys',
  nodes: [],
  remedy: 'fix it',
});
const found = strayLook([finding('KEYS_OUTSIDE_SLOT', 'broken'), finding('SLOT_OPEN', 'degraded')]);
const unsure = strayLook([finding('KEYS_OUTSIDE_SLOT', 'info')]);
const said = [{ type: 'StrayKeys', status: 'True', reason: 'Found', message: '', lastTransitionTime: '' }] as const;

test('keys outside their slots are told until a look at every key, or a fix, says otherwise', () => {
  assert.deepEqual(strayConditions(undefined, found), [
    { type: 'StrayKeys', status: 'True', reason: 'Found', message: 'a holds 2 keys. fix it' },
  ]);
  assert.deepEqual(strayConditions([...said], undefined), [], 'nobody looked');
  assert.deepEqual(strayConditions([...said], unsure), [], 'one could not be asked');
  assert.equal(strayConditions([...said], noStrays)[0]?.status, 'False');
  assert.deepEqual(strayConditions(undefined, noStrays), [], 'nothing was ever said');
});
