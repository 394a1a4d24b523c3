/**
 * Field sets were written when the schema may have been another one. Where a list or map has become atomic since then,
 * whoever owned a part of it owns the whole now. (The other way round nothing is done: the set owns the existence of the
 * list and none of its items, which is how the server has it, too.)
 */
import { type Type, typeOfField } from '../types/type.ts';
import { deduced } from '../types/deduced.ts';
import { type Element, fieldName, isField } from './element.ts';
import { FieldSet } from './field-set.ts';

export function reconciled(set: FieldSet, type: Type): FieldSet {
  const whole = new FieldSet();
  visit(set, type, false, [], whole);
  return whole.isEmpty ? set : set.recursiveDifference(whole).union(whole);
}

/** `isWhole`: the set has the value itself and nothing below. */
function visit(
  set: FieldSet | undefined,
  type: Type,
  isWhole: boolean,
  path: readonly Element[],
  whole: FieldSet,
): void {
  if (type.map) {
    const { map } = type;
    // Of guessed types nobody knows what they were before.
    if (map.fields.size === 0 && isGuessed(map.element)) return;
    if (!isWhole && map.atomic) {
      if (set && !set.isEmpty) whole.insert(path);
      return;
    }
    below(set, path, whole, (element) => (isField(element) ? typeOfField(map, fieldName(element)) : map.element));
  } else if (!type.scalar && type.list) {
    const { list } = type;
    if (!isWhole && list.relation === 'atomic') whole.insert(path);
    else below(set, path, whole, () => list.element);
  }
}

function below(
  set: FieldSet | undefined,
  path: readonly Element[],
  whole: FieldSet,
  typeAt: (element: Element) => Type | undefined,
): void {
  if (!set) return;
  for (const element of new Set([...set.children.keys(), ...set.members])) {
    const child = set.children.get(element);
    const type = typeAt(element);
    if (type) visit(child, type, set.members.has(element) && !child, [...path, element], whole);
  }
}

function isGuessed(element: Type | undefined): boolean {
  return element === deduced || (element?.scalar === 'untyped' && !element.map && !element.list);
}
