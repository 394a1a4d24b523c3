/**
 * Which conditions are told as events, when they come or say something else. What the status said before counts as told: nothing of this is
 * remembered, so that nothing is forgotten. Findings are told by node (controllers/told-findings.ts), what failed where it ended. Pure.
 */
import type { DeepReadonly } from '@reeve/runtime';
import type { RedisClusterStatus } from '../api/cluster.ts';
import { conditionType } from './cluster-status.ts';
import { withRemedy } from './setbacks.ts';

type Status = DeepReadonly<Pick<RedisClusterStatus, 'conditions' | 'setbacks'>>;
type Condition = NonNullable<Status['conditions']>[number];

export interface News {
  readonly reason: string;
  readonly note: string;
}

const MOST_TEXT = 1_000;

/** What is amiss, by type. One that is amiss when it is true has a name that says so; of others the reason does. */
const AMISS: Readonly<Record<string, Condition['status']>> = {
  Valid: 'False',
  Declared: 'False',
  CertificateRefused: 'True',
  UserSecretMissing: 'True',
  ServersSilent: 'True',
  PodStuck: 'True',
  Available: 'Unknown',
};

export function conditionNews(before: Status, after: Status): readonly News[] {
  return [...refusalNews(before, after), ...amissNews(before, after)];
}

/** Each refusal by itself, with its code as the reason: a condition names only the first. That another node is refused is not news. */
function refusalNews(before: Status, after: Status): readonly News[] {
  const refusals = ({ setbacks = [] }: Status) => setbacks.filter(({ stage }) => stage === 'proposal');
  const nameOf = ({ kind, code }: { readonly kind: string; readonly code: string }) => `${kind} ${code}`;
  const told = new Set(refusals(before).map(nameOf));
  const fresh = new Map(refusals(after).map((one) => [nameOf(one), one]));
  return [...fresh]
    .filter(([name]) => !told.has(name))
    .map(([, { kind, code, message }]) => ({
      reason: conditionType(code),
      note: withRemedy(code, `${kind}: ${message}`).slice(0, MOST_TEXT),
    }));
}

function amissNews(before: Status, after: Status): readonly News[] {
  const amiss = (after.conditions ?? []).filter(({ type, status }) => AMISS[type] === status);
  const areSilent = amiss.some(({ type }) => type === 'ServersSilent');
  return (
    amiss
      // That servers let nobody in is why nothing is known of them: told once.
      .filter(({ type }) => !(type === 'Available' && areSilent))
      .filter(
        (one) =>
          !isTold(
            before.conditions?.find(({ type }) => type === one.type),
            one,
          ),
      )
      .map(({ type, status, reason, message }) => ({
        reason: status === 'True' ? type : reason,
        note: message.slice(0, MOST_TEXT),
      }))
  );
}

/** Who is silent or stuck changes with every server that comes or goes. */
const TOLD_BY_REASON: readonly string[] = ['ServersSilent', 'PodStuck'];

/** Between the two of a pair a kubelet goes to and fro for as long as it tries. */
const SAME_CAUSE: Readonly<Record<string, string>> = { ImagePullBackOff: 'ErrImagePull', CrashLoopBackOff: 'Error' };

function isTold(before: Condition | undefined, { type, status, reason, message }: Condition): boolean {
  if (before?.status !== status || causeOf(before.reason) !== causeOf(reason)) return false;
  return TOLD_BY_REASON.includes(type) || before.message === message;
}

function causeOf(reason: string): string {
  return SAME_CAUSE[reason] ?? reason;
}
