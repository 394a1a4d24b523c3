/** Field sets as they stand in managedFields. `.` says that the step itself is a member, too; `{}` that it is nothing else. */
import type { JsonObject } from '../object/draft.ts';
import type { Json } from '@reeve/kube';
import { asMap } from '../types/type.ts';
import { type Element, readElement, sortElements } from './element.ts';
import { FieldSet } from './field-set.ts';

export function toFieldsV1(set: FieldSet): JsonObject {
  return write(set, {});
}

function write({ members, children }: FieldSet, out: JsonObject): JsonObject {
  const elements: Element[] = [...children.keys()];
  for (const member of members) if (!children.has(member)) elements.push(member);
  for (const element of sortElements(elements)) {
    const child = children.get(element);
    out[element] = child ? write(child, members.has(element) ? { '.': {} } : {}) : {};
  }
  return out;
}

/** Throws for what is no field set. */
export function fromFieldsV1(fields: Json): FieldSet {
  return readFieldsV1(fields).set;
}

/** Also tells whether it was written as we (and the server) write it, but for the order. */
export function readFieldsV1(fields: Json): { readonly set: FieldSet; readonly isCanonical: boolean } {
  const reading = new Reading();
  const set = reading.children(fields) ?? new FieldSet();
  return { set, isCanonical: reading.isCanonical };
}

class Reading {
  isCanonical = true;

  /** Undefined if nothing is below. */
  children(fields: Json): FieldSet | undefined {
    const map = asMap(fields);
    if (!map) {
      if (fields !== null) throw new Error(`expected an object, got ${JSON.stringify(fields)}`);
      this.isCanonical = false;
      return undefined;
    }
    let set: FieldSet | undefined;
    for (const key in map) {
      const element = key === '.' ? undefined : readElement(key);
      if (element !== key && key !== '.') this.isCanonical = false;
      if (element === undefined) continue;
      const below = map[key] as Json;
      const child = this.children(below);
      set ??= new FieldSet();
      if (child) set.put(element, child);
      if (!child || Object.hasOwn(below as JsonObject, '.')) set.add(element);
    }
    return set;
  }
}
