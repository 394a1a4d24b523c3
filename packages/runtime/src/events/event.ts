/** The Event of events.k8s.io/v1, and what identifies a series of them. */
import { type KubeObject, resource } from '@reeve/kube';

export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface KubeEvent extends KubeObject {
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly type: 'Normal' | 'Warning';
  readonly note?: string;
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

export const kubeEvents = resource<KubeEvent>({
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
});

export interface Occurrence {
  readonly type: 'Normal' | 'Warning';
  /** Why: a word for machines, CamelCase. */
  readonly reason: string;
  /** What was done or tried: `Scale`, `Finalize`. */
  readonly action: string;
  /** For people; at most 1 KB is kept. */
  readonly note: string;
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
}

/** What is told of whom, whatever the words. */
export function topicKey({ type, reason, action, regarding, related }: Occurrence): string {
  const of = (one: ObjectReference | undefined) => [one?.kind, one?.namespace, one?.name, one?.uid];
  return JSON.stringify([type, reason, action, of(regarding), of(related)]);
}

/**
 * An event cannot change its note (the real server lets only its `series` change): other words are another series, else people would
 * be told now what happened before. Numbers and ids are words, too: `old-5` is not `old-3`.
 */
export function seriesKey(occurrence: Occurrence): string {
  return `${topicKey(occurrence)} ${clippedNote(occurrence.note)}`;
}

const MOST_NOTE = 1_024;
const MOST_NAME = 253;

export function clippedNote(note: string): string {
  if (Buffer.byteLength(note) <= MOST_NOTE) return note;
  // Characters may take up to four bytes; half a character is not cut off.
  let text = note.slice(0, MOST_NOTE - 3);
  while (Buffer.byteLength(text) > MOST_NOTE - 3) text = text.slice(0, -1);
  return `${text}…`;
}

/** `suffix` makes it unique. */
export function eventName(regarding: ObjectReference, suffix: string): string {
  const room = MOST_NAME - suffix.length - 1;
  return `${regarding.name.slice(0, room).replace(/[^a-z0-9]+$/, '')}.${suffix}`;
}
