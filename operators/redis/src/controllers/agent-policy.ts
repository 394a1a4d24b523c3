/** Agents in pods share an account: without the policy that compares their pods, each could write for all others. So it must be there first. */
import { AGENT_POLICY, type DeepReadonly, ReeveError } from '@reeve/runtime';
import type { Api } from '@reeve/runtime/manager';
import {
  type AdmissionPolicy,
  type AdmissionPolicyBinding,
  admissionPolicies,
  admissionPolicyBindings,
} from '../api/kinds.ts';

/** From what the server has at this moment. One that does not know such policies has none. */
export async function demandAgentPolicy(api: Api, signal: AbortSignal): Promise<void> {
  const policy = await api.resource(admissionPolicies).find(AGENT_POLICY, { signal });
  const binding = policy && (await api.resource(admissionPolicyBindings).find(AGENT_POLICY, { signal }));
  const lack = policyLack(policy, binding);
  if (lack === undefined) return;
  const message = `agents are not given rights: ${lack}`;
  throw new ReeveError('AGENT_POLICY_MISSING', message, { subjects: [AGENT_POLICY] });
}

/** What keeps agents from being narrowed; undefined: nothing does. What the policy says is its installer's, and may be of a newer version. */
export function policyLack(
  policy: DeepReadonly<AdmissionPolicy> | undefined,
  binding: DeepReadonly<AdmissionPolicyBinding> | undefined,
): string | undefined {
  if (!policy || policy.metadata?.deletionTimestamp) return `there is no ValidatingAdmissionPolicy ${AGENT_POLICY}`;
  if (!binding || binding.metadata?.deletionTimestamp) {
    return `there is no ValidatingAdmissionPolicyBinding ${AGENT_POLICY}`;
  }
  const { policyName, validationActions = [], matchResources } = binding.spec ?? {};
  const isBinding = policyName === AGENT_POLICY && validationActions.includes('Deny') && !isNarrowed(matchResources);
  if (!isBinding) return `the ValidatingAdmissionPolicyBinding ${AGENT_POLICY} does not deny by that policy everywhere`;
  // What it cannot judge must be refused: that is the default.
  const { failurePolicy = 'Fail' } = policy.spec ?? {};
  return failurePolicy === 'Fail'
    ? undefined
    : `the ValidatingAdmissionPolicy ${AGENT_POLICY} lets through what it cannot judge`;
}

/** Some servers fill in selectors that select everything. */
function isNarrowed(matchResources: Readonly<Record<string, unknown>> | undefined): boolean {
  const { matchPolicy: _policy, ...narrowing } = matchResources ?? {};
  return Object.values(narrowing).some((part) => Object.keys(part ?? {}).length > 0);
}
