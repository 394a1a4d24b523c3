/** Places in a document, by JSON pointer (RFC 6901), with the habits of the server's library. */
import type { Json } from '@reeve/kube';
import { PatchFailure } from './result.ts';

/** The container that a path leads to, and the key in it. */
export interface Place {
  readonly container: Container;
  readonly key: string;
  /** How deep what stands there lies. */
  readonly depth: number;
}

export type Container = Json[] | { [key: string]: Json };

/** Undefined if the way there ends early. What stands before the first slash is not looked at. */
export function placeOf(document: Json, path: string): Place | undefined {
  const parts = path.split('/').slice(1).map(unescaped);
  const key = parts.pop();
  let at: Json | undefined = document;
  for (const part of parts) {
    if (!isContainer(at)) return undefined;
    try {
      at = valueAt(at, part);
    } catch {
      return undefined;
    }
  }
  return key === undefined || !isContainer(at) ? undefined : { container: at, key, depth: parts.length + 1 };
}

function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function isContainer(value: Json | undefined): value is Container {
  return typeof value === 'object' && value !== null;
}

/** Undefined if an object has no such key; throws if a list has no such index. */
export function valueAt(container: Container, key: string): Json | undefined {
  if (Array.isArray(container)) return container[indexIn(container, key, container.length)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

/** `end` is the first index that is too large. Negative indexes count from the end. */
export function indexIn(list: readonly Json[], key: string, end: number): number {
  if (!/^[+-]?\d+$/.test(key)) throw new PatchFailure(422, `not an index: '${key}'`);
  const index = Number(key);
  const known = index < 0 ? index + end : index;
  if (known < 0 || known >= end) {
    throw new PatchFailure(422, `Unable to access invalid index: ${key} of ${list.length}`);
  }
  return known;
}

export function addAt({ container, key }: Place, value: Json): void {
  if (!Array.isArray(container)) setKey(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(indexIn(container, key, container.length + 1), 0, value);
}

export function replaceAt({ container, key }: Place, value: Json): void {
  if (Array.isArray(container)) container[indexIn(container, key, container.length)] = value;
  else setKey(container, key, value);
}

export function removeAt({ container, key }: Place): void {
  if (Array.isArray(container)) {
    container.splice(indexIn(container, key, container.length), 1);
  } else {
    if (!Object.hasOwn(container, key)) throw new PatchFailure(422, `Unable to remove nonexistent key: ${key}`);
    delete container[key];
  }
}

function setKey(map: { [key: string]: Json }, key: string, value: Json): void {
  // The parser refuses it in documents; a path must not bring it in either.
  if (key === '__proto__') throw new PatchFailure(422, 'the key __proto__ is refused');
  map[key] = value;
}
