/** Entries of the store as objects of a version, and what selectors look at in them. */
import { selectable } from '../kinds/kind.ts';
import type { Served } from '../kinds/registry.ts';
import { at, bodyOf, type Draft, draftOf, isObject, objectOf, textOf } from '../object/draft.ts';
import type { FieldSelector } from '../selector/fields.ts';
import { matchesFields } from '../selector/fields.ts';
import { type Labels, type LabelSelector, matchesLabels } from '../selector/labels.ts';
import type { Entry } from '../store/entry.ts';

/** The JSON of an object in the version that was asked for. */
export function textFor({ prefix, version }: Served, entry: Pick<Entry, 'body'>): string {
  return prefix + bodyFor(version.conversion, entry);
}

export function bodyFor(conversion: Served['version']['conversion'], { body }: Pick<Entry, 'body'>): string {
  if (conversion === undefined) return body;
  const object = conversion.fromStored(draftOf(body));
  return bodyOf(object, textOf(object.metadata.resourceVersion));
}

/** The object to work on; nobody else holds it. */
export function draftFor({ kind, version, apiVersion }: Served, entry: Entry): Draft {
  const draft = draftOf(entry.body);
  return { apiVersion, kind: kind.kind, ...(version.conversion?.fromStored(draft) ?? draft) };
}

/** What an entry is selected by. Made when it is written, or by the first selector after a restart. */
interface Facts {
  readonly of: Served['version'];
  readonly labels: Labels | undefined;
  readonly fields: Readonly<Record<string, string>>;
  /** What no other object may hold. */
  readonly holds: readonly string[];
}

export function factsOf({ kind, version }: Served, stored: Draft): Facts {
  const labels = stored.metadata.labels;
  return {
    of: version,
    labels: isObject(labels) ? (labels as Labels) : undefined,
    fields: Object.fromEntries(version.fields.map((field) => [field, fieldOf(stored, field)])),
    holds: kind.holds?.(stored) ?? [],
  };
}

function fieldOf(stored: Draft, field: string): string {
  // Two fields are not where their names say.
  if (field === 'source') return textOf(objectOf(stored.source).component) || textOf(stored.reportingComponent);
  if (field === 'status.successful') return selectable(at(stored, 'status.succeeded')) || '0';
  return selectable(at(stored, field));
}

export function factsIn(served: Served, entry: Entry): Facts {
  const known = entry.note as Facts | undefined;
  if (known?.of === served.version) return known;
  const facts = factsOf(served, draftOf(entry.body));
  entry.note = facts;
  return facts;
}

export interface Selection {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

export const isEverything = ({ labels, fields }: Selection): boolean => labels.length === 0 && fields.length === 0;

export function matches(served: Served, { labels, fields }: Selection, entry: Entry): boolean {
  if (labels.length > 0 && !matchesLabels(labels, factsIn(served, entry).labels)) return false;
  if (fields.length === 0) return true;
  return matchesFields(fields, (field) => {
    if (field === 'metadata.name') return entry.key.name;
    if (field === 'metadata.namespace') return entry.key.namespace;
    return factsIn(served, entry).fields[field] ?? '';
  });
}
