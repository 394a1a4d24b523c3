/** Whether a cluster can be backed up, from whom, and whether a backup can be put into it. Pure. */
import type { Refusal } from '@reeve/runtime';
import type { BackupManifest, BackupName } from '../api/backup.ts';
import type { Decision } from '../api/operation.ts';
import { countSlots, formatSlots, parseSlots, SLOT_COUNT, type SlotRanges, unionSlots } from '../api/slots.ts';
import type { ClusterView, Endpoint } from '../api/view.ts';
import { candidatesFor, isInSync } from './failover.ts';
import { atomicJobs } from './moves-view.ts';
import {
  clusters,
  keyCount,
  members,
  nodeName,
  nodeNames,
  ownersBySlot,
  ownSlots,
  type ReportedNode,
  reported,
  reportedPrimaries,
} from './topology.ts';

export interface BackupRequest {
  readonly name: BackupName;
  /** The uid of what asks for it. */
  readonly by: string;
  readonly users: BackupManifest['users'];
}

export interface RestoreRequest {
  readonly name: BackupName;
}

/** All keys of a shard are with its primary; a replica has them, too, once it has come as far. */
export interface ShardSources {
  readonly slots: SlotRanges;
  readonly primary: ReportedNode;
  /** In sync when they were read, the furthest first. */
  readonly replicas: readonly ReportedNode[];
}

export function shardSources(view: ClusterView): readonly ShardSources[] {
  return reportedPrimaries(view)
    .filter((node) => ownSlots(node).length > 0)
    .map((primary) => ({
      slots: ownSlots(primary),
      primary,
      replicas: candidatesFor(view, primary.id).filter(isInSync),
    }))
    .sort((a, b) => (a.slots[0]?.[0] ?? 0) - (b.slots[0]?.[0] ?? 0));
}

/** The slots of each shard, whoever is its primary: while they stay the same, snapshots of different moments fit each other. */
export function shardsText(view: ClusterView): string {
  return shardSources(view)
    .map(({ slots }) => formatSlots(slots))
    .join(' | ');
}

/** Each slot has one owner who was read, and none is on its way. */
export function slotProblems(view: ClusterView): readonly Refusal[] {
  const groups = clusters(view);
  if (groups.length !== 1) {
    const sides = groups.map((group) => nodeNames(view, group)).join(' | ');
    const message = groups.length === 0 ? 'there is no cluster yet' : `there are several clusters: ${sides}`;
    return [{ code: 'CLUSTER_UNSOUND', message, subjects: groups.flat().slice(0, 16) }];
  }
  const counts = ownersBySlot(view).map((owners) => owners.length);
  const unowned = counts.filter((count) => count === 0).length;
  const disputed = counts.filter((count) => count > 1).length;
  const moving = reported(view).filter(
    ({ report }) => report.value.self.migrating.length + report.value.self.importing.length > 0,
  );
  const problems = [
    ...(unowned > 0 ? [`${unowned} slots have no owner that answers`] : []),
    ...(disputed > 0 ? [`${disputed} slots have several owners`] : []),
    ...(moving.length > 0
      ? [
          `slots are open at ${nodeNames(
            view,
            moving.map(({ id }) => id),
          )}`,
        ]
      : []),
    ...(atomicJobs(view).length > 0 ? ['slots are being moved'] : []),
  ];
  return problems.map((message) => ({ code: 'CLUSTER_UNSOUND', message, subjects: moving.map(({ id }) => id) }));
}

export function decideBackup(request: BackupRequest, view: ClusterView): Decision<BackupRequest> {
  const refused = slotProblems(view);
  if (refused.length > 0) return { refused };
  const alone = shardSources(view).filter(({ replicas }) => replicas.length === 0).length;
  const reasons = alone === 0 ? [] : [`${alone} shards have no replica in sync: their primaries save themselves`];
  return { goal: request, steps: backupSteps(request, view), reasons };
}

export function backupSteps({ name }: BackupRequest, view: ClusterView): readonly string[] {
  const snapshots = shardSources(view).map(({ slots, primary, replicas }) => {
    const from = nodeName(view, (replicas[0] ?? primary).id);
    return `a snapshot of ${countSlots(slots)} slots from ${from}`;
  });
  return [...snapshots, `seal ${name}`];
}

/** Into a cluster that holds nothing: what is there would be mixed with what comes, and nobody could tell the two apart. */
export function decideRestore(request: RestoreRequest, view: ClusterView): Decision<RestoreRequest> {
  const refused: Refusal[] = [...slotProblems(view)];
  for (const node of members(view)) {
    const name = nodeName(view, node.id);
    if (!node.report.known) {
      refused.push({
        code: 'RESTORE_NOT_EMPTY',
        message: `${name} cannot be read: it may hold keys`,
        subjects: [node.id],
      });
      continue;
    }
    const keys = keyCount(node) ?? 0;
    const libraries = node.report.value.functionLibraries;
    if (keys > 0)
      refused.push({ code: 'RESTORE_NOT_EMPTY', message: `${name} holds ${keys} keys`, subjects: [node.id] });
    if (libraries.known && libraries.value > 0) {
      const message = `${name} has ${libraries.value} function libraries`;
      refused.push({ code: 'RESTORE_NOT_EMPTY', message, subjects: [node.id] });
    }
  }
  if (refused.length > 0) return { refused };
  return { goal: request, steps: restoreSteps(request), reasons: [] };
}

export function restoreSteps({ name }: RestoreRequest): readonly string[] {
  return [`load ${name}, each key where its slot is now`];
}

/** Why a manifest is none that can be restored from. */
export function manifestProblem({ format, shards }: BackupManifest): string | undefined {
  if (format !== 1) return `its format is ${String(format)}, and this version of Reeve knows 1`;
  const slots = shards.map((shard) => parseSlots(shard.slots));
  if (slots.some((ranges) => ranges === undefined)) return 'its slots cannot be read';
  const known = slots.filter((ranges) => ranges !== undefined);
  const sum = known.reduce((total, ranges) => total + countSlots(ranges), 0);
  if (sum !== SLOT_COUNT || countSlots(unionSlots(...known)) !== SLOT_COUNT)
    return 'its shards have not each slot once';
  return undefined;
}

/** Where each slot is. */
export function slotAddresses(view: ClusterView): readonly (Endpoint | undefined)[] {
  const addresses = new Map(view.nodes.map(({ id, endpoint }) => [id, endpoint]));
  return ownersBySlot(view).map(([owner]) => (owner === undefined ? undefined : addresses.get(owner)));
}
