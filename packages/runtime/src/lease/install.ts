/** Puts the fence up: for programs that may install policies. Others print `fence(…)` for somebody who may. */
import { type KubeObject, resource } from '@reeve/kube';
import type { Api } from '../client/api.ts';
import { type FenceCarrier, type FenceOptions, fence, policies, policyBindings } from './fence.ts';
import { leases } from './lease.ts';

interface SelfSubjectReview extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] } };
}

const selfReviews = resource<SelfSubjectReview>({
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
});

/** Who the server thinks we are: what `byImpersonation` and `fence` need to know. */
export async function whoAmI(
  api: Api,
  signal?: AbortSignal,
): Promise<{ readonly username: string; readonly groups: readonly string[] }> {
  const review = await api.resource(selfReviews).create({ metadata: {} }, signal ? { signal } : {});
  const { username = '', groups = [] } = review.status?.userInfo ?? {};
  return { username, groups };
}

/**
 * The Lease first, if there is none: a policy without its parameter refuses everybody's writes. Then policy and binding. It takes a
 * few seconds until all servers know them; a manager that was told to fence waits for that by itself.
 */
export async function installFence(
  api: Api,
  options: FenceOptions,
  carrier: FenceCarrier,
  signal?: AbortSignal,
): Promise<void> {
  const call = signal ? { signal } : {};
  const { namespace, name } = options.lease;
  const ofLease = api.resource(leases, namespace);
  if (!(await ofLease.find(name, call))) {
    await ofLease.create({ metadata: { namespace, name }, spec: { leaseTransitions: 0 } }, call);
  }
  const { policy, binding } = fence(options, carrier);
  await api.resource(policies).apply(policy, { ...call, force: true });
  await api.resource(policyBindings).apply(binding, { ...call, force: true });
}
