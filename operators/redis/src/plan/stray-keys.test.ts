import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../api/findings.ts';
import { known, unknown } from '@reeve/runtime';
import { countedFindings, strayConditions, strayLook, straysLeft } from './stray-keys.ts';
import { clusterNodes, viewOfNodes } from './testing.ts';

const finding = (code: Finding['code'], severity: Finding['severity']): Finding => ({
  code,
  severity,
  message: 'a holds 2 keys',
  nodes: [],
  remedy: 'fix it',
});
const found = strayLook([finding('KEYS_OUTSIDE_SLOT', 'broken'), finding('SLOT_OPEN', 'degraded')]);
const unsure = strayLook([finding('KEYS_OUTSIDE_SLOT', 'info')]);
const none = strayLook([]);
const said = [{ type: 'StrayKeys', status: 'True', reason: 'Found', message: '', lastTransitionTime: '' }] as const;

test('keys outside their slots are told until a count, or a fix, says otherwise', () => {
  assert.deepEqual(strayConditions(undefined, found), [
    { type: 'StrayKeys', status: 'True', reason: 'Found', message: 'a holds 2 keys. fix it' },
  ]);
  assert.deepEqual(strayConditions([...said], undefined), [], 'nobody looked');
  assert.deepEqual(strayConditions([...said], unsure), [], 'one could not be asked');
  assert.equal(strayConditions([...said], none)[0]?.status, 'False');
  assert.deepEqual(strayConditions(undefined, none), [], 'nothing was ever said');
});

test('after a fix none are left only if every primary was counted', () => {
  const nodes = clusterNodes({ primaries: 3, replicas: 1 });
  const left = (role: 'primary' | 'replica', keysBeyondSlots: (typeof nodes)[number]['keysBeyondSlots']) => {
    const at = nodes.findIndex((node) => node.role === role);
    return straysLeft(viewOfNodes(nodes.map((node, index) => (index === at ? { ...node, keysBeyondSlots } : node))));
  };
  assert.deepEqual(left('primary', known(0)), { found: [], isWhole: true });
  assert.equal(left('primary', known(1)).isWhole, false);
  assert.equal(left('primary', unknown('no right to')).isWhole, false);
  assert.equal(left('replica', unknown('not asked')).isWhole, true);
});

test('keys that were not looked for are not counted; those that were found are, while that stands', () => {
  const open = finding('SLOT_OPEN', 'degraded');
  const findings = [open, finding('KEYS_OUTSIDE_SLOT', 'info')];
  assert.deepEqual(countedFindings(findings, undefined), [open]);
  assert.deepEqual(countedFindings(findings, [...said]), [open, { code: 'KEYS_OUTSIDE_SLOT', severity: 'broken' }]);
  assert.equal(countedFindings([finding('KEYS_OUTSIDE_SLOT', 'broken')], [...said]).length, 1);
});
