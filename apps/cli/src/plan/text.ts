/** A plan as people read it. Pure. */
import type { DryRun, FieldChange, ObjectPlan, StepPlan } from '@reeve/redis';

const MOST_STEPS = 40;
const MOST_FIELDS = 12;
/** What a plan has in the place of a text that is too long for a line. */
const LONG = '…';

const words: Readonly<Record<ObjectPlan['change'], string>> = {
  create: 'would be created',
  change: 'would be changed',
  none: 'stays as it is',
  refused: 'would be refused by the server',
  unknown: 'may change: there is no right to ask the server',
};

export function planText(title: string, { objects, next, refused, waitingFor, following = [] }: DryRun): string {
  const lines = [`${title}: ${headline(next)}`];
  const section = (name: string, all: readonly string[]) => {
    if (all.length > 0) lines.push('', `${name}:`, ...all.map((line) => `  ${line}`));
  };
  section('Why', next && next.why !== '' ? [next.why] : []);
  section('Steps', next ? numbered(next.steps) : []);
  section('Why so', next?.reasons ?? []);
  section('Objects', objects.filter(({ change }) => change !== 'none').flatMap(objectLines));
  section(
    'Refused',
    refused.map(({ code, message }) => `${code}: ${message}`),
  );
  section(
    'Waiting for',
    waitingFor.map(({ reason, message }) => `${message} (${reason})`),
  );
  section('After that', following);
  return `${lines.join('\n')}\n`;
}

function objectLines({ kind, name, change, message, fields = [] }: ObjectPlan): readonly string[] {
  const shown = fields.slice(0, MOST_FIELDS).map((field) => `  ${fieldLine(field)}`);
  const rest = fields.length > MOST_FIELDS ? [`  … and ${fields.length - MOST_FIELDS} more`] : [];
  return [`${kind} ${name} ${words[change]}${message === undefined ? '' : `: ${message}`}`, ...shown, ...rest];
}

function fieldLine({ path, before, after }: FieldChange): string {
  if (before === LONG && after === LONG) return `${path}: another text`;
  if (before === undefined) return `${path}: ${after ?? ''} (new)`;
  return after === undefined ? `${path}: ${before} (taken away)` : `${path}: ${before} → ${after}`;
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
