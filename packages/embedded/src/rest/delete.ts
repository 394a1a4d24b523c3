/** DELETE: at once, or marked for those who still have to let go of it. */
import {
  at,
  bodyOf,
  type Draft,
  integerOf,
  isObject,
  isSame,
  type JsonObject,
  numberOf,
  setField,
  textOf,
  textsOf,
} from '../object/draft.ts';
import { isInteger } from '../format/integer.ts';
import { secondsLater, timeText } from '../format/time.ts';
import { type FieldError, invalid, notSupported } from '../status/field-error.ts';
import { badRequest, conflict, forbiddenRequest, invalidOptions, notFound } from '../status/refusal.ts';
import type { Decision } from '../store/store.ts';
import { type Context, keyOf, type Outcome, type Target } from './context.ts';
import { parseText } from './decode.ts';
import { draftFor, factsOf, textFor } from './present.ts';

export interface DeleteOptions {
  readonly propagation: 'Foreground' | 'Background' | 'Orphan' | undefined;
  /** The old way to say the same. */
  readonly orphanDependents: boolean | undefined;
  readonly graceSeconds: number | bigint | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly dryRun: boolean;
}

const POLICIES = ['Foreground', 'Background', 'Orphan'];

/** From the body, or from the query when there is none. */
export function readDeleteOptions(text: string, query: URLSearchParams): DeleteOptions {
  const given: JsonObject = text === '' ? fromQuery(query) : fromBody(text);
  const preconditions = isObject(given.preconditions) ? given.preconditions : {};
  const errors: FieldError[] = [];
  const propagation = given.propagationPolicy ?? undefined;
  const orphanDependents = given.orphanDependents ?? undefined;
  if (propagation !== undefined && orphanDependents !== undefined) {
    errors.push(
      invalid('propagationPolicy', propagation, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  }
  if (propagation !== undefined && !POLICIES.includes(textOf(propagation))) {
    errors.push(notSupported('propagationPolicy', propagation, [...POLICIES, 'nil']));
  }
  const dryRun = textsOf(given.dryRun);
  if (dryRun.some((one) => one !== 'All')) errors.push(notSupported('dryRun', dryRun, ['All']));
  if (errors.length > 0) throw invalidOptions('DeleteOptions', errors);
  return {
    propagation: propagation as DeleteOptions['propagation'],
    orphanDependents: typeof orphanDependents === 'boolean' ? orphanDependents : undefined,
    graceSeconds: integerOf(given.gracePeriodSeconds),
    uid: textOf(preconditions.uid) || undefined,
    resourceVersion: textOf(preconditions.resourceVersion) || undefined,
    dryRun: dryRun.length > 0,
  };
}

function fromBody(text: string): JsonObject {
  const value = parseText(text, badRequest);
  if (!isObject(value)) throw badRequest('decoded object cannot be converted to DeleteOptions');
  const kind = textOf(value.kind);
  if (kind !== '' && kind !== 'DeleteOptions') {
    const version = textOf(value.apiVersion) || 'meta.k8s.io/v1';
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  for (const [field, type] of Object.entries(TYPES)) refuseOtherType(at(value, field), field, type);
  return value;
}

/** What Go says when a field is of another sort: whoever deletes under a condition must not delete without it. */
const TYPES: Readonly<Record<string, string>> = {
  gracePeriodSeconds: 'int64',
  orphanDependents: 'bool',
  propagationPolicy: 'v1.DeletionPropagation',
  dryRun: '[]string',
  preconditions: 'v1.Preconditions',
  'preconditions.uid': 'types.UID',
  'preconditions.resourceVersion': 'string',
};

function refuseOtherType(value: unknown, field: string, type: string): void {
  if (value === undefined || value === null) return;
  const sort = sortOf(value);
  if (type === 'int64') {
    if (isInteger(value, type)) return;
  } else if (sort === (SORTS[type] ?? 'string')) return;
  // A number that does not fit a number is shown.
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  const found = type === 'int64' && isNumber ? `number ${value}` : sort;
  throw badRequest(`json: cannot unmarshal ${found} into Go struct field DeleteOptions.${field} of type ${type}`);
}

/** Not named: texts. */
const SORTS: Readonly<Record<string, string>> = { bool: 'bool', '[]string': 'array', 'v1.Preconditions': 'object' };

function sortOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
}

/** As Go reads a number of 64 bits. */
function parseInteger(text: string): number | bigint {
  const refuse = (why: string): Error => badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^[+-]?\d+$/.test(text)) throw refuse('invalid syntax');
  const number = Number(text);
  const value = Number.isSafeInteger(number) ? number : BigInt(text.replace('+', ''));
  if (!isInteger(value, 'int64')) throw refuse('value out of range');
  return value;
}

function fromQuery(query: URLSearchParams): JsonObject {
  const given: JsonObject = {};
  const policy = query.get('propagationPolicy');
  if (policy) given.propagationPolicy = policy;
  const grace = query.get('gracePeriodSeconds');
  if (grace) given.gracePeriodSeconds = parseInteger(grace);
  const orphan = query.get('orphanDependents');
  if (orphan) given.orphanDependents = orphan !== 'false' && orphan !== '0';
  given.dryRun = query.getAll('dryRun');
  return given;
}

export async function deleteObject(context: Context, target: Target, options: DeleteOptions): Promise<Outcome> {
  const { served, name } = target;
  const { kind, version } = served;
  const immortal = kind.refuseDelete?.(name);
  if (immortal !== undefined) throw forbiddenRequest(kind, name, immortal);
  let outcome: Outcome = { code: 200, text: '', warnings: [] };
  const says = options.propagation ?? options.orphanDependents;
  let fading: string | undefined;
  const first = context.store.write(keyOf(target), (current, revision): Decision => {
    if (current === undefined) throw notFound(kind, name);
    const old = draftFor(served, current);
    refusePreconditions(old, target, options);
    const warnings = context.admit?.({ operation: 'DELETE', target, old, dryRun: options.dryRun }) ?? [];
    const object = draftFor(served, current);
    const fate = mark(object, target, context, options);
    const stays = fate !== 'goes';
    if (fate === 'fades' && !options.dryRun) fading = textOf(object.metadata.uid);
    const stored = version.conversion?.toStored(object) ?? object;
    // Without grace there is no state in between: it goes as it was.
    const last = stays ? stored : (version.conversion?.toStored(old) ?? old);
    const isChanged = !stays || !isSame(object, old);
    const shownVersion = isChanged && !options.dryRun ? String(revision) : textOf(old.metadata.resourceVersion);
    outcome = {
      code: fate === 'stays' && options.orphanDependents === false ? 202 : 200,
      text:
        stays || kind.returnsDeleted
          ? textFor(served, { body: bodyOf(last, shownVersion) })
          : doneStatus(target, object),
      warnings: kind.warnDelete && says === undefined ? [...warnings, kind.warnDelete] : warnings,
    };
    if (options.dryRun || !isChanged) return { type: 'keep' };
    const body = bodyOf(last, String(revision));
    return { type: stays ? 'put' : 'delete', body, note: factsOf(served, last) };
  });
  // Asked for before the first one is durable: nobody can come between them.
  const second = fading === undefined ? undefined : remove(context, target, fading);
  await first;
  const text = await second;
  return text === undefined ? outcome : { ...outcome, text };
}

/** The second half of a deletion that was marked first. */
async function remove(context: Context, target: Target, uid: string): Promise<string | undefined> {
  const { served } = target;
  let text: string | undefined;
  await context.store.write(keyOf(target), (current, revision): Decision => {
    const object = current && draftFor(served, current);
    if (object === undefined || object.metadata.uid !== uid) return { type: 'keep' };
    const stored = served.version.conversion?.toStored(object) ?? object;
    const body = bodyOf(stored, String(revision));
    text = textFor(served, { body });
    return { type: 'delete', body, note: factsOf(served, stored) };
  });
  return text;
}

/** Stays: others have to let go of it first. Fades: it is marked once more before it goes, so that those who watch see it. */
type Fate = 'stays' | 'fades' | 'goes';

/** Writes into the object that it is being deleted, and says what becomes of it. */
function mark(object: Draft, target: Target, context: Context, options: DeleteOptions): Fate {
  const { kind } = target.served;
  const { metadata } = object;
  const nowMs = context.clock.now();
  const now = timeText(nowMs);
  if (kind.beginDelete && metadata.deletionTimestamp === undefined) {
    kind.beginDelete(object, now);
    if (kind.isHeld) settleDependents(object, target, options);
    return 'stays';
  }
  if (kind.isHeld?.(object)) return 'stays';
  const grace = graceOf(object, target, nowMs, options);
  if (grace === 'pending') return 'stays';
  settleDependents(object, target, options);
  const hasFinalizers = textsOf(metadata.finalizers).length > 0;
  if (grace !== undefined) return hasFinalizers || grace > 0 ? 'stays' : 'fades';
  if (!hasFinalizers) return 'goes';
  if (metadata.deletionTimestamp === undefined) bumpGeneration(object);
  const before = Date.parse(textOf(metadata.deletionTimestamp));
  if (Number.isNaN(before) || before > nowMs) metadata.deletionTimestamp = now;
  metadata.deletionGracePeriodSeconds = 0;
  return 'stays';
}

/** Seconds of grace that this request gives; undefined: no grace at all; pending: others gave less already. */
function graceOf(
  object: Draft,
  { served }: Target,
  nowMs: number,
  options: DeleteOptions,
): number | bigint | 'pending' | undefined {
  const { metadata } = object;
  const wanted = options.graceSeconds !== undefined && options.graceSeconds < 0 ? 1 : options.graceSeconds;
  if (served.kind.grace === undefined) return undefined;
  if (metadata.deletionTimestamp !== undefined) {
    const given = integerOf(metadata.deletionGracePeriodSeconds) ?? 0;
    if (given === 0) return undefined;
    // Once given, grace can only be shortened.
    if (wanted === undefined || wanted >= given) return 'pending';
    const start = secondsLater(Date.parse(textOf(metadata.deletionTimestamp)), -BigInt(given));
    const end = secondsLater(start, wanted);
    const isOver = end < nowMs;
    metadata.deletionTimestamp = timeText(isOver ? nowMs : end);
    metadata.deletionGracePeriodSeconds = isOver && wanted !== 0 ? 1 : wanted;
    return wanted;
  }
  const period = served.kind.grace(object, wanted);
  if (period === undefined) return undefined;
  metadata.deletionTimestamp = timeText(secondsLater(nowMs, period));
  metadata.deletionGracePeriodSeconds = period;
  bumpGeneration(object);
  return period;
}

/** What shall become of dependents is written down as a finalizer: the garbage collector does it. */
function settleDependents(object: Draft, { served }: Target, options: DeleteOptions): void {
  const { dependents } = served.kind;
  if (dependents === 'unsupported') return;
  const { metadata } = object;
  const before = textsOf(metadata.finalizers);
  const says = (finalizer: string, policy: DeleteOptions['propagation'], byDefault: boolean): boolean => {
    if (options.orphanDependents !== undefined) return policy === 'Orphan' && options.orphanDependents;
    if (options.propagation !== undefined) return options.propagation === policy;
    const own = before.find((one) => one === 'orphan' || one === 'foregroundDeletion');
    return own === undefined ? byDefault : own === finalizer;
  };
  const finalizers = before.filter((one) => one !== 'orphan' && one !== 'foregroundDeletion');
  if (says('orphan', 'Orphan', dependents === 'orphan')) finalizers.push('orphan');
  if (says('foregroundDeletion', 'Foreground', false)) finalizers.push('foregroundDeletion');
  const isEqual = finalizers.length === before.length && finalizers.every((one) => before.includes(one));
  if (!isEqual) setField(metadata, 'finalizers', finalizers.length === 0 ? undefined : finalizers);
}

function bumpGeneration({ metadata }: Draft): void {
  const generation = numberOf(metadata.generation) ?? 0;
  if (generation > 0) metadata.generation = generation + 1;
}

function refusePreconditions(old: Draft, { served, name }: Target, { uid, resourceVersion }: DeleteOptions): void {
  const { kind } = served;
  const record = { uid: textOf(old.metadata.uid), version: textOf(old.metadata.resourceVersion) };
  // Here the server says the kind where it says the plural elsewhere; but not where it looks first, in its own way.
  const of = { group: kind.group, plural: kind.kind };
  const failed = (what: string, wanted: string, found: string): Error =>
    conflict(kind, name, `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`);
  if (kind.beginDelete && uid !== undefined && uid !== record.uid) throw failed('UID', uid, record.uid);
  if (kind.beginDelete && resourceVersion !== undefined && resourceVersion !== record.version) {
    throw failed('ResourceVersion', resourceVersion, record.version);
  }
  if (uid !== undefined && uid !== record.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${record.uid}). The object might have been deleted and then recreated`;
    throw conflict(of, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== record.version) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${record.version}). The object might have been modified`;
    throw conflict(of, name, why);
  }
}

function doneStatus({ served, name }: Target, object: Draft): string {
  const { group, plural } = served.kind;
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group === '' ? {} : { group }), kind: plural, uid: textOf(object.metadata.uid) },
  });
}
