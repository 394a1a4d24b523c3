/** Server-side apply, as a function of the live object and the configuration. */
import { timeText } from '../format/time.ts';
import type { JsonObject } from '../object/draft.ts';
import type { Status } from '@reeve/kube';
import { type KindTypes, typeOf } from '../types/kind-types.ts';
import { asMap } from '../types/type.ts';
import { conflictStatus } from './conflict-status.ts';
import { allowedByLastApplied, withLastApplied } from './last-applied.ts';
import {
  decodeManaged,
  type Managed,
  managedFieldsOf,
  managerId,
  withManagedFields,
  withoutManagedFields,
} from './managed.ts';
import { type Applied, applyTo, type Scope, UnfitVersion } from './ownership.ts';
import { badRequest, internalError } from './status.ts';
import { stripped } from './stripped.ts';
import { tracking } from './track.ts';
import { invalidity } from './validate.ts';

export interface ApplyRequest {
  readonly types: KindTypes;
  /** The stored object; absent when there is none. */
  readonly live?: JsonObject;
  /** What the client sent. */
  readonly applied: JsonObject;
  /** The client's `fieldManager`; the server demands one. */
  readonly manager: string;
  /** Take fields that others own. */
  readonly force?: boolean;
  readonly subresource?: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The kind's defaults. They belong to nobody, so they are filled in after ownership is settled. */
  readonly defaulted?: (object: JsonObject) => JsonObject;
}

export type ApplyResult = { readonly object: JsonObject } | { readonly status: Status };

/**
 * The object to be stored, or the server's refusal: 409 with the conflicts, 400 for what may not be applied, 500 (so the
 * server has it) for what does not fit the type. An apply that changes nothing returns the live object with its times.
 * Nothing is changed in place; the result shares parts with its inputs.
 */
export function applyPatch(request: ApplyRequest): ApplyResult {
  const { types, applied, manager, now } = request;
  const scope: Scope = { types, subresource: request.subresource ?? '' };
  const refused = unfitKind(applied, types);
  if (refused) return { status: refused };
  const start = request.live ?? types.empty();
  const live = withoutManagedFields(start);
  let managed: Managed | undefined;
  try {
    managed = decodeManaged(managedFieldsOf(start) ?? []);
  } catch (error) {
    return { status: internalError(`failed to decode managed fields: ${(error as Error).message}`) };
  }
  // What is there and nobody's was written before anybody kept books. The first apply makes an owner for it, so that
  // it conflicts instead of being overwritten.
  if (managed.owned.size === 0) {
    managed = tracking(types.empty(), live, managed, 'before-first-apply', scope, now);
  }
  if (!managed) return { status: untracked(live, types) };
  const problem = unfitObject(applied, live, types);
  if (problem) return { status: problem };

  const id = managerId({
    manager: manager === '' ? 'unknown' : manager,
    operation: 'Apply',
    subresource: scope.subresource,
  });
  let result: Applied;
  try {
    result = appliedTo(live, request, managed, id, scope);
  } catch (error) {
    if (error instanceof UnfitVersion) return { status: internalError(error.message) };
    throw error;
  }
  if ('conflicts' in result) return { status: conflictStatus(result.conflicts) };
  return { object: finished(request, live, result, managed, id) };
}

function appliedTo(live: JsonObject, request: ApplyRequest, managed: Managed, id: string, scope: Scope): Applied {
  const once = (force: boolean): Applied => applyTo(live, request.applied, managed.owned, id, force, scope);
  const result = once(request.force === true);
  if (!('conflicts' in result) || request.manager !== 'kubectl') return result;
  // An object from the days of client-side apply: what kubectl itself applied last, it may take over.
  const allowed = allowedByLastApplied(live, scope.types);
  const conflicts = allowed ? result.conflicts.filter(({ path }) => !allowed.has(path)) : result.conflicts;
  return conflicts.length === 0 ? once(true) : { conflicts };
}

function finished(
  request: ApplyRequest,
  live: JsonObject,
  result: Extract<Applied, { readonly object: JsonObject }>,
  managed: Managed,
  id: string,
): JsonObject {
  const { types, applied, manager, now, defaulted = (object) => object } = request;
  const owned = new Map(result.owners);
  const mine = stripped(owned.get(id));
  if (mine) owned.set(id, mine);
  else owned.delete(id);
  const times = new Map(managed.times);
  if (result.isChanged) times.set(id, timeText(now));
  let object = result.isChanged ? defaulted(types.shaped(result.object)) : live;
  if (manager === 'kubectl') object = withLastApplied(object, applied);
  return withManagedFields(object, { owned, times });
}

function unfitKind(applied: JsonObject, { apiVersion, kind }: KindTypes): Status | undefined {
  const given = { apiVersion: text(applied['apiVersion']), kind: text(applied['kind']) };
  if (given.apiVersion === apiVersion && given.kind === kind) return undefined;
  return badRequest(`invalid object type: ${groupVersionKind(given.apiVersion, given.kind)}`);
}

function unfitObject(applied: JsonObject, live: JsonObject, types: KindTypes): Status | undefined {
  const managedFields = asMap(applied['metadata'])?.['managedFields'];
  if (managedFields !== undefined && managedFields !== null) {
    return badRequest('metadata.managedFields must be nil');
  }
  const invalid = invalidity(applied, typeOf(types), { allowDuplicates: false });
  if (invalid === undefined) return unfitLive(live, types);
  return internalError(`failed to create typed patch object (${objectText(applied)}): ${invalid}`);
}

function unfitLive(live: JsonObject, types: KindTypes): Status | undefined {
  const invalid = invalidity(live, typeOf(types), { allowDuplicates: true });
  if (invalid === undefined) return undefined;
  return internalError(`failed to create typed live object (${objectText(live)}): ${invalid}`);
}

/** The live object does not fit its type, and it was to get its first owner. */
function untracked(live: JsonObject, types: KindTypes): Status {
  const invalid = invalidity(live, typeOf(types), { allowDuplicates: true }) ?? '';
  return internalError(
    `failed to create manager for existing fields: failed to convert new object (${objectText(live)}) to smd typed: ${invalid}`,
  );
}

function objectText(object: JsonObject): string {
  const metadata = asMap(object['metadata']);
  const gvk = groupVersionKind(text(object['apiVersion']), text(object['kind']));
  return `${text(metadata?.['namespace'])}/${text(metadata?.['name'])}; ${gvk}`;
}

/** As Go prints it: the group is empty for core kinds, the slash stays. */
function groupVersionKind(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
