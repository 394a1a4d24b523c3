/**
 * Whether the servers that are no strangers to each other are a cluster that somebody made, to be adopted and mended as it is; or only
 * servers that own a slot or know each other, because somebody tried something. Of the latter a fix would make a cluster that nobody
 * declared: it gives the slots of nobody to whoever is there. Pure.
 */
import type { Waiting } from '@reeve/runtime';
import { countSlots, SLOT_COUNT, unionSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import type { NextFacts } from './next.ts';
import { likelySlots, members, nodeName } from './topology.ts';

const MOST_NAMES = 5;

/**
 * Most slots have an owner, dead ones included: those who live know what they owned. A damaged cluster has lost some of its slots; one
 * that has lost most of them is for a person to judge, who may know where the rest is.
 */
export function isFoundCluster({ configured }: NextFacts, cluster: ClusterView): boolean {
  return configured || countOwned(cluster) > SLOT_COUNT / 2;
}

/** Names what was found by its members, and the ways out of it. */
export function notFoundWait({ desired, members: enrolled }: NextFacts, cluster: ClusterView): Waiting {
  const memberOf = new Map<NodeId, string>(enrolled.flatMap(({ node, name }) => (node ? [[node.id, name]] : [])));
  const names = members(cluster).map(({ id }) => memberOf.get(id) ?? nodeName(cluster, id));
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  const whole = ['enroll the rest of it', ...(desired.fix === 'off' ? [] : ['approve the fix that is proposed'])];
  const message =
    `no cluster to be adopted, as ${countOwned(cluster)} of ${SLOT_COUNT} slots have an owner, and no empty members: ` +
    `${names.slice(0, MOST_NAMES).join(', ')}${more}. What belongs to a cluster: ${whole.join(', or ')}; what does not: empty it ` +
    '(CLUSTER RESET HARD), and a cluster is created once enough members are there';
  return { reason: 'NotCreated', message, subjects: names.slice(0, 16) };
}

function countOwned(cluster: ClusterView): number {
  return countSlots(unionSlots(...members(cluster).map(likelySlots)));
}
