import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AGENT_POLICY, memberWritePolicy, ReeveError } from '@reeve/runtime';
import type { AdmissionPolicy, AdmissionPolicyBinding } from '../api/kinds.ts';
import { demandAgentPolicy, policyLack } from './agent-policy.ts';

const [policy, binding] = memberWritePolicy() as readonly unknown[] as readonly [
  AdmissionPolicy & { readonly metadata: object },
  AdmissionPolicyBinding & { readonly metadata: object },
];
const goes = { deletionTimestamp: '2026-01-01T00:00:00Z' };

test('the policy of the manifests narrows agents; what is missing, is going or refuses nothing does not', () => {
  assert.equal(policyLack(policy, binding), undefined);
  const filledIn = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} };
  assert.equal(policyLack(policy, { ...binding, spec: { ...binding.spec, matchResources: filledIn } }), undefined);
  const cases: readonly (readonly [AdmissionPolicy | undefined, AdmissionPolicyBinding | undefined])[] = [
    [undefined, undefined],
    [undefined, binding],
    [policy, undefined],
    [{ ...policy, metadata: { ...policy.metadata, ...goes } } as AdmissionPolicy, binding],
    [policy, { ...binding, metadata: { ...binding.metadata, ...goes } } as AdmissionPolicyBinding],
    [{ ...policy, spec: { ...policy.spec, failurePolicy: 'Ignore' } }, binding],
    [policy, { ...binding, spec: { ...binding.spec, validationActions: ['Warn', 'Audit'] } }],
    [policy, { ...binding, spec: { ...binding.spec, policyName: 'another' } }],
    [
      policy,
      { ...binding, spec: { ...binding.spec, matchResources: { namespaceSelector: { matchLabels: { a: 'b' } } } } },
    ],
  ];
  for (const [one, other] of cases) assert.match(policyLack(one, other) ?? '', new RegExp(AGENT_POLICY));
});

test('both are read as the server has them at this moment', async () => {
  const there = new Map<string, unknown>();
  const api = {
    resource: ({ kind }: { readonly kind: string }) => ({
      find: async (name: string) => (name === AGENT_POLICY ? there.get(kind) : undefined),
    }),
  } as never;
  const { signal } = new AbortController();
  const isRefused = (error: unknown) => error instanceof ReeveError && error.code === 'AGENT_POLICY_MISSING';
  await assert.rejects(demandAgentPolicy(api, signal), isRefused);
  there.set('ValidatingAdmissionPolicy', policy);
  await assert.rejects(demandAgentPolicy(api, signal), isRefused);
  there.set('ValidatingAdmissionPolicyBinding', binding);
  await demandAgentPolicy(api, signal);
});
