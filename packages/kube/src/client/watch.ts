/** Events out of the lines of a watch. */
import { KubeError } from '../errors/errors.ts';
import { parseJson } from '../json/parse.ts';
import { type Common, lazyObject } from '../object/lazy.ts';
import type { KubeObject } from '../object/object.ts';
import { isStatus } from '../object/status.ts';
import { INITIAL_EVENTS_END, type WatchEvent } from '../object/watch-event.ts';
import { statusError } from './failure.ts';
import type { AnswerOptions } from './options.ts';

/** What lines tell, up to the first that is an error: what came before it happened. `common` belongs to the watch. */
export function readEvents<T extends KubeObject>(
  lines: readonly Buffer[],
  what: string,
  { dropManagedFields: drop = false, lazy = false }: AnswerOptions,
  common: Common,
): { readonly events: readonly WatchEvent<T>[]; readonly failure?: { readonly error: unknown } } {
  const events: WatchEvent<T>[] = [];
  try {
    for (const line of lines) {
      events.push((lazy ? readLazyEvent<T>(line, drop, common) : undefined) ?? readEvent<T>(line, what, drop));
    }
    return { events };
  } catch (error) {
    return { events, failure: { error } };
  }
}

/** How every server begins an event. */
const BEGINNINGS = (['MODIFIED', 'ADDED', 'DELETED'] as const).map((type) => ({
  type,
  bytes: Buffer.from(`{"type":"${type}","object":`),
}));

/** A change whose object is parsed as it is read. Undefined: another event, or one that only the parser understands. */
function readLazyEvent<T extends KubeObject>(line: Buffer, drop: boolean, common: Common): WatchEvent<T> | undefined {
  const beginning = BEGINNINGS.find(({ bytes }) => beginsWith(line, bytes));
  if (!beginning) return undefined;
  const lazy = lazyObject(line, beginning.bytes.length, drop, common);
  // What is left is the end of the event.
  if (!lazy || lazy.end !== line.length - 1 || line[lazy.end] !== CLOSE_OBJECT) return undefined;
  if (drop) dropManagedFields(lazy.object);
  return { type: beginning.type, object: lazy.object as T };
}

/** Not `Buffer.compare`: a call out of the engine costs more than these few bytes. */
function beginsWith(line: Buffer, beginning: Buffer): boolean {
  for (let at = 0; at < beginning.length; at++) if (line[at] !== beginning[at]) return false;
  return true;
}

const CLOSE_OBJECT = 125;

/** @throws the Status of an ERROR event; KUBE_JSON for what is no event. */
function readEvent<T extends KubeObject>(line: Buffer, what: string, drop: boolean): WatchEvent<T> {
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
