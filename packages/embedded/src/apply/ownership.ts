/**
 * The heart of it: who owns what after an update, and what an apply makes of the live object. All objects are without
 * managedFields and in the version of the request; the owners' sets may be in others.
 */
import type { JsonObject } from '../object/draft.ts';
import { type KindTypes, typeOf } from '../types/kind-types.ts';
import type { Type } from '../types/type.ts';
import { type Comparison, compare } from './compare.ts';
import { fieldElement, type Path } from './element.ts';
import { fieldsOf } from './extract.ts';
import { FieldSet } from './field-set.ts';
import type { Owned } from './managed.ts';
import { merge } from './merge.ts';
import { reconciled } from './reconcile.ts';
import { removeFields } from './remove.ts';
import { invalidity } from './validate.ts';
import { equalValues } from './value.ts';

export type Owners = Map<string, Owned>;

export interface Conflict {
  readonly id: string;
  readonly path: Path;
}

export interface Scope {
  readonly types: KindTypes;
  /** `''`: the resource itself. */
  readonly subresource: string;
}

/** The object cannot be seen in the version of an owner; the message is the server's. */
export class UnfitVersion extends Error {}

/**
 * Owners after `before` became `after`. What changed is in the entry `self`, which none of them had before: what its
 * manager owned already is for the caller to add. Throws `UnfitVersion`.
 */
export function ownersAfterUpdate(
  before: JsonObject,
  after: JsonObject,
  owners: Owners,
  self: string,
  scope: Scope,
): Owners {
  const { others, changes } = taken(before, after, current(before, owners, scope), self, scope);
  const set = changes.modified.union(changes.added);
  if (!set.isEmpty) others.set(self, { set, apiVersion: scope.types.apiVersion, applied: false });
  return others;
}

/** What belongs to whoever made the object: all that nobody else will set. */
export function ownedWhenNew(object: JsonObject, scope: Scope): FieldSet {
  const { types } = scope;
  const { modified, added } = compare(types.nothing, object, typeOf(types));
  const set = modified.isEmpty ? added : modified.union(added);
  const reset = resetSet(scope, types.apiVersion);
  return reset.isEmpty ? set : set.recursiveDifference(reset);
}

export type Applied =
  | { readonly object: JsonObject; readonly isChanged: boolean; readonly owners: Owners }
  | { readonly conflicts: readonly Conflict[] };

/** Throws `UnfitVersion`. */
export function applyTo(
  live: JsonObject,
  applied: JsonObject,
  owners: Owners,
  self: string,
  force: boolean,
  scope: Scope,
): Applied {
  const { apiVersion } = scope.types;
  const type = typeOf(scope.types);
  const known = current(live, owners, scope);
  const merged = merge(live, applied, type) as JsonObject;
  const last = known.get(self);
  const set = fieldsOf(applied, type).recursiveDifference(resetSet(scope, apiVersion));
  const mine: Owned = { set, apiVersion, applied: true };
  known.set(self, mine);
  const object = pruned(merged, known, last, mine, scope.types);
  const { others, conflicts } = taken(live, object, known, self, scope);
  if (!force && conflicts.length > 0) return { conflicts };
  return { object, isChanged: !equalValues(live, object), owners: others };
}

/** Takes from all others what changed under their hands; appliers and updaters alike. */
function taken(
  before: JsonObject,
  after: JsonObject,
  owners: Owners,
  self: string,
  scope: Scope,
): { others: Owners; changes: Comparison; conflicts: Conflict[] } {
  const changesIn = new Map<string, Comparison>();
  const changesFor = (version: string): Comparison | undefined => {
    let changes = changesIn.get(version);
    if (!changes) {
      const type = scope.types.versions.get(version);
      if (!type) return undefined;
      const was = inVersion(before, version, scope.types, 'failed to convert old object: ');
      const is = inVersion(after, version, scope.types, 'failed to convert new object: ');
      changes = filtered(compare(was, is, type), version, scope);
      changesIn.set(version, changes);
    }
    return changes;
  };
  const conflicts: Conflict[] = [];
  const others: Owners = new Map();
  for (const [id, owned] of owners) {
    if (id === self) {
      if (!owned.set.isEmpty) others.set(id, owned);
      continue;
    }
    const changes = changesFor(owned.apiVersion);
    if (!changes) continue; // a version that is not served any more
    const { modified, added, removed } = changes;
    if (![modified, added, removed].some((set) => owned.set.intersects(set))) {
      others.set(id, owned); // the very same one, which is not written anew
      continue;
    }
    const lost = owned.set.intersection(modified.union(added));
    for (const path of lost.paths()) conflicts.push({ id, path });
    const set = owned.set.difference(lost).difference(removed);
    if (!set.isEmpty) others.set(id, { set, apiVersion: owned.apiVersion, applied: owned.applied });
  }
  return { others, changes: changesFor(scope.types.apiVersion) as Comparison, conflicts };
}

function filtered(changes: Comparison, version: string, scope: Scope): Comparison {
  const reset = resetSet(scope, version);
  if (reset.isEmpty) return changes;
  return {
    removed: changes.removed.recursiveDifference(reset),
    modified: changes.modified.recursiveDifference(reset),
    added: changes.added.recursiveDifference(reset),
  };
}

function resetSet(scope: Scope, version: string): FieldSet {
  const paths = scope.types.resets(scope.subresource).get(version) ?? [];
  return FieldSet.of(...paths.map((path) => path.map(fieldElement)));
}

/** Another version is read strictly: not even items that are there twice may be in it. */
function inVersion(object: JsonObject, version: string, types: KindTypes, complaint: string): JsonObject {
  if (object['apiVersion'] === version) return object;
  const converted = types.convert(object, version);
  const type = types.versions.get(version);
  const invalid = type ? invalidity(converted, type, { allowDuplicates: false }) : undefined;
  if (invalid !== undefined) throw new UnfitVersion(complaint + invalid);
  return converted;
}

/** The owners' sets, fitted to the schema of today. */
function current(live: JsonObject, owners: Owners, { types }: Scope): Owners {
  const out: Owners = new Map();
  for (const [id, owned] of owners) {
    const type = types.versions.get(owned.apiVersion);
    if (!type) continue; // a version that is not served any more
    inVersion(live, owned.apiVersion, types, '');
    const set = reconciled(owned.set, type);
    out.set(id, set === owned.set ? owned : { set, apiVersion: owned.apiVersion, applied: owned.applied });
  }
  return out;
}

/**
 * Without what `last` names and nobody names now. Three steps, as the server does it: everything of the last time goes,
 * what anybody owns comes back, and so does what went although it was not owned the last time.
 */
function pruned(
  merged: JsonObject,
  owners: Owners,
  last: Owned | undefined,
  mine: Owned,
  types: KindTypes,
): JsonObject {
  if (!last || last.set.isEmpty) return merged;
  const version = last.apiVersion;
  if (mine.apiVersion === version && last.set.difference(mine.set).isEmpty) return merged; // nothing was given up
  const lastType = types.versions.get(version);
  if (!lastType) return merged;
  const prefix = 'failed to prune fields: ';
  const whole = inVersion(merged, version, types, `${prefix}failed to convert merged object to last applied version: `);
  let rest = removeFields(whole, last.set.withNamedFields(lastType), lastType) as JsonObject;
  rest = withOwned(whole, rest, version, owners, types);
  const left = fieldsOf(rest, lastType).withNamedFields(lastType);
  const had = fieldsOf(whole, lastType).withNamedFields(lastType);
  const gone = had.difference(left).intersection(last.set.withNamedFields(lastType));
  const result = removeFields(whole, gone, lastType) as JsonObject;
  return inVersion(result, types.apiVersion, types, prefix);
}

/** Owners see the object in their own version, one version after the other; the answer is in the version of `whole`. */
function withOwned(whole: JsonObject, rest: JsonObject, version: string, owners: Owners, types: KindTypes): JsonObject {
  const ownedIn = new Map<string, FieldSet>();
  for (const { set, apiVersion } of owners.values()) {
    ownedIn.set(apiVersion, ownedIn.get(apiVersion)?.union(set) ?? set);
  }
  let left = rest;
  for (const apiVersion of new Set([version, ...ownedIn.keys()])) {
    const owned = ownedIn.get(apiVersion);
    const type = types.versions.get(apiVersion);
    if (!owned || !type) continue;
    const complaint = (which: string) =>
      `failed to prune fields: failed add back owned items: failed to convert ${which} object at version ${apiVersion}: `;
    const seen = inVersion(whole, apiVersion, types, complaint('merged'));
    left = removeUnowned(seen, inVersion(left, apiVersion, types, complaint('pruned')), owned, type);
  }
  return inVersion(left, version, types, 'failed to prune fields: failed add back dangling items: ');
}

function removeUnowned(whole: JsonObject, rest: JsonObject, owned: FieldSet, type: Type): JsonObject {
  const keep = fieldsOf(rest, type).withNamedFields(type).union(owned.withNamedFields(type));
  return removeFields(whole, fieldsOf(whole, type).withNamedFields(type).difference(keep), type) as JsonObject;
}
