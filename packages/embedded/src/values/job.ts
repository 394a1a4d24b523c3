/** Jobs. */
import { type Draft, isSame, type JsonObject, numberOf, objectOf, textOf } from '../object/draft.ts';
import { dnsLabel } from '../object/names.ts';
import type { FieldError } from '../status/field-error.ts';
import { Part } from './part.ts';
import { checkTemplate } from './pod-spec.ts';
import { checkOwnSelector, doesMatch } from './selector.ts';

const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];
const MOST_INDEXED = 100_000;

export function jobErrors(job: Draft, old: Draft | undefined, subresource: string): readonly FieldError[] {
  if (subresource === 'status') return [];
  const whole = new Part(job);
  const spec = whole.within('spec');
  checkGenerated(whole, spec);
  checkSpec(spec);
  checkNames(whole, spec);
  if (old !== undefined) {
    // Once more, as the real server does it.
    checkSpec(spec);
    checkChange(spec, objectOf(old.spec));
  }
  return whole.errors;
}

/** The labels by which a job finds its pods are its own. */
function checkGenerated(job: Part, spec: Part): void {
  const { uid, name } = job.object.metadata as JsonObject;
  if (spec.object.manualSelector === true || !spec.has('selector')) return;
  const template = objectOf(objectOf(spec.object.template).metadata);
  const wanted: JsonObject = {
    'controller-uid': uid ?? '',
    'job-name': name ?? '',
    'batch.kubernetes.io/controller-uid': uid ?? '',
    'batch.kubernetes.io/job-name': name ?? '',
  };
  for (const [label, value] of Object.entries(wanted)) {
    const given = objectOf(template.labels)[label];
    const [at, detail] = [`template.metadata.labels[${label}]`, `must be '${textOf(value)}'`];
    if (given === undefined) spec.missing(at, detail);
    else if (given !== value) spec.wrong(at, template.labels, detail);
  }
  if (!doesMatch(objectOf(spec.object.selector), wanted)) {
    spec.wrong('selector', spec.object.selector, '`selector` not auto-generated');
  }
}

function checkSpec(spec: Part): void {
  spec.notNegative(...COUNTS);
  if (spec.has('maxFailedIndexes') && !spec.has('backoffLimitPerIndex')) {
    spec.missing('backoffLimitPerIndex', 'when maxFailedIndexes is specified');
  }
  checkMode(spec);
  const replacement = spec.text('podReplacementPolicy');
  if (replacement !== '' && !['Failed', 'TerminatingOrFailed'].includes(replacement)) {
    spec.unsupported('podReplacementPolicy', replacement, ['Failed', 'TerminatingOrFailed']);
  }
  checkTemplate(spec.within('template'));
  checkRestarts(spec);
  checkOwnSelector(spec);
}

function checkMode(spec: Part): void {
  const mode = spec.text('completionMode');
  if (mode !== '' && mode !== 'NonIndexed' && mode !== 'Indexed') {
    spec.unsupported('completionMode', mode, ['NonIndexed', 'Indexed']);
  }
  if (mode === 'Indexed') {
    if (!spec.has('completions')) spec.missing('completions', 'when completion mode is Indexed');
    if (spec.number('parallelism') > MOST_INDEXED) {
      const detail = `must be less than or equal to ${MOST_INDEXED} when completion mode is Indexed`;
      spec.wrong('parallelism', spec.number('parallelism'), detail);
    }
    if (spec.has('completions') && spec.number('maxFailedIndexes') > spec.number('completions')) {
      spec.wrong('maxFailedIndexes', spec.number('maxFailedIndexes'), 'must be less than or equal to completions');
    }
  } else if (mode === '' || mode === 'NonIndexed') {
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
      if (spec.has(field)) spec.wrong(field, spec.number(field), 'requires indexed completion mode');
    }
  }
}

function checkRestarts(spec: Part): void {
  const policy = textOf(objectOf(objectOf(spec.object.template).spec).restartPolicy);
  const at = 'template.spec.restartPolicy';
  if (policy === '' || policy === 'Always') spec.missing(at, 'valid values: "OnFailure", "Never"');
  else if (policy !== 'OnFailure' && policy !== 'Never') spec.unsupported(at, policy, ['OnFailure', 'Never']);
  else if (spec.has('podFailurePolicy') && policy !== 'Never') {
    spec.wrong(at, policy, 'only "Never" is supported when podFailurePolicy is specified');
  }
}

/** The last pod of an indexed job has the longest name. */
function checkNames(job: Part, spec: Part): void {
  const completions = numberOf(spec.object.completions) ?? 0;
  if (spec.object.completionMode !== 'Indexed' || completions <= 0) return;
  const name = textOf(objectOf(job.object.metadata).name);
  const last = `${name}-${completions - 1}`;
  if (dnsLabel(last, false).length === 0) return;
  job.wrong('metadata.name', name, `will not able to create pod with invalid DNS label: ${last}`);
}

function checkChange(spec: Part, before: JsonObject): void {
  if (spec.object.completionMode !== 'Indexed') spec.keeps('completions', before);
  else if (
    !isSame(spec.object.completions, before.completions) &&
    spec.object.completions !== spec.object.parallelism
  ) {
    const detail = 'can only be modified in tandem with spec.parallelism';
    if (spec.has('completions')) spec.wrong('completions', spec.number('completions'), detail);
  }
  spec.keeps('selector', before);
  const isSuspended = before.suspend === true;
  if (!isSuspended && !isSame(spec.object.template, before.template)) {
    spec.wrong('template', spec.object.template, 'field is immutable');
  }
  for (const field of ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy']) {
    spec.keeps(field, before);
  }
}
