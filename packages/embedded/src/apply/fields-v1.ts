/** Field sets as they stand in managedFields. `.` says that the step itself is a member, too; `{}` that it is nothing else. */
import type { Json } from '@reeve/kube';
import { asMap, type JsonObject } from '../types/type.ts';
import { compareElements, readElement } from './element.ts';
import { FieldSet } from './field-set.ts';

export function toFieldsV1(set: FieldSet): JsonObject {
  const out: JsonObject = {};
  for (const element of [...new Set([...set.members, ...set.children.keys()])].sort(compareElements)) {
    const child = set.children.get(element);
    if (!child) out[element] = {};
    else if (!set.members.has(element)) out[element] = toFieldsV1(child);
    else out[element] = { '.': {}, ...toFieldsV1(child) };
  }
  return out;
}

/** Throws for what is no field set. */
export function fromFieldsV1(fields: Json): FieldSet {
  return read(fields).children ?? new FieldSet();
}

function read(fields: Json): { children: FieldSet | undefined; isMember: boolean } {
  if (fields === null) return { children: undefined, isMember: true };
  const map = asMap(fields);
  if (!map) throw new Error(`expected an object, got ${JSON.stringify(fields)}`);
  let children: FieldSet | undefined;
  let isMember = false;
  for (const [key, below] of Object.entries(map)) {
    if (key === '.') {
      isMember = true;
      continue;
    }
    const element = readElement(key);
    if (element === undefined) continue;
    const child = read(below as Json);
    children ??= new FieldSet();
    if (child.isMember) children.members.add(element);
    if (child.children) children.children.set(element, child.children);
  }
  return { children, isMember: isMember || children === undefined };
}
