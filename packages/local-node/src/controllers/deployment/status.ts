/** What a deployment says of itself: numbers, whether it is available, and whether it gets on. Pure. */
import { timestamp } from '@reeve/runtime';
import type { DeploymentCondition, DeploymentSpec, DeploymentStatus } from '../../kinds/deployment.ts';
import { limitsOf, type StoredSet, sum } from './sets.ts';

export interface StatusView {
  readonly name: string;
  readonly spec: DeploymentSpec;
  readonly before: DeploymentStatus | undefined;
  readonly generation: number;
  readonly collisionCount: number;
  readonly newest: StoredSet | undefined;
  readonly old: readonly StoredSet[];
  /** The new set was made in this turn. */
  readonly isCreated: boolean;
}

const NO_DEADLINE = 2 ** 31 - 1;

export function statusOf(view: StatusView, now: number): DeploymentStatus {
  const { spec, before, newest, old, generation, collisionCount } = view;
  const { replicas = 1 } = spec;
  const all = newest ? [newest, ...old] : [...old];
  const availableReplicas = sum(all, ({ status }) => status?.availableReplicas);
  const numbers = {
    observedGeneration: generation,
    replicas: sum(all, ({ status }) => status?.replicas),
    updatedReplicas: newest?.status?.replicas ?? 0,
    readyReplicas: sum(all, ({ status }) => status?.readyReplicas),
    availableReplicas,
    unavailableReplicas: Math.max(0, sum(all, ({ spec: of }) => of?.replicas ?? 1) - availableReplicas),
    terminatingReplicas: sum(all, ({ status }) => status?.terminatingReplicas),
    collisionCount,
  };
  const isAvailable = availableReplicas >= replicas - limitsOf(spec).unavailable;
  let conditions = before?.conditions ?? [];
  conditions = isAvailable
    ? set(conditions, 'Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.', now)
    : set(
        conditions,
        'Available',
        'False',
        'MinimumReplicasUnavailable',
        'Deployment does not have minimum availability.',
        now,
      );
  conditions = progress({ ...view, before: { ...before, conditions } }, numbers, now);
  const failure = all.flatMap(({ status }) => status?.conditions ?? []).find(({ type }) => type === 'ReplicaFailure');
  conditions = failure
    ? set(conditions, 'ReplicaFailure', 'True', failure.reason ?? '', failure.message ?? '', now)
    : conditions.filter(({ type }) => type !== 'ReplicaFailure');
  return { ...numbers, conditions };
}

type Numbers = Required<Pick<DeploymentStatus, 'replicas' | 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'>>;

function progress(view: StatusView, numbers: Numbers, now: number): readonly DeploymentCondition[] {
  const { spec, before, newest, isCreated } = view;
  const conditions = before?.conditions ?? [];
  const known = conditions.find(({ type }) => type === 'Progressing');
  const say = (status: 'True' | 'False' | 'Unknown', reason: string, message: string, isNews = false) =>
    set(conditions, 'Progressing', status, reason, message, now, isNews);
  if ((spec.progressDeadlineSeconds ?? NO_DEADLINE) === NO_DEADLINE) return conditions.filter((one) => one !== known);
  if (spec.paused) return say('Unknown', 'DeploymentPaused', 'Deployment is paused');
  if (known?.reason === 'DeploymentPaused') return say('Unknown', 'DeploymentResumed', 'Deployment is resumed', true);
  const what = newest ? `ReplicaSet "${newest.metadata.name}"` : `Deployment "${view.name}"`;
  if (newest && isCreated) {
    return say('True', 'NewReplicaSetCreated', `Created new replica set "${newest.metadata.name}"`, true);
  }
  const isDone = numbers.replicas === numbers.updatedReplicas && known?.reason === 'NewReplicaSetAvailable';
  if (newest && isComplete(view, numbers))
    return say('True', 'NewReplicaSetAvailable', `${what} has successfully progressed.`);
  if (isDone) return conditions;
  if (!known && newest)
    return say('True', 'FoundNewReplicaSet', `Found new replica set "${newest.metadata.name}"`, true);
  if (getsOn(before, numbers)) return say('True', 'ReplicaSetUpdated', `${what} is progressing.`, true);
  const at = deadlineOf(spec, known);
  if (at === undefined || now < at) return conditions;
  return say('False', 'ProgressDeadlineExceeded', `${what} has timed out progressing.`);
}

export function isComplete({ spec }: Pick<StatusView, 'spec'>, numbers: Numbers): boolean {
  const { replicas = 1 } = spec;
  return [numbers.replicas, numbers.updatedReplicas, numbers.availableReplicas].every((one) => one === replicas);
}

function getsOn(before: DeploymentStatus | undefined, after: Numbers): boolean {
  const old = (status: Partial<Numbers> | undefined) => (status?.replicas ?? 0) - (status?.updatedReplicas ?? 0);
  return (
    after.updatedReplicas > (before?.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    after.readyReplicas > (before?.readyReplicas ?? 0) ||
    after.availableReplicas > (before?.availableReplicas ?? 0)
  );
}

/** When it has not got on for too long. */
export function deadlineOf(
  { progressDeadlineSeconds: seconds = NO_DEADLINE, paused = false }: DeploymentSpec,
  known: DeploymentCondition | undefined,
): number | undefined {
  if (
    paused ||
    seconds === NO_DEADLINE ||
    !known ||
    known.status === 'False' ||
    known.reason === 'NewReplicaSetAvailable'
  )
    return undefined;
  const since = Date.parse(known.lastUpdateTime ?? '');
  return Number.isNaN(since) ? undefined : since + seconds * 1_000;
}

/** `isNews`: also when it says the same again, because that it got on has a time of its own. */
function set(
  conditions: readonly DeploymentCondition[],
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  message: string,
  now: number,
  isNews = false,
): readonly DeploymentCondition[] {
  const known = conditions.find((one) => one.type === type);
  if (known && known.status === status && known.reason === reason && !isNews) return conditions;
  const time = timestamp(now);
  const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? time) : time;
  const next = { type, status, reason, message, lastUpdateTime: time, lastTransitionTime };
  return [...conditions.filter((one) => one !== known), next];
}
