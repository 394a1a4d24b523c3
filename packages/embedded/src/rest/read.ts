/** GET: one object, or a list of them at one revision. */
import { badRequest, expired, notFound, tooLargeVersion } from '../status/refusal.ts';
import type { Entry } from '../store/entry.ts';
import { type Context, keyOf, type Target } from './context.ts';
import { type ListOptions, versionNumber } from './list-options.ts';
import { isEverything, matches } from './present.ts';

const TOKEN_VERSION = 'meta.k8s.io/v1';
const LIST_TOO_OLD = 'The resourceVersion for the provided list is too old.';
const PAGE_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

export function getEntry(context: Context, target: Target, version: string): Entry {
  refuseFuture(context, version);
  const entry = context.store.get(keyOf(target));
  if (entry === undefined) throw notFound(target.served.kind, target.name);
  return entry;
}

/** At least this version; the newest is always there. */
function refuseFuture({ store }: Context, version: string, isList = false): void {
  const wanted = versionNumber(version, isList);
  if (wanted > BigInt(store.revision)) throw tooLargeVersion(wanted, store.revision);
}

/** Undefined: all namespaces. What lives in none is in the empty one. */
export function scopeOf({ served, namespace }: Target): string | undefined {
  if (!served.kind.namespaced) return '';
  return namespace === '' ? undefined : namespace;
}

export interface Page {
  readonly entries: readonly Entry[];
  readonly resourceVersion: string;
  readonly continue: string | undefined;
  readonly remaining: number | undefined;
}

export function listPage(context: Context, target: Target, options: ListOptions): Page {
  const { store } = context;
  const { served } = target;
  const scope = scopeOf(target);
  const start = startOf(context, options, scope);
  const all = store.range({ resource: served.kind.stored, namespace: scope, from: start.from, at: start.revision });
  const { selection, limit } = options;
  const everything = isEverything(selection);
  const resourceVersion = String(start.revision);
  if (everything && (limit === 0 || all.length <= limit)) {
    return { entries: all, resourceVersion, continue: undefined, remaining: undefined };
  }
  const entries: Entry[] = [];
  let at = 0;
  for (; at < all.length && (limit === 0 || entries.length < limit); at++) {
    const entry = all[at] as Entry;
    if (everything || matches(served, selection, entry)) entries.push(entry);
  }
  if (at >= all.length) return { entries, resourceVersion, continue: undefined, remaining: undefined };
  const last = entries.at(-1) as Entry;
  return {
    entries,
    resourceVersion,
    continue: encodeToken(start.revision, `${placeIn(last, scope)}\u0000`),
    remaining: everything ? all.length - at : undefined,
  };
}

/** Where a list begins, and at which revision. */
function startOf(
  context: Context,
  options: ListOptions,
  scope: string | undefined,
): { revision: number; from: string } {
  const { store } = context;
  if (options.continue !== '') {
    const token = decodeToken(options.continue);
    if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    const from = scope === undefined ? token.start : `${scope}/${token.start}`;
    // A token of -1 goes on with what there is now.
    if (token.revision < 0) return { revision: store.revision, from };
    if (token.revision < store.compacted) throw expired(PAGE_TOO_OLD, encodeToken(-1, token.start));
    if (token.revision > store.revision) throw tooLargeVersion(BigInt(token.revision), store.revision);
    return { revision: token.revision, from };
  }
  refuseFuture(context, options.resourceVersion, true);
  const wanted = Number(versionNumber(options.resourceVersion, true));
  const isExact = options.match === 'Exact' || (options.match === '' && options.limit > 0 && wanted > 0);
  if (!isExact) return { revision: store.revision, from: '' };
  if (wanted < store.compacted) throw expired(LIST_TOO_OLD);
  return { revision: wanted, from: '' };
}

const placeIn = (entry: Entry, scope: string | undefined): string =>
  scope === undefined ? entry.place : entry.key.name;

function encodeToken(revision: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: TOKEN_VERSION, rv: revision, start })).toString('base64url');
}

function decodeToken(token: string): { readonly revision: number; readonly start: string } {
  let value: { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown };
  try {
    value = JSON.parse(Buffer.from(token, 'base64url').toString()) as typeof value;
    if (typeof value !== 'object' || value === null) throw new TypeError('no object');
  } catch {
    throw badToken('');
  }
  const { v, rv, start } = value;
  if (v !== TOKEN_VERSION) {
    throw badToken(`: server does not recognize this encoded version ${typeof v === 'string' ? v : ''}`);
  }
  if (!Number.isSafeInteger(rv) || rv === 0) {
    throw badToken(': incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') {
    throw badToken(': encoded start key empty (version meta.k8s.io/v1)');
  }
  return { revision: rv as number, start };
}

const badToken = (why: string): Error => badRequest(`invalid continue token: continue key is not valid${why}`);
