/** Events out of the lines of a watch. */
import { KubeError } from '../errors/errors.ts';
import { parseJson } from '../json/parse.ts';
import type { KubeObject } from '../object/object.ts';
import { isStatus } from '../object/status.ts';
import { INITIAL_EVENTS_END, type WatchEvent } from '../object/watch-event.ts';
import { statusError } from './failure.ts';

/** @throws the Status of an ERROR event; KUBE_JSON for what is no event. */
export function readEvent<T extends KubeObject>(line: Buffer, what: string, drop: boolean): WatchEvent<T> {
  const event = parseJson(line.toString('utf8')) as unknown as {
    readonly type?: unknown;
    readonly object?: unknown;
  } | null;
  const type = event?.type;
  const object = event?.object;
  if (type === 'ERROR') {
    if (isStatus(object)) throw statusError(what, object);
    throw new KubeError('KUBE_SERVER_ERROR', `${what}: an ERROR event without a Status`, { subjects: [what] });
  }
  if (!isObject(object)) throw notAnEvent(what);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (drop) dropManagedFields(object);
      return { type, object: object as T };
    case 'BOOKMARK':
      return {
        type,
        resourceVersion: object.metadata.resourceVersion ?? '',
        initialEventsEnd: object.metadata.annotations?.[INITIAL_EVENTS_END] === 'true',
      };
    default:
      throw notAnEvent(what);
  }
}

export function isObject(value: unknown): value is KubeObject {
  const metadata = (value as Partial<KubeObject> | null | undefined)?.metadata;
  return typeof metadata === 'object' && metadata !== null;
}

/** Assigned, not deleted: a deletion turns the object into a dictionary, which costs more than the field did. */
export function dropManagedFields(object: KubeObject): void {
  if (object.metadata.managedFields !== undefined) {
    (object.metadata as { managedFields: undefined }).managedFields = undefined;
  }
}

const notAnEvent = (what: string): KubeError =>
  new KubeError('KUBE_JSON', `${what}: a line that is no event`, { subjects: [what] });
