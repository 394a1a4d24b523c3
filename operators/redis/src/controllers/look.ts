/** One look at a cluster: who its pods are, how their servers are reached, and what these say. For turns, and for whoever only wants to know. */
import type { DeepReadonly } from '@reeve/runtime';
import type { RedisClusterStatus } from '../api/cluster.ts';
import type { Finding } from '../api/findings.ts';
import { type ClusterView, type Endpoint, formatEndpoint } from '../api/view.ts';
import { observeCluster } from '../observe/observe.ts';
import { checkCluster } from '../plan/check.ts';
import type { Desired } from '../plan/desired.ts';
import { endpointOf, type PodFacts, type PodMember, podMembers } from '../plan/pods.ts';
import { clusters, ownersBySlot } from '../plan/topology.ts';
import type { Environment } from './environment.ts';

/** How servers are reached; whoever runs an operation brings its own signal. */
export type Access = Omit<Environment, 'signal'>;

export interface Seen {
  readonly members: readonly PodMember[];
  readonly view: ClusterView;
  readonly findings: readonly Finding[];
}

export function accessOf(pods: readonly PodFacts[], base: Omit<Access, 'seeds' | 'annotations'>): Access {
  const seeds: Endpoint[] = [];
  const annotations = new Map<string, PodFacts['annotations']>();
  for (const pod of pods) {
    const endpoint = endpointOf(pod);
    if (!endpoint) continue;
    seeds.push(endpoint);
    const address = formatEndpoint(endpoint);
    if (!annotations.has(address)) annotations.set(address, pod.annotations);
  }
  return { ...base, seeds, annotations: (endpoint) => annotations.get(formatEndpoint(endpoint)) ?? {} };
}

/** @param access undefined: nobody knows the password, so nobody is asked. */
export async function lookAt(
  access: Access | undefined,
  { pods, desired, now }: { readonly pods: readonly PodFacts[]; readonly desired: Desired; readonly now: number },
): Promise<Seen> {
  const nothing: ClusterView = { observedAt: now, nodes: [], silent: [] };
  const view =
    access && access.seeds.length > 0
      ? await observeCluster(access.redis, access.ports, access.seeds, {
          ...(access.annotations && { annotations: access.annotations }),
        })
      : nothing;
  const { replicasPerPrimary, spreadBy } = desired;
  const findings = clusters(view).length > 0 ? checkCluster(view, { replicasPerPrimary, spreadBy }) : [];
  return { members: podMembers(pods, view), view, findings };
}

/** Whether every node that there should be was asked and answered. */
export function isWhole({ members }: Pick<Seen, 'members'>, { members: whose, size }: Desired): boolean {
  return members.length >= (whose === 'external' ? 1 : size) && members.every(({ node }) => node);
}

/** Pods that are away, as one that is made anew is, may come back with what their volumes hold. */
export function mayReturn(seen: Pick<Seen, 'members'>, desired: Desired): boolean {
  return desired.storage !== undefined && !isWhole(seen, desired);
}

/**
 * Where an operation finds the cluster: at its members. Servers that are in no cluster yet are none of its business, unless it is about
 * them: whoever is asked is introduced to others.
 */
export function memberSeeds({ members, view }: Seen, all: Environment['seeds']): Environment['seeds'] {
  const main = new Set(clusters(view)[0]);
  const inside = members.filter(({ node }) => node && main.has(node.id)).flatMap((pod) => endpointOf(pod) ?? []);
  return inside.length > 0 ? inside : all;
}

/** Whether nothing was ever begun on a cluster: then its servers know nobody and hold nothing. */
export function isUntouched(status: DeepReadonly<RedisClusterStatus> | undefined): boolean {
  const { configured, currentOperation, operations = [] } = status ?? {};
  return configured !== true && currentOperation === undefined && operations.length === 0;
}

/** Whether there is a cluster, or was one: from then on nothing is created by itself. */
export function isConfigured(
  before: DeepReadonly<RedisClusterStatus>,
  operation: string | undefined,
  { view }: Seen,
): boolean {
  if (before.configured === true) return true;
  // Whatever else is there, all of it must have been served once: a creation may be given up half way.
  return (
    operation !== 'create' && clusters(view).length === 1 && ownersBySlot(view).every((owners) => owners.length > 0)
  );
}
