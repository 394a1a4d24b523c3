/** What the failure of one pod means for its job. Pure. */
import type { PodFailureRule } from '../../kinds/job.ts';
import type { ContainerStatus, Pod } from '../../kinds/pod.ts';

export type FailureMeaning =
  | { readonly type: 'count' }
  | { readonly type: 'ignore' }
  /** It counts, and its index has failed for good. */
  | { readonly type: 'fail-index' }
  /** The whole job fails, and why. */
  | { readonly type: 'fail'; readonly message: string };

/** The first rule that matches decides; without one a failure is a failure. Only a pod that really failed is judged. */
export function meaningOf(rules: readonly PodFailureRule[], pod: Pod): FailureMeaning {
  if (pod.status?.phase !== 'Failed') return { type: 'count' };
  for (const [index, rule] of rules.entries()) {
    const why = whyMatches(rule, pod);
    if (why === undefined) continue;
    if (rule.action === 'Ignore') return { type: 'ignore' };
    if (rule.action === 'FailIndex') return { type: 'fail-index' };
    if (rule.action === 'FailJob') return { type: 'fail', message: `${why} matching FailJob rule at index ${index}` };
    return { type: 'count' };
  }
  return { type: 'count' };
}

function whyMatches({ onExitCodes, onPodConditions }: PodFailureRule, pod: Pod): string | undefined {
  const { name, namespace } = pod.metadata;
  if (onExitCodes) {
    const found = containersOf(pod).find((one) => matchesExit(one, onExitCodes));
    if (!found) return undefined;
    return `Container ${found.name} for pod ${namespace}/${name} failed with exit code ${exitCodeOf(found)}`;
  }
  for (const { type, status = 'True' } of onPodConditions ?? []) {
    const isThere = pod.status?.conditions?.some((one) => one.type === type && one.status === status);
    if (isThere) return `Pod ${namespace}/${name} has condition ${type}`;
  }
  return undefined;
}

function containersOf({ status }: Pod): readonly ContainerStatus[] {
  return [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
}

function exitCodeOf({ state }: ContainerStatus): number {
  return state?.terminated?.exitCode ?? 0;
}

/** Success is no failure, whatever a rule says. */
function matchesExit(
  status: ContainerStatus,
  { containerName, operator, values }: NonNullable<PodFailureRule['onExitCodes']>,
): boolean {
  const code = exitCodeOf(status);
  if (code === 0 || (containerName !== undefined && containerName !== status.name)) return false;
  return values.includes(code) === (operator === 'In');
}
