/** What a RedisTask asks of its cluster, as a request to an operation; or why it cannot be asked. Pure. */
import type { Refusal } from '@reeve/runtime';
import type { RedisTask } from '../api/task.ts';
import type { NodeId } from '../api/view.ts';
import type { Desired } from './desired.ts';
import type { OperationWish } from './next.ts';
import { endpointOf, type PodMember } from './pods.ts';

const NODE_ID = /^[0-9a-f]{40}$/;

export interface TaskFacts {
  readonly desired: Desired;
  readonly members: readonly PodMember[];
  /** Who lived where when it was last seen, for servers that do not answer now. */
  readonly stored?: readonly { readonly pod: string; readonly id: NodeId }[];
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
    const answering = facts.members.find((pod) => pod.name === name)?.node?.id;
    const stored = facts.stored?.find(({ pod }) => pod === name)?.id;
    const id = answering ?? stored ?? (NODE_ID.test(name) ? name : undefined);
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
    const { replicasPerPrimary, spreadBy, pace } = desired;
    request = { ...spec.fix, expected: { replicasPerPrimary, spreadBy }, pace };
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
  } else if (spec.addNode || spec.deleteNode) {
    if (desired.members === 'managed') return { refused: [membersAreManaged] };
    if (spec.addNode) {
      kind = 'add-node';
      const { member, as = 'replica', of } = spec.addNode;
      const endpoint = endpointOf(facts.members.find(({ name }) => name === member) ?? {});
      if (!endpoint) unknown.push(notEnrolled(member));
      const primaryId = of === undefined ? undefined : idOf(of);
      request = { endpoint, as, ...(primaryId !== undefined && { primaryId }), spreadBy: desired.spreadBy };
    } else {
      kind = 'delete-node';
      request = { id: idOf(spec.deleteNode?.node ?? ''), drain: true, reset: true, spreadBy: desired.spreadBy, ...how };
    }
  } else if (spec.backup) {
    kind = 'backup';
    const name = `${metadata.namespace ?? ''}/${spec.cluster}/${spec.backup.name ?? metadata.name}`;
    request = { name, by: metadata.uid ?? '', users: desired.users };
  } else if (spec.restore) {
    if (desired.members === 'external') return { refused: [membersAreExternal] };
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

export const membersAreExternal: Refusal = {
  code: 'MEMBERS_EXTERNAL',
  message: 'external members are somebody’s servers: what they run and hold is not ours to set',
  subjects: [],
};

const membersAreManaged: Refusal = {
  code: 'MEMBERS_MANAGED',
  message: 'the pods of a managed cluster come and go by spec.primaries and spec.replicasPerPrimary',
  subjects: [],
};

function notEnrolled(member: string): Refusal {
  return { code: 'MEMBER_UNKNOWN', message: `no member ${member} names this cluster as its own`, subjects: [member] };
}
