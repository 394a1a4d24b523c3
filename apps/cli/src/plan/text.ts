/** A plan as people read it. Pure. */
import type { DryRun, ObjectPlan, StepPlan } from '@reeve/redis';

const MOST_STEPS = 40;

const words: Readonly<Record<ObjectPlan['change'], string>> = {
  create: 'would be created',
  change: 'would be changed',
  none: 'stays as it is',
  refused: 'would be refused by the server',
  unknown: 'may change: there is no right to ask the server',
};

export function planText(title: string, { objects, next, refused, waitingFor }: DryRun): string {
  const lines = [`${title}: ${headline(next)}`];
  const section = (name: string, all: readonly string[]) => {
    if (all.length > 0) lines.push('', `${name}:`, ...all.map((line) => `  ${line}`));
  };
  section('Why', next && next.why !== '' ? [next.why] : []);
  section('Steps', next ? numbered(next.steps) : []);
  section('Why so', next?.reasons ?? []);
  section('Objects', objects.filter(({ change }) => change !== 'none').map(objectLine));
  section(
    'Refused',
    refused.map(({ code, message }) => `${code}: ${message}`),
  );
  section(
    'Waiting for',
    waitingFor.map(({ reason, message }) => `${message} (${reason})`),
  );
  return `${lines.join('\n')}\n`;
}

function objectLine({ kind, name, change, message }: ObjectPlan): string {
  return `${kind} ${name} ${words[change]}${message === undefined ? '' : `: ${message}`}`;
}

function headline(next: StepPlan | undefined): string {
  if (!next) return 'nothing is begun next';
  const { kind, digest, needsApproval, isUnderWay } = next;
  if (isUnderWay) return `${kind} is under way`;
  const plan = digest === undefined ? kind : `${kind}, plan ${digest}`;
  return needsApproval ? `${plan}, which waits for an approval` : `next is ${plan}`;
}

function numbered(steps: readonly string[]): readonly string[] {
  const shown = steps.slice(0, MOST_STEPS).map((step, index) => `${index + 1}. ${step}`);
  return steps.length > MOST_STEPS ? [...shown, `… and ${steps.length - MOST_STEPS} more`] : shown;
}
