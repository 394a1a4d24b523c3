/** PUT and PATCH: an object as it shall be, decided on the newest state of it. */
import { type Json, stringifyJson } from '@reeve/kube';
import { awaitAccount } from '../accounts/admit.ts';
import { goPlain } from '../apply/go-format.ts';
import {
  bodyOf,
  copyOf,
  type Draft,
  isObject,
  isSame,
  type JsonObject,
  integerOf,
  textOf,
  textsOf,
} from '../object/draft.ts';
import { finalizerWarnings } from '../object/metadata.ts';
import { dedupeOwners } from '../object/owners.ts';
import { invalid } from '../status/field-error.ts';
import {
  badRequest,
  invalidObject,
  modifiedSince,
  notFound,
  Refusal,
  refusalOf,
  withWarnings,
} from '../status/refusal.ts';
import type { Entry } from '../store/entry.ts';
import type { Decision } from '../store/store.ts';
import { type Context, keyOf, type Outcome, type Target, type WriteOptions } from './context.ts';
import { newEntry, refuseInNamespace } from './create.ts';
import { completed, type Decoded, decodeApplied, decodeObject, decodeValue } from './decode.ts';
import { parseProblem } from './list-options.ts';
import { judgeUnknown, prepareChanged, settleNamespace, uidConflict } from './prepare.ts';
import { draftFor, factsOf, textFor } from './present.ts';

/** Makes the wanted object of the current one; undefined when there is none. */
export type Wanted = (old: Draft | undefined) => Decoded;

export function replaceObject(context: Context, target: Target, text: string, options: WriteOptions): Promise<Outcome> {
  const decoded = decodeObject(text, target.served);
  settleNamespace(decoded.object.metadata, target);
  refuseOtherName(decoded.object, target);
  // Copied: the object is changed below, and another round needs it as it came.
  const wanted = () => ({ ...decoded, object: copyOf(decoded.object) });
  return changeObject(context, target, wanted, options, target.served.kind.createOnUpdate && target.subresource === '');
}

function refuseOtherName({ metadata }: Draft, target: Target): void {
  const name = textOf(metadata.name);
  if (name === target.name) return;
  throw badRequest(
    name === ''
      ? `the name of the object (${target.name} based on URL) was undeterminable: name must be provided`
      : `the name of the object (${name}) does not match the name on the URL (${target.name})`,
  );
}

export type PatchType = 'merge' | 'json' | 'strategic';

export function patchObject(
  context: Context,
  target: Target,
  patch: Json,
  type: PatchType,
  options: WriteOptions,
): Promise<Outcome> {
  const { served } = target;
  const wanted = (old: Draft | undefined): Decoded => {
    const result = old && context.plugins.patches?.[type]?.(copyOf(old), patch, served);
    if (result === undefined) throw notFound(served.kind, target.name);
    if ('status' in result) throw refusalOf(result.status);
    const made = result.object;
    const shownPatch = (): string => (type === 'strategic' ? goPlain(patch) : stringifyJson(made));
    const decoded = decodeValue(made, served, shownPatch);
    refuseOtherName(decoded.object, target);
    const complaints = result.strictErrors ?? [];
    return { ...decoded, complaints, ...(served.kind.custom ? {} : { shownPatch }) };
  };
  return changeObject(context, target, wanted, options, false);
}

export function applyObject(
  context: Context,
  target: Target,
  applied: Json,
  force: boolean,
  options: WriteOptions,
): Promise<Outcome> {
  const { served, subresource } = target;
  if (!isObject(applied)) throw badRequest('the configuration to be applied is no object');
  const { rules } = served.version;
  const defaulted = (object: JsonObject): JsonObject => {
    if (rules?.fill === undefined) return completed({ object: object as Draft, unknown: [] }, served).object;
    // What does not change is shared with the live object.
    const filled = copyOf(object);
    rules.fill(filled);
    return filled;
  };
  const wanted = (old: Draft | undefined): Decoded => {
    const owner = { manager: options.fieldManager, subresource, now: context.clock.now(), force, defaulted };
    const result = context.plugins.fields?.apply(copyOf(applied), old && copyOf(old), owner, served);
    if (result === undefined) throw notFound(served.kind, target.name);
    if ('status' in result) throw refusalOf(result.status);
    const decoded = decodeApplied(result.object, served);
    refuseOtherName(decoded.object, target);
    settleNamespace(decoded.object.metadata, target);
    return decoded;
  };
  return changeObject(context, target, wanted, options, subresource === '');
}

/** The one way in which objects change. */
export async function changeObject(
  context: Context,
  target: Target,
  wanted: Wanted,
  options: WriteOptions,
  mayCreate: boolean,
): Promise<Outcome> {
  const { served } = target;
  const told: string[] = [];
  let outcome: Outcome = { code: 200, text: '', warnings: [] };
  const decide = (current: Entry | undefined, revision: number): Decision => {
    if (current === undefined) {
      if (!mayCreate) throw notFound(served.kind, target.name);
      const decoded = wanted(undefined);
      options.check?.(decoded.object, undefined);
      refuseInNamespace(context, target, decoded.object);
      told.push(...judgeUnknown(decoded, target, options));
      delete decoded.object.metadata.resourceVersion;
      const stored = newEntry(context, target, decoded, options, told)(revision);
      outcome = { code: 201, text: textFor(served, stored), warnings: told };
      return { type: 'put', ...stored };
    }
    const old = draftFor(served, current);
    const decoded = wanted(old);
    options.check?.(decoded.object, old);
    told.push(...judgeUnknown(decoded, target, options));
    refuseStale(decoded.object, old, target);
    told.push(...dedupeOwners(decoded.object, decoded.isPatched === true));
    const object = prepareChanged(decoded, old, target, context, options);
    if (target.subresource !== 'status') told.push(...(served.kind.warn?.(object, old) ?? []));
    told.push(...(context.admit?.({ operation: 'UPDATE', target, object, old, dryRun: options.dryRun }) ?? []));
    if (served.kind.custom) told.push(...finalizerWarnings(object.metadata, old.metadata));
    return write(object, old, revision);
  };

  const write = (object: Draft, old: Draft, revision: number): Decision => {
    const { kind, version } = served;
    const { resourceVersion } = old.metadata;
    object.metadata.resourceVersion = resourceVersion ?? '';
    const stored = version.conversion?.toStored(object) ?? object;
    const as = (text: string) => ({ body: bodyOf(stored, text), note: factsOf(served, stored) });
    const isDone = isDeletable(object, old) && kind.isHeld?.(object) !== true;
    if (!isDone && isSame(object, old)) {
      outcome = { code: 200, text: textFor(served, as(textOf(resourceVersion))), warnings: told };
      return { type: 'keep' };
    }
    const shown = isDone || options.dryRun ? textOf(resourceVersion) : String(revision);
    const answered = as(shown);
    outcome = { code: 200, text: textFor(served, answered), warnings: told };
    // What is told is what is stored; a dry run tells another version, and its decision is dropped.
    if (!isDone) return { type: 'put', ...answered };
    // What takes the last finalizer away is never stored: those who watch see the object as it was before.
    const last = version.conversion?.toStored(old) ?? old;
    return { type: 'delete', body: bodyOf(last, String(revision)), note: factsOf(served, last) };
  };

  try {
    const isNew = mayCreate && context.hasAccounts && context.store.get(keyOf(target)) === undefined;
    if (isNew) await awaitAccount(context, target, wanted(undefined).object);
    await context.store.write(keyOf(target), (current, revision) => {
      const decision = decide(current, revision);
      return options.dryRun ? { type: 'keep' } : decision;
    });
  } catch (error) {
    throw withWarnings(error, told);
  }
  return outcome;
}

/** Whether the last finalizer of an object that is being deleted is gone. */
function isDeletable(object: Draft, old: Draft): boolean {
  if (old.metadata.deletionTimestamp === undefined || textsOf(object.metadata.finalizers).length > 0) return false;
  return (integerOf(old.metadata.deletionGracePeriodSeconds) ?? 0) === 0;
}

function refuseStale(object: Draft, old: Draft, target: Target): void {
  const { kind } = target.served;
  const uid = textOf(object.metadata.uid);
  if (uid !== '' && uid !== old.metadata.uid) throw uidConflict(target, uid, textOf(old.metadata.uid));
  const wanted = textOf(object.metadata.resourceVersion);
  if (wanted === '' || wanted === '0') {
    if (kind.unconditionalUpdate) return;
    const error = invalid('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalidObject({ group: kind.group, kind: kind.plural }, target.name, [error]);
  }
  if (!/^\d+$/.test(wanted)) throw new Refusal(500, '', parseProblem(wanted));
  if (wanted !== old.metadata.resourceVersion) throw modifiedSince(kind, target.name);
}
