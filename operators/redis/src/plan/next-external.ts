/**
 * What a cluster of external members needs next. They are somebody's servers: who belongs to the cluster is changed by tasks (`addNode`,
 * `deleteNode`) only, never by itself. What is mended, balanced and spread is so as with pods. Pure.
 */
import type { Waiting } from '@reeve/runtime';
import { type ClusterView, formatEndpoint, type NodeId, type NodeView } from '../api/view.ts';
import type { CreateRequest } from './create.ts';
import { isFoundCluster, notFoundWait } from './found-cluster.ts';
import {
  approvedFixes,
  fixes,
  fixWaits,
  isUnapproved,
  type Next,
  type NextFacts,
  splitWait,
  unapprovedWait,
} from './next.ts';
import { rebalances, spreads } from './next-size.ts';
import { mainCluster } from './moves-view.ts';
import { endpointOf, type PodMember } from './pods.ts';
import { keyCount, loners, members, nodeNames, reported } from './topology.ts';

/** Members are enrolled one after the other: when no other one has come for so long, they are all. */
const ENROLLING_MS = 10_000;
const MOST_WHY = 500;

export function nextExternalSteps(facts: NextFacts): Next {
  const { view } = facts;
  const silent = silentWaits(facts.members, view);
  const isAnywhere = loners(view).length < members(view).length;
  // What was created lives in those who are silent, as far as anybody knows: it is they who are waited for.
  const isAllSilent = silent.length > 0 && facts.members.every(({ node }) => !node);
  if (!isAnywhere && facts.configured && isAllSilent) return { wishes: [], waitingFor: silent };
  if (!isAnywhere) return creation(facts, silent);
  const { cluster, apart } = mainCluster(view);
  // A creation that was given up half way: without a key in it, it is gone on with.
  const holdsKeys = reported(view).some((node) => keyCount(node) !== 0);
  const creating: Next = facts.configured || holdsKeys ? { wishes: [], waitingFor: [] } : creation(facts, []);
  // What a creation refuses stands beside whatever else is wished for.
  const { wishes: again, waitingFor: missing, ...asked } = creating;
  if (apart.length > 0) return { wishes: again, waitingFor: [splitWait(apart)], ...asked };
  const isWhole = silent.length === 0;
  if (isUnapproved(facts)) {
    const wishes = [...again, ...approvedFixes(facts, !isWhole)];
    return { wishes, waitingFor: [...silent, unapprovedWait(cluster), ...fixWaits(facts)], ...asked };
  }
  // Nobody joins it by itself, unlike pods: what a fix makes of it would stay what the cluster is.
  if (!isFoundCluster(facts, cluster)) {
    const wishes = [...again, ...approvedFixes(facts, !isWhole)];
    const waitingFor = [...silent, ...missing, notFoundWait(facts, cluster), ...fixWaits(facts)];
    return { wishes, waitingFor, ...asked };
  }
  return {
    wishes: [
      ...again,
      ...fixes(facts, !isWhole),
      ...(isWhole ? rebalances(facts, cluster) : []),
      ...(isWhole ? spreads(facts) : []),
    ],
    waitingFor: [...silent, ...strangerWaits(facts, cluster), ...fixWaits(facts)],
    ...asked,
  };
}

/** With what one of them says: a password or a certificate that is not taken is mostly so everywhere. */
export function silentWaits(enrolled: readonly PodMember[], view: ClusterView): readonly Waiting[] {
  const silent = enrolled.filter(({ node }) => !node);
  if (silent.length === 0) return [];
  const names = silent.map(({ name }) => name);
  const addresses = new Set(silent.flatMap((one) => endpointOf(one) ?? []).map(formatEndpoint));
  const isMeant = ({ endpoint }: Pick<NodeView, 'endpoint'>) => addresses.has(formatEndpoint(endpoint));
  const known = view.nodes.find((node) => isMeant(node) && !node.report.known)?.report;
  const why = view.silent.find(isMeant)?.why ?? (known && !known.known ? known.why : undefined);
  const message = `the servers of ${listed(names)} do not answer the manager`;
  const told = why === undefined ? message : `${message}: ${why.slice(0, MOST_WHY)}`;
  return [{ reason: 'ServersSilent', message: told, subjects: names.slice(0, 16) }];
}

/** Nodes that the cluster knows and nobody enrolled: they have no agent, so nothing can be done by them. */
function strangerWaits({ members: enrolled }: NextFacts, cluster: ClusterView): readonly Waiting[] {
  const known = new Set<NodeId>(enrolled.flatMap(({ node }) => (node ? [node.id] : [])));
  const strangers = reported(cluster)
    .map(({ id }) => id)
    .filter((id) => !known.has(id));
  if (strangers.length === 0) return [];
  const message = `${nodeNames(cluster, strangers)} belong to the cluster and are no members: enroll them (docs/adopt-redis.md)`;
  return [{ reason: 'NodesNotEnrolled', message, subjects: strangers.slice(0, 16) }];
}

/** As many members as are asked for, each empty and with an agent that is heard of. */
function creation({ desired, members: enrolled, view, configured }: NextFacts, waitingFor: readonly Waiting[]): Next {
  const alone = new Set<NodeId>(loners(view).map(({ id }) => id));
  const isAlone = ({ node }: PodMember) => node !== undefined && alone.has(node.id);
  const empty = enrolled.filter((one) => one.node && !one.isDeleting && (!isAlone(one) || keyCount(one.node) === 0));
  const fit = empty.filter(({ isReady }) => isReady);
  if (fit.length < desired.size) {
    const message = `${fit.length} of ${desired.size} members are there, empty, with an agent that is heard of`;
    const full = fullMembers(enrolled.filter(isAlone));
    const missing = { reason: 'MembersMissing', message, subjects: full.flatMap(({ subjects }) => subjects) };
    return {
      wishes: [],
      waitingFor: [...waitingFor, missing, ...full.map((one) => ({ ...one, reason: 'NodeNotEmpty' }))],
      // A manager that has just begun has heard of no agent yet: what a creation refused is not over by that.
      ...(empty.length >= desired.size && { unasked: ['create'] }),
      refused: full.map(({ message: why, subjects }) => ({
        kind: 'create',
        refusal: { code: 'NODE_NOT_EMPTY', message: why, subjects },
      })),
    };
  }
  // Those that a creation has begun with already come first.
  const begun = fit.filter((one) => !isAlone(one));
  const chosen = [...begun, ...fit.filter(isAlone)].slice(0, desired.size).sort((a, b) => a.ordinal - b.ordinal);
  const request: CreateRequest = {
    endpoints: chosen.flatMap((one) => endpointOf(one) ?? []),
    primaries: desired.primaries,
    replicasPerPrimary: desired.replicasPerPrimary,
    spreadBy: desired.spreadBy,
  };
  const why = configured
    ? 'every node is new: the data of the cluster that was here is gone'
    : `${chosen.length} empty members wait to become one cluster`;
  const needsApproval = configured || desired.creation === 'manual';
  return {
    wishes: [{ what: 'operation', kind: 'create', request, why, settleMs: ENROLLING_MS, needsApproval }],
    waitingFor,
  };
}

const MOST_FULL = 8;

/** Whose data a creation would not touch: they are in the way of it until somebody empties them, or takes them out. */
function fullMembers(alone: readonly PodMember[]): readonly Pick<Waiting, 'message' | 'subjects'>[] {
  return alone
    .filter(({ node }) => node && keyCount(node) !== 0)
    .slice(0, MOST_FULL)
    .map(({ name, node }) => {
      const held = Object.entries(node?.report.value.keyspace ?? {}).map(
        ([database, keys]) => `${keys} in database ${database}`,
      );
      const message = `member ${name} is not empty: it holds keys (${held.join(', ') || 'how many is not known'})`;
      return { message, subjects: [name] };
    });
}

function listed(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
}
