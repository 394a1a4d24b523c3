/** Ownership after writes that are no apply: create, update, patch. */
import { timeText } from '../format/time.ts';
import type { JsonObject } from '../object/draft.ts';
import { type KindTypes, typeOf } from '../types/kind-types.ts';
import { asList, asMap, isEmptyMap } from '../types/type.ts';
import {
  decodeManaged,
  emptyManaged,
  entryOf,
  type Managed,
  managedFieldsOf,
  managerId,
  type Owned,
  secondsOf,
  withManagedFields,
  withoutManagedFields,
} from './managed.ts';
import { ownedWhenNew, type Owners, ownersAfterUpdate, type Scope, UnfitVersion } from './ownership.ts';
import { toFieldsV1 } from './fields-v1.ts';
import { stripped } from './stripped.ts';
import { invalidity } from './validate.ts';
import { compareText } from './value.ts';

export interface TrackRequest {
  readonly types: KindTypes;
  /** The stored object; absent when the object is being created. */
  readonly before?: JsonObject;
  /** The object to be stored, defaults and all. Its managedFields may be the client's. */
  readonly after: JsonObject;
  /** The client's `fieldManager`, or what stands before the `/` of its user agent. */
  readonly manager: string;
  /** `status`, `scale` (with the parent's objects) …; absent for the resource itself. */
  readonly subresource?: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * The object with the managedFields that it is to be stored with. If they cannot be worked out (a stored object that
 * does not fit its type), it has none, as in the server: a write never fails for the sake of bookkeeping.
 */
export function trackUpdate(request: TrackRequest): JsonObject {
  const { types, manager, now } = request;
  const scope: Scope = { types, subresource: request.subresource ?? '' };
  if (request.before === undefined && managedFieldsOf(request.after) === undefined) return trackNew(request, scope);
  const before = request.before ?? types.empty();
  const after = withoutManagedFields(request.after);
  const managed = startingPoint(request, scope);
  // Without entries a stored object is one from before the bookkeeping; it begins with the first apply.
  if (managed.owned.size === 0 && asMap(before['metadata'])?.['uid'] !== undefined) return after;
  const tracked = tracking(withoutManagedFields(before), after, managed, manager, scope, now);
  return tracked ? withManagedFields(after, tracked) : after;
}

/** Most writes are these, so they go the short way to what the long one comes to: one entry, with all of the object. */
function trackNew({ types, after, manager, now }: TrackRequest, scope: Scope): JsonObject {
  if (invalidity(after, typeOf(types), { allowDuplicates: true }) !== undefined) return after;
  const { apiVersion } = types;
  const mine = stripped({ set: ownedWhenNew(after, scope), apiVersion, applied: false });
  if (!mine) return after;
  const who = { manager: manager === '' ? 'unknown' : manager, operation: 'Update', apiVersion } as const;
  const entry = entryOf({ ...who, subresource: scope.subresource }, timeText(now), toFieldsV1(mine.set));
  return { ...after, metadata: { ...asMap(after['metadata']), managedFields: [entry] } };
}

/** Undefined if one of the objects does not fit its type. */
export function tracking(
  before: JsonObject,
  after: JsonObject,
  managed: Managed,
  manager: string,
  scope: Scope,
  now: number,
): Managed | undefined {
  const type = typeOf(scope.types);
  const isNew = asMap(before['metadata'])?.['uid'] === undefined;
  for (const object of isNew ? [after] : [after, before]) {
    if (invalidity(object, type, { allowDuplicates: true }) !== undefined) return undefined;
  }
  const id = managerId({
    manager: manager === '' ? 'unknown' : manager,
    operation: 'Update',
    apiVersion: scope.types.apiVersion,
    subresource: scope.subresource,
  });
  const owned = ownersAfter(before, after, managed, scope);
  if (!owned) return undefined;
  const times = new Map(managed.times);
  const mine = stripped(owned.get(CURRENT));
  owned.delete(CURRENT);
  // Only whoever changed something gets a new time, and what it owned before stays its own.
  if (mine) {
    const previous = owned.get(id);
    owned.set(id, previous ? { ...mine, set: mine.set.union(previous.set) } : mine);
    // A scale is tracked on an object of its own, which has no times, and the parent gets its entry from there.
    if (scope.subresource !== 'scale') times.set(id, timeText(now));
  }
  return capped({ owned, times });
}

function ownersAfter(before: JsonObject, after: JsonObject, managed: Managed, scope: Scope): Owners | undefined {
  try {
    return ownersAfterUpdate(before, after, managed.owned, CURRENT, scope);
  } catch (error) {
    if (error instanceof UnfitVersion) return undefined;
    throw error;
  }
}

/** Stands for the manager while its new fields are told from those that it had. */
const CURRENT = 'current-operation';

/** Clients may write managedFields, but not through a subresource; an empty list, or one empty entry, resets them. */
function startingPoint({ before, after }: TrackRequest, { subresource }: Scope): Managed {
  const given = subresource === '' ? managedFieldsOf(after) : undefined;
  if (given) {
    if (given.length === 0 || (given.length === 1 && isEmptyMap(asMap(given[0])))) return emptyManaged();
    try {
      return decodeManaged(given);
    } catch {
      // Taken as if they were not there: clients that do not understand managedFields must not lose them.
    }
  }
  try {
    return decodeManaged((before ? managedFieldsOf(before) : asList(null)) ?? []);
  } catch {
    return emptyManaged();
  }
}

const MOST_UPDATERS = 10;

/** The oldest updaters beyond ten are put together, for each version apart. */
function capped(managed: Managed): Managed {
  const { owned, times } = managed;
  const updaters = [...owned]
    .filter(([, { applied }]) => !applied)
    .map(([id]) => id)
    .sort((a, b) => secondsOf(times.get(a)) - secondsOf(times.get(b)) || compareText(a, b));
  let count = updaters.length;
  const firstOf = new Map<string, string>();
  for (const id of updaters) {
    if (count <= MOST_UPDATERS) break;
    const { set, apiVersion } = owned.get(id) as Owned;
    const first = firstOf.get(apiVersion);
    if (first === undefined) {
      firstOf.set(apiVersion, id);
      continue;
    }
    const bucket = managerId({ manager: 'ancient-changes', operation: 'Update', apiVersion });
    let old = owned.get(bucket);
    if (!old) {
      old = owned.get(first) as Owned;
      owned.delete(first);
    }
    owned.set(bucket, { set: set.union(old.set), apiVersion, applied: false });
    owned.delete(id);
    const time = times.get(id);
    if (time === undefined) times.delete(bucket);
    else times.set(bucket, time);
    count--;
  }
  return managed;
}
