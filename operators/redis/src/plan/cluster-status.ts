/** What a cluster's status says, from one observation: bounded, and the same text for the same world. Pure. */
import type { NewCondition } from '@reeve/runtime';
import type { MemberStatus, RedisClusterStatus } from '../api/cluster.ts';
import type { Finding } from '../api/findings.ts';
import { countSlots, formatSlots, SLOT_COUNT } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import type { PodMember } from './pods.ts';
import { loners, ownersBySlot, ownSlots, primaryIdOf, reported, roleOf } from './topology.ts';

export type Phase = NonNullable<RedisClusterStatus['phase']>;

/** More ranges than this are not worth reading: `4096 slots in 300 ranges`. */
const MOST_RANGES = 16;
const MOST_TEXT = 2_000;

export interface Topology {
  readonly primaries: number;
  readonly replicas: number;
  readonly slots: number;
  readonly server?: string;
  readonly members: readonly MemberStatus[];
}

export function topologyOf(members: readonly PodMember[], view: ClusterView): Topology {
  const alone = new Set<NodeId>(loners(view).map(({ id }) => id));
  const podOf = new Map(members.flatMap(({ name, node }) => (node ? [[node.id, name] as const] : [])));
  const all = reported(view)
    .filter(({ id }) => !alone.has(id))
    .map((node): MemberStatus => {
      const primary = primaryIdOf(node);
      const slots = slotsText(node);
      return {
        pod: podOf.get(node.id) ?? node.id,
        id: node.id,
        role: roleOf(node) ?? 'primary',
        ...(primary !== undefined && { of: podOf.get(primary) ?? primary }),
        ...(slots !== undefined && { slots }),
      };
    });
  const versions = new Set(
    reported(view).map(({ report }) => `${report.value.server.product} ${report.value.server.version}`),
  );
  return {
    primaries: all.filter(({ role }) => role === 'primary').length,
    replicas: all.filter(({ role }) => role === 'replica').length,
    slots: ownersBySlot(view).filter((owners) => owners.length > 0).length,
    ...(versions.size > 0 && { server: [...versions].sort().join(', ').slice(0, 63) }),
    members: all.sort((a, b) => byOrdinal(a.pod, b.pod)),
  };
}

/** Of servers that nobody could ask: how many there were. Who they are is kept of each by itself. */
export function lastTopology({ primaries = 0, replicas = 0, slots = 0, server }: RedisClusterStatus): Topology {
  return { primaries, replicas, slots, ...(server !== undefined && { server }), members: [] };
}

/** The goal of a creation says who becomes what: members beside it would be all of that twice, more than an object may hold. */
export function shownTopology(topology: Topology, operation: string | undefined): Topology {
  return operation === 'create' ? { ...topology, members: [] } : topology;
}

function slotsText(node: Parameters<typeof ownSlots>[0]): string | undefined {
  const slots = ownSlots(node);
  if (slots.length === 0) return undefined;
  return slots.length <= MOST_RANGES ? formatSlots(slots) : `${countSlots(slots)} slots in ${slots.length} ranges`;
}

export function byOrdinal(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

export interface PhaseFacts {
  /** The spec cannot be acted on. */
  readonly isInvalid: boolean;
  readonly isPaused: boolean;
  readonly configured: boolean;
  readonly operation?: string;
  readonly findings: readonly Finding[];
  readonly isWhole: boolean;
  /** Servers were asked, and none that answers owns some of the slots. Nothing is found where nobody answers at all. */
  readonly isUnserved: boolean;
  /** Pods are still to be made anew. */
  readonly isRolling: boolean;
}

/**
 * The first that is true: whether anything is done at all, then how it is. What is being created is neither broken nor degraded: it is not
 * there yet. Nor is what is being changed degraded: operations open slots and move replicas, and the conditions say what is amiss besides.
 */
export function phaseOf(facts: PhaseFacts): Phase {
  const { isInvalid, isPaused, configured, operation, findings, isWhole, isUnserved, isRolling } = facts;
  if (isInvalid) return 'Invalid';
  if (isPaused) return 'Paused';
  if (operation === 'create') return 'Creating';
  if (!configured) return 'Pending';
  if (isUnserved || findings.some(({ severity }) => severity === 'broken')) return 'Broken';
  if (operation !== undefined) return 'Changing';
  if (!isWhole || findings.some(({ severity }) => severity === 'degraded')) return 'Degraded';
  // After Degraded: whoever waits between two pods for something that is amiss should say so.
  return isRolling ? 'Changing' : 'Running';
}

/** `SLOT_OPEN` → `SlotOpen`: findings and refusals as conditions and reasons name them. */
export function conditionType(code: string): string {
  return code.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

/**
 * A condition for each kind of finding that there is or was, and two for everybody: Available (every slot is served) and Ready (and
 * nothing is amiss). Informative findings are in the check, not here.
 */
export function findingConditions(
  before: RedisClusterStatus['conditions'],
  findings: readonly Finding[],
  facts: { readonly slots: number; readonly configured: boolean; readonly isWhole: boolean },
): readonly NewCondition[] {
  const serious = findings.filter(({ severity }) => severity !== 'info');
  const broken = serious.filter(({ severity }) => severity === 'broken');
  const codes = [...new Set(serious.map(({ code }) => code))];
  const types = codes.map(conditionType);
  const found = codes.map((code): NewCondition => {
    const those = serious.filter((finding) => finding.code === code);
    const reason = those.some(({ severity }) => severity === 'broken') ? 'Broken' : 'Degraded';
    const message = listed(those.map((finding) => `${finding.message}. ${finding.remedy}`));
    return { type: conditionType(code), status: 'True', reason, message: message.slice(0, MOST_TEXT) };
  });
  const cleared = (before ?? [])
    .filter((one) => isOfFinding(one) && !types.includes(one.type))
    .map(({ type }): NewCondition => ({ type, status: 'False', reason: 'Clear', message: 'not found any more' }));
  const isAvailable = facts.configured && facts.slots === SLOT_COUNT && broken.length === 0;
  const isReady = isAvailable && facts.isWhole && serious.length === 0;
  const first = (broken[0] ?? serious[0])?.message;
  return [
    {
      type: 'Available',
      status: isAvailable ? 'True' : 'False',
      reason: isAvailable ? 'SlotsServed' : facts.configured ? 'SlotsNotServed' : 'NotCreated',
      message: isAvailable ? 'every slot is served' : (first ?? `${facts.slots} of ${SLOT_COUNT} slots are served`),
    },
    {
      type: 'Ready',
      status: isReady ? 'True' : 'False',
      reason: isReady ? 'Clean' : 'NotClean',
      message: isReady ? 'the check is clean and every node is there' : (first ?? 'not every node is there yet'),
    },
    ...found,
    ...cleared,
  ];
}

/** Not every remedy ends with a full stop: without more than a space between them they would run together. */
function listed(texts: readonly string[]): string {
  return texts.map((text, at) => (at < texts.length - 1 ? text.replace(/\.$/, '') : text)).join('; ');
}

/** Of servers that nobody could ask: what was found before may be over by now, and more may be amiss. */
export function unseenConditions(
  before: RedisClusterStatus['conditions'],
  { reason, message }: Pick<NewCondition, 'reason' | 'message'>,
): readonly NewCondition[] {
  const found = (before ?? []).filter((one) => isOfFinding(one) && one.status === 'True');
  return [
    ...['Available', 'Ready'].map((type): NewCondition => ({ type, status: 'Unknown', reason, message })),
    ...found.map(
      ({ type, reason: kind, message: last }): NewCondition => ({
        type,
        status: 'Unknown',
        // As it was: by this it is known for a finding, and cleared when servers are asked again.
        reason: kind,
        message: `servers are not asked; last seen: ${last}`.slice(0, MOST_TEXT),
      }),
    ),
  ];
}

function isOfFinding({ type, reason }: Pick<NewCondition, 'type' | 'reason'>): boolean {
  return (reason === 'Broken' || reason === 'Degraded') && !GENERAL.includes(type);
}

const GENERAL: readonly string[] = ['Available', 'Ready', 'Valid', 'Refused'];
