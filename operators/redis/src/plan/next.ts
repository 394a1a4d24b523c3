/**
 * What a cluster needs next, most urgent first. Pure: the resource, the pods, one observation. Each candidate is proposed to its operation,
 * whose own gates decide whether it may be done; the first that may is taken. So this may be liberal where an operation is strict.
 */
import type { RedisClusterSpec } from '../api/cluster.ts';
import type { FindingCode, Finding } from '../api/findings.ts';
import { countSlots } from '../api/slots.ts';
import type { ClusterView, NodeId, NodeView } from '../api/view.ts';
import type { Refusal, Waiting } from '@reeve/runtime';
import type { AddNodeRequest } from './add-node.ts';
import type { CreateRequest } from './create.ts';
import type { DeleteNodeRequest } from './delete-node.ts';
import type { Desired } from './desired.ts';
import { isFoundCluster } from './found-cluster.ts';
import { isFailed, isVanished, mainCluster } from './moves-view.ts';
import { brokenPods } from './broken-pods.ts';
import { troubleWaits } from './pod-trouble.ts';
import { endpointOf, type PodMember } from './pods.ts';
import { halfMembers } from './half-members.ts';
import { fillEmpty, oldPodsStand, sizeProblems } from './next-size.ts';
import {
  isReported,
  keyCount,
  likelySlots,
  loners,
  members,
  nodeName,
  nodeNames,
  primaries,
  reported,
} from './topology.ts';

/** Something to be done by an operation. */
export interface OperationWish {
  readonly what: 'operation';
  readonly kind: string;
  readonly request: unknown;
  readonly why: string;
  /** How long this must have been so before it is acted on: gossip takes its time, and restarts come back. */
  readonly settleMs: number;
  /** Only with the digest of its plan from a person. */
  readonly needsApproval: boolean;
}

/** A pod to be made anew from what is asked for now. */
export interface RestartWish {
  readonly what: 'restart';
  readonly pod: PodMember;
  readonly why: string;
  readonly settleMs: number;
}

export type Wish = OperationWish | RestartWish;

export interface NextFacts {
  readonly desired: Desired;
  readonly members: readonly PodMember[];
  readonly view: ClusterView;
  readonly findings: readonly Finding[];
  /** The cluster was created once: it is never created again by itself. */
  readonly configured: boolean;
  /** Nothing was ever begun on it, so nothing can be in its servers. Default: false. */
  readonly isUntouched?: boolean;
  /** The spec asks for an image that servers must not be given: pods are not made anew for as long. Default: false. */
  readonly isImageHeld?: boolean;
  /** Primaries that a person chose. Default: none. */
  readonly chosen?: readonly NodeId[];
}

export interface Next {
  readonly wishes: readonly Wish[];
  readonly waitingFor: readonly Waiting[];
  /** What is so much in the way of an operation that it is not even asked. */
  readonly refused?: readonly { readonly kind: string; readonly refusal: Refusal }[];
  /** Kinds that cannot be asked just now: what they refused before stands. */
  readonly unasked?: readonly string[];
}

const GOSSIP_MS = 3_000;
/** As long as a restart may take before somebody's absence is acted on. */
const ABSENCE_MS = 20_000;

const FIXABLE: readonly FindingCode[] = [
  'SLOT_OPEN',
  'SLOT_UNCOVERED',
  'SLOT_MULTIPLE_OWNERS',
  'KEYS_OUTSIDE_SLOT',
  'VIEWS_DIFFER',
  'ROLES_DIFFER',
  'MEMBERSHIP_DIFFERS',
  'EPOCH_COLLISION',
  'ADDRESS_CHANGED',
  'REPLICA_LINK_DOWN',
];

export function nextSteps(facts: NextFacts): Next {
  const { desired, view } = facts;
  const absent = facts.members.filter(({ node }) => !node);
  // A pod that is not there at all may be about to come back, too, with what its volume holds.
  const isComplete = facts.members.length >= desired.size && absent.length === 0;
  const waitingFor = missing(facts, absent);
  const { cluster, apart } = mainCluster(view);
  const isAnywhere = loners(view).length < members(view).length;
  const broken = facts.isUntouched ? [] : brokenPods(facts);
  if (!isAnywhere) {
    const { wishes } = creation(facts, waitingFor);
    return { wishes: wishes.length > 0 ? wishes : [...unborn(facts, absent), ...broken], waitingFor };
  }
  // A creation that was given up half way: without a key in it, it is gone on with.
  const holdsKeys = reported(view).some((node) => keyCount(node) !== 0);
  const again = facts.configured || holdsKeys ? [] : creation(facts, []).wishes;
  if (apart.length > 0) {
    return { wishes: again, waitingFor: [splitWait(apart)] };
  }
  if (isUnapproved(facts)) {
    const wishes = [...broken, ...again, ...approvedFixes(facts, !isComplete)];
    return { wishes, waitingFor: [...waitingFor, unapprovedWait(cluster), ...fixWaits(facts)] };
  }
  // Servers that own a slot or know others, and hold nothing: when all pods are there they become a cluster with the rest, well placed.
  if (!isComplete && !holdsKeys && !isFoundCluster(facts, cluster)) return { wishes: broken, waitingFor };
  const strangers = newcomers(facts);
  return {
    wishes: [
      // First of all: whoever is missing may live in one of them, and need not be mended for then.
      ...broken,
      ...again,
      ...fixes(facts, !isComplete),
      ...(isComplete ? lost(facts, cluster) : []),
      ...halfMembers(facts, cluster, GOSSIP_MS),
      ...strangers.primaries,
      // A primary without slots gets no replicas: those who come would have to move once it has some.
      ...(strangers.replicas.length > 0 ? fillEmpty(facts, cluster) : []),
      ...strangers.replicas,
      ...sizeProblems(facts, cluster, strangers.primaries.length + strangers.replicas.length > 0),
    ],
    waitingFor: [...waitingFor, ...fixWaits(facts), ...oldPodsStand(facts, cluster)],
  };
}

/**
 * With `creation: manual` there is no cluster before a person has said so, or a whole one is found. A server that owns a slot or knows
 * others, because somebody tried something or a volume was left, is not joined by the rest, nor given the other slots.
 */
export function isUnapproved({ desired, configured }: NextFacts): boolean {
  return desired.creation === 'manual' && !configured;
}

export function approvedFixes(facts: NextFacts, someAbsent: boolean): readonly OperationWish[] {
  return fixes(facts, someAbsent).map((wish) => ({ ...wish, needsApproval: true }));
}

export function unapprovedWait(found: ClusterView): Waiting {
  const ids = members(found).map(({ id }) => id);
  const message = `spec.creation is manual, and ${nodeNames(found, ids)} own slots or know each other without being a whole cluster: empty them, or approve what is proposed`;
  return { reason: 'NotCreated', message, subjects: ids.slice(0, 16) };
}

/** It is so whether anything is to be done or not: nobody looks for what is not begun. */
export function pausedWaits({ paused }: Pick<RedisClusterSpec, 'paused'>): readonly Waiting[] {
  if (paused !== true) return [];
  return [{ reason: 'Paused', message: 'spec.paused: nothing is begun before it is taken away', subjects: [] }];
}

export function splitWait(apart: readonly (readonly NodeId[])[]): Waiting {
  const message = `${apart.length + 1} groups of nodes do not know each other: joining clusters that own slots loses data, so a person must say which one this is`;
  return { reason: 'SplitCluster', message, subjects: apart.flat().slice(0, 16) };
}

export function fixWaits({ desired, findings }: Pick<NextFacts, 'desired' | 'findings'>): readonly Waiting[] {
  if (desired.fix !== 'off' || !needsFix(findings)) return [];
  const message =
    'the cluster is damaged, and spec.fix is off: set it to automatic or approve, or run `reeve redis fix`';
  return [{ reason: 'FixIsOff', message, subjects: [] }];
}

function missing({ desired, members: pods }: NextFacts, absent: readonly PodMember[]): readonly Waiting[] {
  const waiting: Waiting[] = [];
  if (pods.length < desired.size) {
    const message = `${pods.length} of ${desired.size} pods are there`;
    waiting.push({ reason: 'PodsMissing', message, subjects: [] });
  }
  if (absent.length > 0) {
    const names = absent.map(({ name }) => name);
    const message = `no server answers in ${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
    waiting.push({ reason: 'ServersSilent', message, subjects: names.slice(0, 16) });
  }
  waiting.push(...troubleWaits(absent));
  return waiting;
}

function creation({ desired, members: pods, configured }: NextFacts, waitingFor: readonly Waiting[]): Next {
  const there = pods.filter(({ ordinal, node }) => ordinal < desired.size && node);
  if (there.length < desired.size) return { wishes: [], waitingFor };
  const endpoints = there.flatMap((pod) => endpointOf(pod) ?? []);
  const request: CreateRequest = {
    endpoints,
    primaries: desired.primaries,
    replicasPerPrimary: desired.replicasPerPrimary,
    spreadBy: desired.spreadBy,
  };
  const why = configured
    ? 'every node is new: the data of the cluster that was here is gone'
    : `${there.length} empty servers wait to become one cluster`;
  // What was a cluster once had data. That all of it is gone is not for a machine to pass over.
  const needsApproval = configured || desired.creation === 'manual';
  return {
    wishes: [{ what: 'operation', kind: 'create', request, why, settleMs: GOSSIP_MS, needsApproval }],
    waitingFor,
  };
}

/**
 * Before anything was ever begun, pods of an old kind in which nobody answers: started with a password that was lost since, or with an
 * image that does not exist. They would be silent for ever: only the operator replaces pods.
 */
function unborn({ isUntouched = false }: NextFacts, absent: readonly PodMember[]): readonly RestartWish[] {
  if (!isUntouched) return [];
  return absent
    .filter(({ isCurrent, isDeleting }) => !isCurrent && !isDeleting)
    .map((pod) => ({
      what: 'restart',
      pod,
      why: `${pod.name} is silent, and made from what is not asked for any more: it is made anew`,
      settleMs: ABSENCE_MS,
    }));
}

function needsFix(findings: readonly Finding[]): boolean {
  return findings.some(({ code, severity }) => severity !== 'info' && FIXABLE.includes(code));
}

export function fixes({ desired, findings }: NextFacts, someAbsent: boolean): readonly OperationWish[] {
  if (desired.fix === 'off' || !needsFix(findings)) return [];
  const first = findings.find(({ code, severity }) => severity !== 'info' && FIXABLE.includes(code));
  return [
    {
      what: 'operation',
      kind: 'fix',
      request: {
        expected: { replicasPerPrimary: desired.replicasPerPrimary, spreadBy: desired.spreadBy },
        pace: desired.pace,
      },
      why: first?.message ?? 'the check is not clean',
      settleMs: someAbsent ? ABSENCE_MS : GOSSIP_MS,
      needsApproval: desired.fix === 'approve',
    },
  ];
}

/**
 * Members that live nowhere any more: when a server answers in every pod, whoever did not answer has no pod to come back in. It is
 * forgotten only if all call it failed and nothing is left of it; the operation sees to that.
 */
function lost({ desired }: NextFacts, cluster: ClusterView): readonly OperationWish[] {
  return members(cluster)
    .filter((node) => !isReported(node) && (isFailed(node) || isVanished(node)))
    .map((node) =>
      forget(desired, node, `${nodeName(cluster, node.id)} is dead, and no pod is left in which it could come back`),
    );
}

function forget(desired: Desired, node: NodeView, why: string): OperationWish {
  const request: DeleteNodeRequest = {
    id: node.id,
    engine: desired.engine,
    pace: desired.pace,
    drain: false,
    reset: false,
    spreadBy: desired.spreadBy,
  };
  return { what: 'operation', kind: 'delete-node', request, why, settleMs: GOSSIP_MS, needsApproval: false };
}

/** So far ahead is looked when replicas are placed one by one: each costs a look at all primaries. */
const MOST_COMPANY = 8;

/** Servers in pods of ours that belong to nobody: they become what is missing. */
function newcomers({ desired, members: pods, view }: NextFacts): {
  readonly primaries: readonly OperationWish[];
  readonly replicas: readonly OperationWish[];
} {
  const alone = new Set<NodeId>(loners(view).map(({ id }) => id));
  const leaving = new Set<NodeId>(
    pods.flatMap(({ node, ordinal }) => (node && ordinal >= desired.size ? [node.id] : [])),
  );
  // Who leaves is none: else the one who is to take its place would come as a replica, and be sent away again.
  const standing = primaries(view).filter(
    (node) => !alone.has(node.id) && !leaving.has(node.id) && !(isFailed(node) && countSlots(likelySlots(node)) === 0),
  );
  const as = standing.length < desired.primaries ? 'primary' : 'replica';
  // While a shard waits for its election, none of its primaries can be chosen: who comes would go elsewhere, and stay there.
  const isElecting = members(view).some((node) => !isReported(node) && countSlots(likelySlots(node)) > 0);
  const settleMs = as === 'replica' && isElecting ? ABSENCE_MS : 0;
  const coming = pods.filter(
    ({ node, ordinal, isDeleting }) => node && alone.has(node.id) && ordinal < desired.size && !isDeleting,
  );
  const wishes = coming.flatMap((pod, index) => {
    const endpoint = endpointOf(pod);
    if (!endpoint) return [];
    const after = coming.slice(index + 1, index + 1 + MOST_COMPANY);
    const company = after.flatMap(({ node }) => (node ? [{ id: node.id, annotations: node.annotations }] : []));
    const isOneOfMany = as === 'replica' && company.length > 0;
    const request: AddNodeRequest = { endpoint, as, spreadBy: desired.spreadBy, ...(isOneOfMany && { company }) };
    const why = `${pod.name} is new and becomes a ${as}`;
    return [{ what: 'operation', kind: 'add-node', request, why, settleMs, needsApproval: false } as const];
  });
  return as === 'primary' ? { primaries: wishes, replicas: [] } : { primaries: [], replicas: wishes };
}
