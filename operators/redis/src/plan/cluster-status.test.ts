import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crdOf } from '@reeve/runtime';
import { redisClusterKind } from '../api/cluster.ts';
import type { Finding } from '../api/findings.ts';
import { findingConditions, type Phase, type PhaseFacts, phaseOf, shownTopology } from './cluster-status.ts';

test('members are not told beside the goal of a creation, and beside any other', () => {
  const members = [{ pod: 'c-0', id: 'a', role: 'primary' as const }];
  const topology = { primaries: 1, replicas: 0, slots: 16_384, members };
  assert.deepEqual(shownTopology(topology, 'create'), { ...topology, members: [] });
  for (const operation of ['rebalance', undefined]) assert.equal(shownTopology(topology, operation), topology);
});

const finding = (severity: Finding['severity']): Finding => ({
  code: 'SLOT_OPEN',
  severity,
  message: '',
  nodes: [],
  remedy: '',
});
const calm: PhaseFacts = {
  isInvalid: false,
  isPaused: false,
  configured: true,
  findings: [],
  isWhole: true,
  isUnserved: false,
  isRolling: false,
};
const broken = { findings: [finding('degraded'), finding('broken')] };
const degraded = { findings: [finding('info'), finding('degraded')] };

const phases: readonly (readonly [Phase, string, Partial<PhaseFacts>])[] = [
  ['Invalid', 'the spec cannot be acted on', { isInvalid: true }],
  ['Invalid', 'whatever else is true', { isInvalid: true, isPaused: true, operation: 'fix', ...broken }],
  ['Paused', 'a person said so', { isPaused: true }],
  ['Paused', 'also while it is broken and something was begun', { isPaused: true, operation: 'fix', ...broken }],
  ['Paused', 'a person said so, also if nobody answers', { isPaused: true, isUnserved: true }],
  ['Creating', 'a creation runs', { operation: 'create', configured: false }],
  [
    'Creating',
    'and is not whole yet, nor its slots served',
    { operation: 'create', isWhole: false, isUnserved: true, ...broken },
  ],
  ['Pending', 'nothing was created', { configured: false, isWhole: false }],
  ['Pending', 'and nothing is served', { configured: false, isWhole: false, isUnserved: true }],
  ['Pending', 'what is found is no cluster yet', { configured: false, operation: 'fix', ...broken }],
  ['Broken', 'data is not served', broken],
  ['Broken', 'nobody answers, so that nothing is found either', { isWhole: false, isUnserved: true }],
  ['Broken', 'all are there, and none owns a slot', { isUnserved: true }],
  ['Broken', 'also while it is mended', { operation: 'fix', isWhole: false, ...broken }],
  ['Changing', 'an operation runs', { operation: 'rebalance' }],
  ['Changing', 'which opens slots', { operation: 'rebalance', isWhole: false, ...degraded }],
  ['Changing', 'pods are still to be made anew', { isRolling: true }],
  ['Degraded', 'between two of these something is amiss', { isRolling: true, ...degraded }],
  ['Degraded', 'it is less safe than it should be', degraded],
  ['Degraded', 'a server does not answer', { isWhole: false }],
  ['Running', 'nothing is amiss', {}],
  ['Running', 'what is only worth knowing is not amiss', { findings: [finding('info')] }],
];

for (const [phase, why, facts] of phases) {
  test(`${phase}: ${why}`, () => assert.equal(phaseOf({ ...calm, ...facts }), phase));
}

test('every phase that a status may have is in the table, in the order in which they are asked for', () => {
  const phase = /"phase":\{[^}]*"enum":(\[[^\]]*\])/.exec(JSON.stringify(crdOf(redisClusterKind)))?.[1] ?? '[]';
  assert.deepEqual([...new Set(phases.map(([one]) => one))], JSON.parse(phase));
});

test('several findings of a kind are one text, whose parts can be told apart, and which has an end', () => {
  const facts = { slots: 16_384, configured: true, isWhole: true };
  const textOf = (findings: readonly Finding[]) =>
    findingConditions([], findings, facts).find(({ type }) => type === 'SlotOpen')?.message;
  const open = (message: string, remedy: string): Finding => ({ ...finding('degraded'), message, remedy });
  const [one, other] = [open('slot 1 is open', 'Mend: reeve redis fix'), open('slot 2 is open', 'Wait.')];
  assert.equal(textOf([other]), 'slot 2 is open. Wait.');
  assert.equal(textOf([one, other]), 'slot 1 is open. Mend: reeve redis fix; slot 2 is open. Wait.');
  assert.equal(textOf([other, one]), 'slot 2 is open. Wait; slot 1 is open. Mend: reeve redis fix');
  assert.equal(textOf(Array.from({ length: 100 }, () => open('x'.repeat(100), 'Wait.')))?.length, 2_000);
});
