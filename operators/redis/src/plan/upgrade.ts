/**
 * What comes next in an upgrade that a task asks for. It only sets what the cluster is to run: the pods follow as they do after any change,
 * replicas first, primaries after a failover. Pure.
 */
import type { Refusal } from '@reeve/runtime';
import type { RedisClusterSpec } from '../api/cluster.ts';
import type { RedisTask } from '../api/task.ts';
import { desiredOf } from './desired.ts';
import { productProblem, versionProblem } from './image-problems.ts';
import type { PodMember } from './pods.ts';
import { LOSES_DATA } from './rolling.ts';
import { membersAreExternal } from './task-wish.ts';

export interface UpgradeFacts {
  readonly spec: RedisClusterSpec;
  readonly members: readonly PodMember[];
  /** Why pods are not given what the spec asks for. */
  readonly held?: Refusal;
}

export type UpgradeStep =
  | { readonly step: 'refuse'; readonly refused: readonly Refusal[] }
  | { readonly step: 'set'; readonly version: string | null; readonly image: string | null }
  | { readonly step: 'wait'; readonly progress: string; readonly waitingFor: string }
  | { readonly step: 'done'; readonly message: string };

type Asked = NonNullable<RedisTask['spec']['upgrade']>;

export function upgradeStep(asked: Asked, { spec, members, held }: UpgradeFacts): UpgradeStep {
  if (spec.members === 'external') return { step: 'refuse', refused: [membersAreExternal] };
  const { version, image } = asked;
  const { image: _image, version: _version, ...rest } = spec;
  const wanted = desiredOf({
    ...rest,
    ...(version !== undefined && { version }),
    ...(image !== undefined && { image }),
  });
  const isSet = spec.version === version && spec.image === image;
  if (!isSet) {
    const other = productProblem(wanted, members);
    const refused = other.length > 0 ? other : [...versionProblem(wanted.image, members), ...standIn(spec)];
    if (refused.length > 0) return { step: 'refuse', refused };
    return { step: 'set', version: version ?? null, image: image ?? null };
  }
  // It would be waited for for ever, and all other tasks behind it.
  if (held) return { step: 'refuse', refused: [held] };
  const housed = members.filter(({ ordinal }) => ordinal < wanted.size);
  const isNew = (pod: PodMember) => pod.image === wanted.image && !pod.isDeleting;
  const fresh = housed.filter(isNew);
  const answering = fresh.filter(({ node }) => node);
  if (answering.length >= wanted.size) return { step: 'done', message: `${wanted.size} pods run ${wanted.image}` };
  const late = housed
    .filter((pod) => !isNew(pod) || !pod.node)
    .map(({ name, trouble }) => (trouble ? `${name} (${trouble.reason})` : name));
  const waitingFor =
    late.length === 0
      ? 'pods that are not there yet'
      : `${late.slice(0, 5).join(', ')}${late.length > 5 ? ` and ${late.length - 5} more` : ''}`;
  return { step: 'wait', progress: `${answering.length} of ${wanted.size} pods run ${wanted.image}`, waitingFor };
}

/** A primary that nobody can stand in for, and that keeps nothing, is never restarted: such an upgrade would not end. */
function standIn({ replicasPerPrimary = 1, storage }: RedisClusterSpec): readonly Refusal[] {
  if (replicasPerPrimary > 0 || storage) return [];
  return [{ code: 'UPGRADE_LOSES_DATA', message: LOSES_DATA, subjects: [] }];
}
