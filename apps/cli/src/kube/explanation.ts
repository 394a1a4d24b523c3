/** Why an object is as it is, in words: what its status and its events say, the most urgent first. Pure. */
import type { AnyObject } from '@reeve/kube';

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
  readonly reason?: string;
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
}

const MOST_EVENTS = 8;
const MOST_OPERATIONS = 5;
/** True is good. All others are good when they are false, or say nothing of good and bad. */
const GOOD_WHEN_TRUE =
  /^(Ready|Available|Valid|Declared|Initialized|ContainersReady|PodScheduled|PodReadyToStartContainers|Progressing|Complete|Succeeded)$/;

export function explain(title: string, object: AnyObject, events: readonly Happened[]): string {
  const status = (object as { readonly status?: Status }).status ?? {};
  const lines = [`${title}: ${status.phase ?? 'no phase'}${status.message ? `: ${status.message}` : ''}`];
  const section = (name: string, all: readonly string[]) => {
    if (all.length > 0) lines.push('', `${name}:`, ...all.map((line) => `  ${line}`));
  };
  const { currentOperation: now, proposal } = status;
  section(
    'Doing',
    now ? [`${now.kind ?? ''}: ${now.why ?? ''}`, ...(status.progress ? [`now: ${status.progress}`] : [])] : [],
  );
  const { waitingFor = [] } = status;
  section(
    'Waiting for',
    typeof waitingFor === 'string'
      ? [waitingFor]
      : waitingFor.map(({ reason, message }) => `${message ?? ''} (${reason ?? ''})`),
  );
  section(
    'Proposed',
    proposal
      ? [
          `${proposal.kind ?? ''}, plan ${proposal.digest ?? ''}`,
          ...(proposal.steps ?? []).map((step, index) => `${index + 1}. ${step}`),
        ]
      : [],
  );
  section('Amiss', (status.conditions ?? []).filter(isAmiss).map(conditionLine));
  section('Done last', (status.operations ?? []).slice(0, MOST_OPERATIONS).map(operationLine));
  section(
    'Events',
    events.slice(-MOST_EVENTS).map(({ reason, note, isWarning }) => `${isWarning ? '! ' : ''}${reason}: ${note}`),
  );
  if (lines.length === 1) lines.push('', 'Nothing is amiss, and nothing is waited for.');
  return `${lines.join('\n')}\n`;
}

function isAmiss({ type, status }: Condition): boolean {
  return GOOD_WHEN_TRUE.test(type) ? status !== 'True' : status === 'True';
}

function conditionLine({ type, status, reason, message }: Condition): string {
  const is = status === 'True' ? type : `${type} is ${status}`;
  return `${is}${reason ? ` (${reason})` : ''}${message ? `: ${message}` : ''}`;
}

function operationLine({ kind, why, outcome, message, endedAt }: Operation): string {
  return `${endedAt ?? ''} ${kind ?? ''} ${outcome ?? ''}: ${why ?? ''}${message ? ` — ${message}` : ''}`;
}
