/** What a RedisTask asks of its cluster, as a request to an operation; or why it cannot be asked. Pure. */
import type { Refusal } from '@reeve/runtime';
import type { RedisTask } from '../api/task.ts';
import type { NodeId } from '../api/view.ts';
import type { Desired } from './desired.ts';
import type { OperationWish } from './next.ts';
import type { PodMember } from './pods.ts';

const NODE_ID = /^[0-9a-f]{40}$/;

export interface TaskFacts {
  readonly desired: Desired;
  readonly members: readonly PodMember[];
}

/** Undefined: the task asks for no operation (a check). */
export function taskWish(
  task: RedisTask,
  facts: TaskFacts,
): OperationWish | { readonly refused: readonly Refusal[] } | undefined {
  const { spec, metadata } = task;
  const { desired } = facts;
  const unknown: Refusal[] = [];
  const idOf = (name: string): NodeId => {
    const id = facts.members.find((pod) => pod.name === name)?.node?.id ?? (NODE_ID.test(name) ? name : undefined);
    if (id === undefined) {
      unknown.push({
        code: 'UNKNOWN_NODE',
        message: `no server answers in ${name}, and it is no id of a node`,
        subjects: [name],
      });
    }
    return id ?? name;
  };
  const how = { engine: desired.engine, pace: desired.pace };
  let kind: string;
  let request: unknown;
  if (spec.fix) {
    kind = 'fix';
    request = { ...spec.fix, expected: { replicasPerPrimary: desired.replicasPerPrimary, spreadBy: desired.spreadBy } };
  } else if (spec.reshard) {
    kind = 'reshard';
    const { slots, to, from } = spec.reshard;
    request = { slots, to: idOf(to), from: from?.map(idOf) ?? 'all', ...how };
  } else if (spec.rebalance) {
    kind = 'rebalance';
    const { by = 'slots', threshold = desired.rebalance.threshold, weights = {} } = spec.rebalance;
    const byId = Object.fromEntries(Object.entries(weights).map(([name, weight]) => [idOf(name), weight]));
    request = { by, threshold, weights: byId, useEmpty: true, ...how };
  } else if (spec.failover) {
    kind = 'failover';
    request = { id: idOf(spec.failover.to), mode: spec.failover.force ? 'force' : 'graceful' };
  } else if (spec.backup) {
    kind = 'backup';
    const name = `${metadata.namespace ?? ''}/${spec.cluster}/${spec.backup.name ?? metadata.name}`;
    request = { name, by: metadata.uid ?? '', users: desired.users };
  } else if (spec.restore) {
    kind = 'restore';
    request = { name: `${metadata.namespace ?? ''}/${spec.restore.cluster}/${spec.restore.name}` };
  } else return undefined;
  if (unknown.length > 0) return { refused: unknown };
  return {
    what: 'operation',
    kind,
    request,
    why: `task ${metadata.name} asks for it`,
    settleMs: 0,
    needsApproval: false,
  };
}
