/**
 * What comes next in an upgrade that a task asks for. It only sets what the cluster is to run: the pods follow as they do after any change,
 * replicas first, primaries after a failover. Pure.
 */
import type { Refusal } from '@reeve/runtime';
import type { RedisClusterSpec } from '../api/cluster.ts';
import type { RedisTask } from '../api/task.ts';
import { desiredOf } from './desired.ts';
import type { PodMember } from './pods.ts';
import { membersAreExternal } from './task-wish.ts';

export interface UpgradeFacts {
  readonly spec: RedisClusterSpec;
  readonly members: readonly PodMember[];
}

export type UpgradeStep =
  | { readonly step: 'refuse'; readonly refused: readonly Refusal[] }
  | { readonly step: 'set'; readonly version: string | null; readonly image: string | null }
  | { readonly step: 'wait'; readonly progress: string; readonly waitingFor: string }
  | { readonly step: 'done'; readonly message: string };

type Asked = NonNullable<RedisTask['spec']['upgrade']>;

export function upgradeStep(asked: Asked, { spec, members }: UpgradeFacts): UpgradeStep {
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
    const other = productProblem(wanted.image, members);
    const refused = other.length > 0 ? other : [...versionProblem(wanted.image, members), ...standIn(spec)];
    if (refused.length > 0) return { step: 'refuse', refused };
    return { step: 'set', version: version ?? null, image: image ?? null };
  }
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

const IMAGE = /(?:^|\/)(redis|valkey)(?::v?(\d+(?:\.\d+)*)\b)?/;

/** One cluster, one product: their replication streams and files part company. Images of other names say nothing. */
function productProblem(image: string, members: readonly PodMember[]): readonly Refusal[] {
  const product = IMAGE.exec(image)?.[1];
  const other = members.find(
    ({ node }) => node && product !== undefined && node.report.value.server.product !== product,
  );
  if (!other?.node) return [];
  const running = other.node.report.value.server.product;
  const message = `${other.name} runs ${running}, and ${image} is another product: make a new cluster and restore a backup into it`;
  return [{ code: 'MIXED_PRODUCTS', message, subjects: [other.name] }];
}

/** A server does not read what a newer one wrote. */
function versionProblem(image: string, members: readonly PodMember[]): readonly Refusal[] {
  const wanted = IMAGE.exec(image)?.[2];
  if (wanted === undefined) return [];
  const newer = members.find(({ node }) => node && isOlder(wanted, node.report.value.server.version));
  if (!newer?.node) return [];
  const message = `${newer.name} runs ${newer.node.report.value.server.version}, and ${image} is older: it may not read what that wrote`;
  return [{ code: 'UPGRADE_OLDER', message, subjects: [newer.name] }];
}

/** `9` and `9.1` are not older than `9.1.2`: a tag stands for the newest of its kind. */
function isOlder(tag: string, running: string): boolean {
  const there = running.split('.').map(Number);
  for (const [index, part] of tag.split('.').map(Number).entries()) {
    const own = there[index] ?? 0;
    if (part !== own) return part < own;
  }
  return false;
}

/** A primary that nobody can stand in for, and that keeps nothing, is never restarted: such an upgrade would not end. */
function standIn({ replicasPerPrimary = 1, storage }: RedisClusterSpec): readonly Refusal[] {
  if (replicasPerPrimary > 0 || storage) return [];
  const message = 'there are neither replicas nor volumes: a pod that is made anew would come back without its keys';
  return [{ code: 'UPGRADE_LOSES_DATA', message, subjects: [] }];
}
