/** The query of a list or a watch, checked as the server checks it. */
import type { Served } from '../kinds/registry.ts';
import { exactValue, parseFieldSelector } from '../selector/fields.ts';
import { parseLabelSelector } from '../selector/labels.ts';
import { type FieldError, forbidden, invalid, notSupported } from '../status/field-error.ts';
import { badRequest, invalidOptions, Refusal } from '../status/refusal.ts';
import type { Selection } from './present.ts';

export interface ListOptions {
  readonly watch: boolean;
  readonly selection: Selection;
  /** 0: no limit. */
  readonly limit: number;
  readonly continue: string;
  /** Empty: not given. */
  readonly resourceVersion: string;
  readonly match: '' | 'Exact' | 'NotOlderThan';
  readonly bookmarks: boolean;
  readonly initialEvents: boolean | undefined;
  readonly timeoutSeconds: number | undefined;
}

/** How Go reads a flag: there is false, and there is everything else. */
export function flag(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  return value.toLowerCase() !== 'false' && value !== '0';
}

export function integer(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (!/^[+-]?\d{1,15}$/.test(value)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  }
  return Number(value);
}

export function readListOptions(query: URLSearchParams, served: Served, name: string): ListOptions {
  const watch = flag(query, 'watch') ?? false;
  const given = flag(query, 'sendInitialEvents');
  const resourceVersion = query.get('resourceVersion') ?? '';
  const wanted = query.get('resourceVersionMatch') ?? '';
  const isLegacy = watch && given === undefined && wanted === '' && (resourceVersion === '' || resourceVersion === '0');
  const initialEvents = isLegacy ? true : given;
  const match = isLegacy ? 'NotOlderThan' : wanted;
  const options = { match, resourceVersion, continue: query.get('continue') ?? '', initialEvents };
  const errors = watch ? watchErrors(options) : listErrors(options);
  if (errors.length > 0) throw invalidOptions('ListOptions', errors);
  return {
    ...options,
    match: match as ListOptions['match'],
    watch,
    selection: readSelection(query, served, name),
    limit: Math.max(0, integer(query, 'limit') ?? 0),
    bookmarks: flag(query, 'allowWatchBookmarks') ?? false,
    timeoutSeconds: integer(query, 'timeoutSeconds'),
  };
}

export function readSelection(query: URLSearchParams, { kind, version }: Served, name: string): Selection {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '').map((term) => {
    // An old name that clients of the first days still send.
    if (kind.kind === 'Pod' && term.field === 'spec.host') return { ...term, field: 'spec.nodeName' };
    const known = [
      'metadata.name',
      ...(kind.namespaced || (!kind.custom && version.fields.length === 0) ? ['metadata.namespace'] : []),
      ...version.fields,
    ];
    if (!known.includes(term.field)) throw badRequest(kind.fieldProblem(term.field));
    return term;
  });
  if (name === '') return { labels, fields };
  if (fields.length > 0 && exactValue(fields, 'metadata.name') !== name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  return { labels, fields: fields.length > 0 ? fields : [{ field: 'metadata.name', equal: true, value: name }] };
}

type Checked = {
  readonly match: string;
  readonly resourceVersion: string;
  readonly continue: string;
  readonly initialEvents: boolean | undefined;
};

function listErrors({ match, resourceVersion, continue: from, initialEvents }: Checked): readonly FieldError[] {
  const errors: FieldError[] = [];
  const field = 'resourceVersionMatch';
  if (match !== '') {
    if (resourceVersion === '') {
      errors.push(forbidden(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    }
    if (from !== '') errors.push(forbidden(field, 'resourceVersionMatch is forbidden when continue is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(notSupported(field, match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && resourceVersion === '0') {
      errors.push(forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (initialEvents !== undefined) {
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return errors;
}

function watchErrors({ match, continue: from, initialEvents }: Checked): readonly FieldError[] {
  const errors: FieldError[] = [];
  const field = 'resourceVersionMatch';
  if (initialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(forbidden(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match === '') return errors;
  if (initialEvents === undefined) {
    errors.push(forbidden(field, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
  }
  if (match !== 'NotOlderThan') errors.push(notSupported(field, match, ['NotOlderThan']));
  if (from !== '') errors.push(forbidden(field, 'resourceVersionMatch is forbidden when continue is provided'));
  return errors;
}

/** A version as a number; beyond 2^53 it is too large for any store of ours, but still a version. */
export function versionNumber(text: string, isList = false): bigint {
  if (text === '') return 0n;
  if (/^\d{1,19}$/.test(text)) return BigInt(text);
  const { field, message } = invalid('resourceVersion', text, parseProblem(text));
  if (isList) throw badRequest(`invalid resource version: ${field}: ${message}`);
  // Not a 400: the real server takes it for its own mistake.
  throw new Refusal(500, '', `${field}: ${message}`);
}

/** How Go says that a text is no number. */
export const parseProblem = (text: string): string =>
  `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
