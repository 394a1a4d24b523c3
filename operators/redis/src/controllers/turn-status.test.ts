import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReeveError } from '@reeve/runtime';
import type { CurrentOperation } from '../api/cluster.ts';
import { certificateConditions, hasSameGoal, undeclaredBy } from './turn-status.ts';

const operation = (id: string): CurrentOperation => ({
  id,
  kind: 'create',
  why: '',
  trigger: { kind: 'RedisCluster', name: 'c', uid: 'u' },
  startedAt: '2026-01-01T00:00:00Z',
  goal: {},
});

test('a status is written on one with the same goal, and never makes a cluster unborn', () => {
  assert.ok(hasSameGoal({}, undefined));
  assert.ok(hasSameGoal({ currentOperation: operation('a') }, { currentOperation: operation('a'), phase: 'Creating' }));
  assert.ok(!hasSameGoal({}, { currentOperation: operation('a') }));
  assert.ok(!hasSameGoal({ currentOperation: operation('a') }, {}));
  assert.ok(!hasSameGoal({ currentOperation: operation('a') }, { currentOperation: operation('b') }));
  assert.ok(!hasSameGoal({}, { configured: true }));
  assert.ok(hasSameGoal({ configured: false }, {}));
  assert.ok(hasSameGoal({ tls: { taken: 'a' } }, { tls: { taken: 'a' } }));
  assert.ok(!hasSameGoal({ tls: { taken: 'a' } }, { tls: { taken: 'b' } }), 'servers were given more since');
  assert.ok(!hasSameGoal({}, { tls: { taken: 'b' } }));
  assert.ok(hasSameGoal({ approvals: 0 }, {}));
  assert.ok(!hasSameGoal({ approvals: 1 }, { approvals: 2 }), 'an approval was used up since');
});

test('certificates that servers are not given are told with what to do, until there are others', () => {
  const refused = { code: 'TLS_AUTHORITY_DROPPED', message: 'secret s: ca.crt lacks one', subjects: ['s'] };
  assert.deepEqual(certificateConditions(undefined, {}), []);
  const [said] = certificateConditions(undefined, { refused });
  assert.deepEqual([said?.status, said?.reason], ['True', 'TlsAuthorityDropped']);
  assert.match(said?.message ?? '', /^secret s: ca\.crt lacks one\. Put the old authority into ca\.crt/);
  const before = [
    { type: 'CertificateRefused', status: 'True', reason: '', message: '', lastTransitionTime: '' },
  ] as const;
  assert.equal(certificateConditions(before as never, {})[0]?.status, 'False');
  assert.deepEqual(certificateConditions(before as never, undefined), [], 'nobody looked: what was said stands');
});

test('what must not be declared as things are is told with what to do; other errors are errors', () => {
  const said = undeclaredBy(new ReeveError('AGENT_POLICY_MISSING', 'agents are not given rights'));
  assert.equal(said?.reason, 'AgentPolicyMissing');
  assert.match(said?.message ?? '', /^agents are not given rights\. Have an administrator apply/);
  const held = undeclaredBy(new ReeveError('MIXED_PRODUCTS', 'c-0 runs valkey, and redis is another product'));
  assert.deepEqual(
    [held?.reason, held?.message],
    ['MixedProducts', 'c-0 runs valkey, and redis is another product. Use servers of one product.'],
  );
  assert.equal(undeclaredBy(new ReeveError('CANCELLED', 'stopped')), undefined);
  assert.equal(undeclaredBy(new Error('no answer')), undefined);
});
