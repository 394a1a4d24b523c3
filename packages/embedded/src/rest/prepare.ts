/** What is done to every object before it is stored, whether it is new or changed. */
import { admitAccount } from '../accounts/admit.ts';
import { timeText } from '../format/time.ts';
import type { Allocation, Circumstances, Kind } from '../kinds/kind.ts';
import { type Draft, isSame, type JsonObject, numberOf, setField, textOf } from '../object/draft.ts';
import { keepMetadata, validateFinalizerNames, validateMetadata, validateMetadataUpdate } from '../object/metadata.ts';
import { strictProblems } from '../schema/strict.ts';
import type { FieldError } from '../status/field-error.ts';
import { badRequest, conflict, invalidObject, invalidPatch, undecodable } from '../status/refusal.ts';
import { type Context, type Target, type WriteOptions } from './context.ts';
import type { Decoded } from './decode.ts';
import { factsIn } from './present.ts';

/** Characters of generated names: no vowels, no look-alikes. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX = 5;
const MOST_BASE = 63 - SUFFIX;

export function generatedName(base: string, { random }: Context): string {
  const suffix = Array.from({ length: SUFFIX }, () => LETTERS[Math.floor(random.next() * LETTERS.length)]).join('');
  return base.slice(0, MOST_BASE) + suffix;
}

/** A random UUID, version 4, from the injected source: a simulation with the same seed has the same ones. */
export function uuid({ random }: Pick<Context, 'random'>): string {
  const word = (): string =>
    Math.floor(random.next() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const [a, b, c, d] = [word(), word(), word(), word()];
  const variant = (8 + (Number.parseInt(c.charAt(0), 16) & 3)).toString(16);
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`;
}

/** The namespace of the path, unless the object says another one. */
export function settleNamespace(metadata: JsonObject, { served, namespace }: Target): void {
  if (!served.kind.namespaced) return setField(metadata, 'namespace', undefined);
  const given = textOf(metadata.namespace);
  if (given === '') metadata.namespace = namespace;
  else if (given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

/** Fields the server alone writes, as a new object has them. */
export function settleNewMetadata(metadata: JsonObject, context: Context, kind: Kind): void {
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink', 'generation'])
    delete metadata[field];
  metadata.uid = uuid(context);
  metadata.creationTimestamp = timeText(context.clock.now());
  if (kind.generation !== undefined) metadata.generation = 1;
}

export function prepareNew(decoded: Decoded, target: Target, context: Context, options: WriteOptions): Draft {
  const { kind, version } = target.served;
  const { object } = decoded;
  // Before the server adds anything of its own: that belongs to nobody.
  const ready = decoded.isApplied ? object : tracked(object, undefined, target, context, options);
  const shown = decoded.generateName ?? textOf(ready.metadata.name);
  admitAccount(context, target, ready, shown, (base) => generatedName(base, context));
  if (kind.custom && version.status) delete ready.status;
  kind.prepareCreate?.(ready, circumstances(context, ''));
  kind.allocate?.(ready, undefined, allocation(context, target, options, undefined));
  refuseInvalid(ready, kind, [
    ...validateMetadata(ready.metadata, kind.namespaced, kind.nameRule),
    ...(kind.custom ? [] : validateFinalizerNames(ready.metadata)),
    ...(version.rules?.validate(ready) ?? []),
    ...(kind.validate?.(ready, undefined, '') ?? []),
  ]);
  return ready;
}

const circumstances = ({ clock, registry }: Context, subresource: string): Circumstances => ({
  // Few kinds ask, and to put a time into words takes as long as to read a small object.
  get now() {
    return timeText(clock.now());
  },
  subresource,
  kinds: registry.kinds,
});

/** @param own the name of the object itself, if it is there already. */
function allocation(
  { store, random, ranges }: Context,
  { served, namespace }: Target,
  { dryRun }: WriteOptions,
  own: string | undefined,
): Allocation {
  let taken: ReadonlySet<string> | undefined;
  const find = (): ReadonlySet<string> => {
    const others = [...store.newest(served.kind.stored)].filter(
      ({ key }) => key.name !== own || key.namespace !== namespace,
    );
    return new Set(others.flatMap((entry) => factsIn(served, entry).holds));
  };
  return { dryRun, random, ranges, taken: () => (taken ??= find()) };
}

export function prepareChanged(
  decoded: Decoded,
  old: Draft,
  target: Target,
  context: Context,
  options: WriteOptions,
): Draft {
  const { kind, version } = target.served;
  const { subresource } = target;
  keepMetadata(decoded.object.metadata, old.metadata);
  const isStatus = subresource === 'status';
  const changed = isStatus ? withStatusOf(decoded.object, old, kind) : decoded.object;
  if (!isStatus && version.status) setField(changed, 'status', old.status);
  kind.prepareUpdate?.(changed, old, circumstances(context, subresource));
  if (!isStatus) settleGeneration(changed, old, kind);
  const ready = decoded.isApplied ? changed : tracked(changed, old, target, context, options);
  if (!isStatus) kind.allocate?.(ready, old, allocation(context, target, options, target.name));
  const rules = version.rules;
  refuseInvalid(ready, kind, [
    ...validateMetadata(ready.metadata, kind.namespaced, kind.nameRule),
    // Twice, as the real server has them: once for all kinds, once more for each.
    ...validateMetadataUpdate(ready.metadata, old.metadata),
    ...validateMetadataUpdate(ready.metadata, old.metadata),
    ...((isStatus ? rules?.validateStatusUpdate(ready, old) : rules?.validateUpdate(ready, old)) ?? []),
    ...(kind.validate?.(ready, old, subresource) ?? []),
  ]);
  return (context.plugins.fields?.keepTimes(old, ready) as Draft | undefined) ?? ready;
}

/** An update of the status changes the status, and of the metadata what the kind lets through. */
function withStatusOf(object: Draft, old: Draft, kind: Kind): Draft {
  if (kind.statusKeeps === 'all') {
    const metadata = { ...old.metadata };
    setField(metadata, 'managedFields', object.metadata.managedFields);
    const result: Draft = { ...old, metadata };
    setField(result, 'status', object.status);
    return result;
  }
  const metadata = { ...object.metadata };
  for (const field of kind.statusKeeps) setField(metadata, field, old.metadata[field]);
  const result: Draft = { ...object, metadata };
  setField(result, 'spec', old.spec);
  return result;
}

/** Without a plugin there are no managed fields: what a client sends of them is dropped. */
function tracked(
  object: Draft,
  old: Draft | undefined,
  { served, subresource }: Target,
  { plugins, clock }: Context,
  { fieldManager }: WriteOptions,
): Draft {
  if (plugins.fields === undefined) {
    setField(object.metadata, 'managedFields', undefined);
    return object;
  }
  const owner = { manager: fieldManager, subresource, now: clock.now() };
  return plugins.fields.track(object, old, owner, served) as Draft;
}

function settleGeneration(object: Draft, old: Draft, kind: Kind): void {
  if (kind.generation === undefined) return;
  const isChanged =
    kind.generation === 'spec'
      ? !isSame(object.spec, old.spec)
      : !isSame(withoutMetadata(object), withoutMetadata(old));
  if (isChanged) object.metadata.generation = (numberOf(old.metadata.generation) ?? 0) + 1;
}

function withoutMetadata({ apiVersion: _version, kind: _kind, metadata: _metadata, ...rest }: Draft): JsonObject {
  return rest;
}

/** Unknown fields are an error, a warning or nothing, as the client asked. */
export function judgeUnknown(
  { unknown, complaints = [], isPatched = false, shownPatch }: Decoded,
  { served }: Target,
  { fieldValidation }: WriteOptions,
): readonly string[] {
  const texts = [...complaints, ...strictProblems([], unknown)];
  if (texts.length === 0 || fieldValidation === 'Ignore') return [];
  if (fieldValidation === 'Warn') return texts;
  const { kind, version } = served;
  const problem = `strict decoding error: ${texts.join(', ')}`;
  if (shownPatch !== undefined) throw invalidPatch(shownPatch(), problem);
  throw kind.custom && isPatched ? badRequest(problem) : undecodable(kind.kind, version.name, problem);
}

function refuseInvalid(object: Draft, kind: Kind, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject(kind, textOf(object.metadata.name), errors);
}

/** In etcd's words, as the real server passes them on. */
export function uidConflict({ served, namespace, name }: Target, wanted: string, found: string): Error {
  const { kind } = served;
  const path = ['/registry', kind.registryPath, ...(kind.namespaced ? [namespace] : []), name].join('/');
  return conflict(
    kind,
    name,
    `StorageError: invalid object, Code: 4, Key: ${path}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`,
  );
}
