/** How objects are shown: whole, or their metadata only. Texts for answers, lists and watches are made here. */
import { INITIAL_EVENTS_END, stringifyJson } from '@reeve/kube';
import type { Served } from '../kinds/registry.ts';
import { bodyOf, draftOf, type JsonObject } from '../object/draft.ts';
import type { Entry, StoreEvent } from '../store/entry.ts';
import { Line } from '../watch/line.ts';
import { bodyFor, textFor } from './present.ts';
import type { Page } from './read.ts';

export interface View {
  readonly served: Served;
  readonly metadataOnly: boolean;
}

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

const PARTIAL = '{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",';

export function viewText({ served, metadataOnly }: View, entry: Pick<Entry, 'body'>): string {
  return metadataOnly ? partialText(entry) : textFor(served, entry);
}

function partialText({ body }: Pick<Entry, 'body'>): string {
  return PARTIAL + stringifyJson({ metadata: draftOf(body).metadata }).slice(1);
}

/** A list, in pieces: a large one is not joined in memory. */
export function* listTexts(view: View, page: Page): Generator<string, void, undefined> {
  const { kind, version, apiVersion, prefix } = view.served;
  const metadata = JSON.stringify({
    resourceVersion: page.resourceVersion,
    // Lists of custom kinds have it always.
    ...(page.continue === undefined && !kind.custom ? {} : { continue: page.continue ?? '' }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  });
  const [listKind, listVersion] = view.metadataOnly
    ? ['PartialObjectMetadataList', 'meta.k8s.io/v1']
    : [kind.listKind, apiVersion];
  yield `{"kind":${JSON.stringify(listKind)},"apiVersion":${JSON.stringify(listVersion)},"metadata":${metadata},"items":`;
  if (view.metadataOnly && page.entries.length === 0) {
    yield 'null}\n';
    return;
  }
  yield '[';
  // Built-in kinds leave kind and version out of items.
  const opening = kind.custom ? prefix : '{';
  let separator = '';
  for (const entry of page.entries) {
    yield separator;
    yield view.metadataOnly ? partialText(entry) : opening + bodyFor(version.conversion, entry);
    separator = ',';
  }
  yield ']}\n';
}

/** The line of an event. Made once for all who watch the same view, and kept with the event. */
export function eventLine(view: View, event: StoreEvent, type: EventType): Line {
  const lines = (event.note ??= new Map<string, Line>()) as Map<string, Line>;
  const key = `${view.metadataOnly ? 'partial' : view.served.apiVersion} ${type}`;
  const known = lines.get(key);
  if (known !== undefined) return known;
  const line = lineOf(type, viewText(view, shownIn(event, type)));
  lines.set(key, line);
  return line;
}

/** What left a selection is shown as it was while it belonged to it, under the version of the change. */
function shownIn(event: StoreEvent, type: EventType): Pick<Entry, 'body'> {
  if (type !== 'DELETED' || event.deleted || event.previous === undefined) return event.entry;
  return { body: bodyOf(draftOf(event.previous.body), String(event.revision)) };
}

/** Something that existed before the watch began. */
export const addedLine = (view: View, entry: Entry): Line => lineOf('ADDED', viewText(view, entry));

const lineOf = (type: string, object: string): Line => new Line(`{"type":"${type}","object":${object}}\n`);

export function bookmarkLine({ served, metadataOnly }: View, revision: number, isInitialEnd: boolean): Line {
  const metadata = {
    resourceVersion: String(revision),
    ...(isInitialEnd ? { annotations: { [INITIAL_EVENTS_END]: 'true' } } : {}),
  };
  if (metadataOnly) return lineOf('BOOKMARK', `${PARTIAL}"metadata":${JSON.stringify(metadata)}}`);
  const { kind, version, prefix } = served;
  // An object with nothing in it, which of some kinds is something.
  const { apiVersion: _version, kind: _kind, ...empty }: JsonObject = kind.custom ? {} : version.types.shaped({});
  return lineOf('BOOKMARK', prefix + stringifyJson({ ...empty, metadata }).slice(1));
}

export const errorLine = (status: object): Line => lineOf('ERROR', JSON.stringify(status));
