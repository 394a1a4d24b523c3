/** Why an object is as it is, in words: what is true of it now, and apart from that what was before. Pure. */
import type { AnyObject } from '@reeve/kube';
import { ageText } from './age.ts';
import { objectState } from './object-state.ts';

interface Operation {
  readonly kind?: string;
  readonly why?: string;
  readonly outcome?: string;
  readonly message?: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
}

interface Status {
  readonly phase?: string;
  readonly progress?: string;
  readonly message?: string;
  readonly currentOperation?: Operation;
  readonly operations?: readonly Operation[];
  /** Of a task: one sentence. */
  readonly waitingFor?: string | readonly { readonly reason?: string; readonly message?: string }[];
  readonly proposal?: { readonly kind?: string; readonly digest?: string; readonly steps?: readonly string[] };
  readonly conditions?: readonly Condition[];
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface Happened {
  readonly reason: string;
  readonly note: string;
  readonly isWarning: boolean;
  /** As objects have times. */
  readonly at: string | undefined;
}

/** What an explanation is made of. */
export interface Asked {
  /** `Pod`, `StatefulSet.apps`. */
  readonly kind: string;
  readonly object: AnyObject;
  /** The newest last. */
  readonly events: readonly Happened[];
  readonly now: number;
}

export interface Explanation {
  readonly object: string;
  readonly state: string;
  readonly verdict: string;
  readonly doing: readonly string[];
  readonly waitingFor: readonly string[];
  readonly proposed: readonly string[];
  readonly amiss: readonly string[];
  readonly past: readonly string[];
}

const MOST_EVENTS = 8;
const MOST_OPERATIONS = 5;
/** True is good. All others are good when they are false, or say nothing of good and bad. */
const GOOD_WHEN_TRUE =
  /^(Ready|Available|Valid|Declared|Initialized|ContainersReady|PodScheduled|PodReadyToStartContainers|Progressing|Complete|Succeeded|SuccessCriteriaMet|Established|NamesAccepted)$/;

function waitsOf({ waitingFor = [] }: Status): readonly string[] {
  if (typeof waitingFor === 'string') return [waitingFor];
  return waitingFor.map(({ reason, message }) => `${message ?? ''} (${reason ?? ''})`);
}

export function explanationOf({ kind, object, events, now }: Asked): Explanation {
  const status = (object as { readonly status?: Status }).status ?? {};
  const { currentOperation: current, proposal } = status;
  const { state, ...known } = objectState(kind, object, now);
  const doing = current
    ? [`${current.kind ?? ''}: ${current.why ?? ''}`, ...(status.progress ? [`now: ${status.progress}`] : [])]
    : [];
  const waitingFor = [...waitsOf(status), ...finalizers(object)];
  const conditions = (status.conditions ?? []).filter((one) => isAmiss(one) && !isOver(kind, status, one));
  const amiss = [...known.amiss, ...mountFault(kind, status, events), ...conditions.map(conditionLine)];
  return {
    object: `${kind.split('.', 1)[0]} ${object.metadata.name ?? ''}`,
    state: `${state}${status.message ? `: ${status.message}` : ''}`,
    verdict: verdictOf({ doing, waitingFor, amiss }),
    doing,
    waitingFor,
    proposed: proposal
      ? [
          `${proposal.kind ?? ''}, plan ${proposal.digest ?? ''}`,
          ...(proposal.steps ?? []).map((step, index) => `${index + 1}. ${step}`),
        ]
      : [],
    amiss,
    past: [
      ...known.past,
      ...(status.operations ?? []).slice(0, MOST_OPERATIONS).map((operation) => operationLine(operation, now)),
      ...events.slice(-MOST_EVENTS).map((event) => eventLine(event, now)),
    ],
  };
}

export function explanationText(explanation: Explanation): string {
  const { object, state, verdict, doing, waitingFor, proposed, amiss, past } = explanation;
  const lines = [`${object}: ${state}`, verdict];
  const section = (name: string, all: readonly string[]) => {
    if (all.length > 0) lines.push('', `${name}:`, ...all.map((line) => `  ${line}`));
  };
  section('Amiss', amiss);
  section('Doing', doing);
  section('Waiting for', waitingFor);
  section('Proposed', proposed);
  section('Before', past);
  return `${lines.join('\n')}\n`;
}

function verdictOf({ doing, waitingFor, amiss }: Pick<Explanation, 'doing' | 'waitingFor' | 'amiss'>): string {
  const isWorkedOn = doing.length > 0;
  const isWaiting = waitingFor.length > 0;
  if (amiss.length > 0) {
    return `Something is amiss${isWorkedOn ? ', and it is worked on' : isWaiting ? ', and it is waited for' : ''}.`;
  }
  if (isWorkedOn) return 'Nothing is amiss; a change is under way.';
  return isWaiting ? 'Nothing is amiss; something is waited for.' : 'Nothing is amiss, and nothing is waited for.';
}

/** Whoever is to do something before it can go. */
function finalizers({ metadata }: AnyObject): readonly string[] {
  if (metadata.deletionTimestamp === undefined) return [];
  const names = metadata.finalizers ?? [];
  return [names.length === 0 ? 'its end: it is being deleted' : `${names.join(', ')}, to let it be deleted`];
}

/** A pod that has done its work is not ready for more. */
function isAmiss({ type, status, reason }: Condition): boolean {
  if (!GOOD_WHEN_TRUE.test(type)) return status === 'True';
  return status !== 'True' && reason !== 'PodCompleted';
}

/**
 * In a pod that has ended nothing is there any more to start containers in; nobody gives a reason for that. A job that has failed says
 * again what it was about to fail of.
 */
function isOver(kind: string, { phase = '', conditions = [] }: Status, { type }: Condition): boolean {
  if (kind === 'Job.batch' && type === 'FailureTarget') return conditions.some((one) => one.type === 'Failed');
  return kind === 'Pod' && type === 'PodReadyToStartContainers' && ['Succeeded', 'Failed'].includes(phase);
}

/** What a pod says that waits for its volumes. It has no condition for that; what was told last is so still, or more would have been. */
const MOUNTING = /^(FailedMount|FailedAttachVolume|FailedMapVolume)$/;

function mountFault(kind: string, { phase }: Status, events: readonly Happened[]): readonly string[] {
  const last = events.at(-1);
  if (kind !== 'Pod' || phase !== 'Pending' || !last || !MOUNTING.test(last.reason)) return [];
  return [`${last.reason}: ${last.note}`];
}

function conditionLine({ type, status, reason, message }: Condition): string {
  const is = status === 'True' ? type : `${type} is ${status}`;
  return `${is}${reason ? ` (${reason})` : ''}${message ? `: ${message}` : ''}`;
}

function operationLine({ kind, why, outcome, message, endedAt }: Operation, now: number): string {
  const ago = endedAt === undefined ? '' : `${ageText(endedAt, now)} ago `;
  return `${ago}${kind ?? ''} ${outcome ?? ''}: ${why ?? ''}${message ? ` — ${message}` : ''}`;
}

function eventLine({ reason, note, isWarning, at }: Happened, now: number): string {
  return `${ageText(at, now)} ago ${isWarning ? '! ' : ''}${reason}: ${note}`;
}
