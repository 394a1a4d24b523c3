/** The status of a cluster as one turn leaves it, and on which status it may be written. Pure. */
import {
  type DeepReadonly,
  type NewCondition,
  ReeveError,
  type Refusal,
  setConditions,
  type Waiting,
} from '@reeve/runtime';
import { isKubeError } from '@reeve/kube';
import type { CurrentOperation, PastOperation, RedisClusterStatus } from '../api/cluster.ts';
import { SLOT_COUNT } from '../api/slots.ts';
import type { NodeId } from '../api/view.ts';
import { boundedStatus } from '../plan/bounded-status.ts';
import {
  conditionType,
  findingConditions,
  phaseOf,
  shownTopology,
  type Topology,
  unseenConditions,
} from '../plan/cluster-status.ts';
import type { Desired } from '../plan/desired.ts';
import { stuckConditions } from '../plan/pod-trouble.ts';
import { type Setback, setbackConditions, withRemedy } from '../plan/setbacks.ts';
import { strayConditions, type StrayLook } from '../plan/stray-keys.ts';
import { silentConditions, type Unseen } from '../plan/unseen.ts';
import { isWhole, type Seen } from './look.ts';
import { agentConditions, type Enrolled } from './roster.ts';
import type { Proposal } from './run.ts';
import type { JudgedOffer } from './tls.ts';
import { type DeclaredUsers, userConditions } from './users.ts';

const MOST_STEPS = 32;
export const MOST_TEXT = 2_000;

type Status = DeepReadonly<RedisClusterStatus>;

/** Why an object of ours could not be made what it should be, as a condition says it. */
export type Undeclared = Pick<NewCondition, 'reason' | 'message'>;

/** What must not be made as things are. */
const NOT_TO_BE_MADE: readonly string[] = ['AGENT_POLICY_MISSING', 'MIXED_PRODUCTS', 'UPGRADE_OLDER'];

/** Of a declaration that failed. Undefined: it is an error like any other, and the turn is run again. */
export function undeclaredBy(error: unknown): Undeclared | undefined {
  if (isKubeError(error, 'KUBE_INVALID') || isKubeError(error, 'KUBE_FORBIDDEN')) {
    return { reason: 'RefusedByServer', message: (error as Error).message.slice(0, MOST_TEXT) };
  }
  if (!(error instanceof ReeveError) || !NOT_TO_BE_MADE.includes(error.code)) return undefined;
  return { reason: conditionType(error.code), message: withRemedy(error.code, error.message).slice(0, MOST_TEXT) };
}

export interface TurnFacts {
  readonly before: Status;
  readonly generation: number | undefined;
  readonly now: number;
  readonly isPaused: boolean;
  readonly configured: boolean;
  readonly desired: Desired;
  /** Of a cluster that has agents. */
  readonly roster: readonly Enrolled[] | undefined;
  readonly seen: Seen;
  /** Why nothing is known of the servers. */
  readonly unseen: Unseen | undefined;
  readonly chosen: readonly NodeId[];
  /** How many approvals were used up. */
  readonly approvals: number;
  readonly topology: Topology;
  /** Of a count of keys outside their slots. Undefined: nobody counted. */
  readonly strays: StrayLook | undefined;
  /** What is wrong with the spec. */
  readonly problems: readonly Refusal[];
  /** What operations would not do, and what they failed with. */
  readonly setbacks: readonly Setback[];
  readonly undeclared: Undeclared | undefined;
  /** Users without a password to go by. Undefined: nobody looked, and what was said of them stands. */
  readonly unproved: DeclaredUsers['unproved'] | undefined;
  /** What came of certificates that somebody else keeps. Undefined: nobody looked at them, and what was said of them stands. */
  readonly offer: JudgedOffer | undefined;
  /** What servers were given of these. */
  readonly taken: string | undefined;
  readonly waitingFor: readonly Waiting[];
  readonly progress: string | undefined;
  readonly proposed: Proposal<unknown> | undefined;
  readonly current: CurrentOperation | undefined;
  readonly history: readonly PastOperation[];
}

export function statusOf(facts: TurnFacts): RedisClusterStatus {
  const { before, generation, configured, desired, seen, current, proposed, progress } = facts;
  const { members, findings } = seen;
  const whole = isWhole(seen, desired);
  const conditions = [
    ...lookConditions(facts, whole),
    ...ownConditions(facts),
    ...certificateConditions(conditionsOf(before), facts.offer),
    ...userConditions(conditionsOf(before), facts.unproved),
    ...strayConditions(conditionsOf(before), facts.strays),
    ...stuckConditions(members, conditionsOf(before), facts.now),
    ...agentConditions(facts.roster, conditionsOf(before)),
  ].map((condition) => ({ ...condition, ...(generation !== undefined && { observedGeneration: generation }) }));
  return boundedStatus({
    ...(generation !== undefined && { observedGeneration: generation }),
    phase: phaseOf({
      isInvalid: facts.problems.length > 0,
      isPaused: facts.isPaused,
      configured,
      findings,
      isWhole: whole,
      isUnserved: facts.unseen === undefined && facts.topology.slots < SLOT_COUNT,
      isRolling: facts.waitingFor.some(({ reason }) => reason === 'PodsOld'),
      ...(current && { operation: current.kind }),
    }),
    configured,
    ...shownTopology(facts.topology, current?.kind),
    ...(facts.chosen.length > 0 && { chosenPrimaries: facts.chosen }),
    ...(facts.approvals > 0 && { approvals: facts.approvals }),
    ...(facts.taken !== undefined && { tls: { taken: facts.taken } }),
    conditions: setConditions(conditionsOf(before), conditions, facts.now),
    waitingFor: facts.waitingFor
      .slice(0, 16)
      .map((one) => ({ ...one, message: one.message.slice(0, MOST_TEXT), subjects: one.subjects.slice(0, 16) })),
    ...(progress !== undefined && { progress: progress.slice(0, 512) }),
    ...(proposed && {
      proposal: {
        kind: proposed.kind,
        digest: proposed.digest,
        steps: proposed.decided.steps.slice(0, MOST_STEPS).map((step) => step.slice(0, 512)),
      },
    }),
    ...(facts.setbacks.length > 0 && { setbacks: facts.setbacks }),
    ...(current && { currentOperation: current }),
    operations: facts.history,
  } as RedisClusterStatus);
}

/** What a look at the servers says. Of our own servers nothing is served before they were made a cluster, whether they are asked or not. */
function lookConditions(facts: TurnFacts, whole: boolean): readonly NewCondition[] {
  const { seen, desired, configured, topology, unseen } = facts;
  const before = conditionsOf(facts.before);
  const isExternal = desired.members === 'external';
  const isUnknown = unseen !== undefined && (configured || isExternal);
  return [
    ...(isUnknown
      ? unseenConditions(before, unseen)
      : findingConditions(before, seen.findings, { ...topology, configured, isWhole: whole })),
    ...(unseen && !unseen.isAsked ? [] : silentConditions(before, seen.members, { view: seen.view, isExternal })),
  ];
}

function ownConditions({ problems, undeclared, setbacks }: TurnFacts): readonly NewCondition[] {
  return [
    {
      type: 'Valid',
      status: problems.length > 0 ? 'False' : 'True',
      reason: problems[0] ? conditionType(problems[0].code) : 'AsAsked',
      message: problems
        .map(({ code, message }) => withRemedy(code, `${code}: ${message}`))
        .join(' ')
        .slice(0, MOST_TEXT),
    },
    {
      type: 'Declared',
      status: undeclared === undefined ? 'True' : 'False',
      reason: undeclared?.reason ?? 'AsAsked',
      message: undeclared?.message ?? '',
    },
    ...setbackConditions(setbacks),
  ];
}

const REFUSED = 'CertificateRefused';

export function certificateConditions(
  before: RedisClusterStatus['conditions'],
  offer: JudgedOffer | undefined,
): readonly NewCondition[] {
  if (!offer) return [];
  if (offer.refused) {
    const { code, message } = offer.refused;
    return [{ type: REFUSED, status: 'True', reason: conditionType(code), message: withRemedy(code, message) }];
  }
  const wasSaid = before?.some(({ type }) => type === REFUSED) ?? false;
  return wasSaid ? [{ type: REFUSED, status: 'False', reason: 'AsAsked', message: '' }] : [];
}

/**
 * Whether what is about to be replaced has the goal, and the memory of having been created, of what servers were given and of approvals
 * used up, that the turn was decided on. A cache may lag behind the leader before us: its goal is gone on with, not written over; what was
 * created once is never created again by itself; and no approval counts twice.
 */
export function hasSameGoal(before: Status, present: unknown): boolean {
  const there = (present ?? {}) as Status;
  return (
    there.currentOperation?.id === before.currentOperation?.id &&
    (there.configured === true) === (before.configured === true) &&
    there.tls?.taken === before.tls?.taken &&
    (there.approvals ?? 0) === (before.approvals ?? 0)
  );
}

function conditionsOf({ conditions }: Status): RedisClusterStatus['conditions'] {
  return conditions as RedisClusterStatus['conditions'];
}
