/** The members that name a cluster as theirs: what each one's agent told, and whether it is heard of. Pure. */
import {
  type DeepReadonly,
  type Knowledge,
  type Member,
  type MemberRef,
  type NewCondition,
  type Waiting,
} from '@reeve/runtime';
import { type RedisFacts, reportedFacts } from '../agent/facts.ts';
import type { MembersByNode } from '../agent/member-executor.ts';
import { LOST_AFTER_TURNS, type Presence } from '../agent/presence.ts';
import type { MemberStatus } from '../api/cluster.ts';
import type { MemberObject } from '../api/kinds.ts';
import type { ClusterView, Endpoint, NodeId } from '../api/view.ts';
import type { PodFacts } from '../plan/pods.ts';
import { compareText, reported } from '../plan/topology.ts';

export interface Enrolled {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Of the pod that it is, if it is one. */
  readonly podUid?: string;
  readonly endpoint: Endpoint;
  readonly isDeleting: boolean;
  readonly presence: Presence;
  readonly facts: Knowledge<RedisFacts>;
  /** Where its server lives, as its agent was told; that stays so while the server cannot be read. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Orders of which its agent has not told the end. */
  readonly openOrders: number;
}

/** By name: those of bare servers, or those of exactly these pods. */
export function rosterOf(
  members: readonly DeepReadonly<MemberObject>[],
  presence: (member: DeepReadonly<MemberObject>) => Presence,
  pods?: ReadonlySet<string>,
): readonly Enrolled[] {
  const isMeant = ({ spec }: DeepReadonly<MemberObject>) => (pods ? pods.has(spec.pod?.uid ?? '') : !spec.pod);
  return members
    .filter((member) => member.spec.system === 'redis' && isMeant(member))
    .map((member): Enrolled => {
      const { name, namespace = '', uid = '', deletionTimestamp } = member.metadata;
      return {
        namespace,
        name,
        uid,
        ...(member.spec.pod && { podUid: member.spec.pod.uid }),
        endpoint: member.spec.endpoint,
        isDeleting: deletionTimestamp !== undefined && deletionTimestamp !== null,
        presence: presence(member),
        facts: reportedFacts(member as Member),
        annotations: annotationsOf(member as Member),
        openOrders: openOrders(member as Member),
      };
    })
    .sort((a, b) => compareText(a.name, b.name));
}

function annotationsOf({ status }: Member): Readonly<Record<string, string>> {
  const { annotations } = (status?.report?.facts ?? {}) as Partial<RedisFacts>;
  const pairs = Object.entries(annotations ?? {}).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(pairs);
}

function openOrders({ spec, status }: Member): number {
  const results = status?.results ?? [];
  const isOpen = ({ id, attempt }: { readonly id: string; readonly attempt: number }) =>
    !results.some((result) => result.id === id && result.attempt >= attempt && result.phase !== 'Started');
  return (spec.orders ?? []).filter(isOpen).length;
}

/** Whether its agent can be given orders: it was seen to live, and says which node it speaks for. */
function canBeOrdered({ presence, facts }: Enrolled): boolean {
  return presence.is === 'heard' && presence.isProved && facts.known;
}

/** As plans know the pods of a cluster. Nobody here makes or replaces servers: all of them are current. */
export function externalPods(roster: readonly Enrolled[]): readonly PodFacts[] {
  return roster.map((one, ordinal) => ({
    name: one.name,
    uid: one.uid,
    ordinal,
    ip: one.endpoint.host,
    port: one.endpoint.port,
    isReady: canBeOrdered(one),
    isDeleting: one.isDeleting,
    isCurrent: true,
    annotations: one.annotations,
  }));
}

/** Who can be given orders for which node. */
export function membersByNode(roster: readonly Enrolled[]): MembersByNode {
  const refs = new Map<NodeId, MemberRef>();
  for (const one of roster) {
    if (!one.facts.known || !canBeOrdered(one)) continue;
    if (!refs.has(one.facts.value.node)) refs.set(one.facts.value.node, refOf(one));
  }
  return refs;
}

export function refOf({ namespace, name, podUid }: Enrolled): MemberRef {
  return { namespace, name, ...(podUid !== undefined && { podUid }) };
}

/**
 * That an agent is lost says nothing about its server: the others' views do. So this is a condition of its own. After a start of the
 * manager it takes three turns until a lost one is known to be: what was said before stands until all have been seen to live.
 */
export function agentConditions(
  roster: readonly Enrolled[] | undefined,
  before: readonly NewCondition[] | undefined,
): readonly NewCondition[] {
  if (!roster) {
    const wasSaid = before?.some(({ type }) => type === 'AgentLost') ?? false;
    return wasSaid ? [{ type: 'AgentLost', status: 'False', reason: 'NoAgents', message: '' }] : [];
  }
  const lost = roster.filter(({ presence }) => presence.is === 'lost');
  const said = before?.find(({ type, status }) => type === 'AgentLost' && status === 'True');
  const isUndecided = roster.some(
    ({ presence }) => presence.is === 'unknown' || (presence.is === 'heard' && !presence.isProved),
  );
  if (lost.length === 0 && said && isUndecided) {
    return [{ type: said.type, status: said.status, reason: said.reason, message: said.message }];
  }
  if (lost.length === 0) {
    return [{ type: 'AgentLost', status: 'False', reason: 'AllHeard', message: '' }];
  }
  const busy = lost.filter((one) => one.openOrders > 0);
  const message =
    `silent for ${LOST_AFTER_TURNS} turns: the agents of ${namesOf(lost)}. Their servers may be well: the check tells` +
    (busy.length > 0 ? `. Orders wait for ${namesOf(busy)}: start the agent again, or revoke the member` : '');
  return [{ type: 'AgentLost', status: 'True', reason: 'Silent', message }];
}

/** What is waited for beside the servers themselves. */
export function agentWaits(roster: readonly Enrolled[]): readonly Waiting[] {
  const awaited = roster.filter(({ presence: { is } }) => is === 'awaited' || is === 'unknown');
  if (awaited.length === 0) return [];
  const message = `no agent was ever heard of for ${namesOf(awaited)}: start \`reeve agent redis\` beside the server`;
  return [{ reason: 'AgentsAwaited', message, subjects: awaited.map(({ name }) => name).slice(0, 16) }];
}

/** What agents tell of nodes that the manager could not ask itself. */
export function toldStates(roster: readonly Enrolled[], view: ClusterView): readonly MemberStatus[] {
  const asked = new Set(reported(view).map(({ id }) => id));
  const nameOf = new Map(roster.flatMap(({ name, facts }) => (facts.known ? [[facts.value.node, name] as const] : [])));
  return roster.flatMap(({ name, presence, facts }): readonly MemberStatus[] => {
    if (!facts.known || presence.is !== 'heard' || asked.has(facts.value.node)) return [];
    const { node, role, primary, slots, others } = facts.value;
    if (others.known === 0) return []; // it is in no cluster
    return [
      {
        pod: name,
        id: node,
        role,
        ...(primary !== undefined && { of: nameOf.get(primary) ?? primary }),
        ...(slots !== undefined && slots !== '' && role === 'primary' && { slots }),
        by: 'agent',
      },
    ];
  });
}

function namesOf(members: readonly Enrolled[]): string {
  const names = members.slice(0, 5).map(({ name }) => name);
  return members.length > 5 ? `${names.join(', ')} and ${members.length - 5} more` : names.join(', ');
}
