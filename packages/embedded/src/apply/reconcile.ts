/**
 * Field sets were written when the schema may have been another one. Where a list or map has become atomic since then,
 * whoever owned a part of it owns the whole now. (The other way round nothing is done: the set owns the existence of the
 * list and none of its items, which is how the server has it, too.)
 */
import { deduced } from '../types/deduced.ts';
import { type Type, typeOfField } from '../types/type.ts';
import { type Element, fieldName, isField } from './element.ts';
import { FieldSet } from './field-set.ts';

/** The very same set if there is nothing to do. */
export function reconciled(set: FieldSet, type: Type): FieldSet {
  const walk = new Reconciling();
  walk.visit(set, type, false);
  return walk.whole.isEmpty ? set : set.recursiveDifference(walk.whole).union(walk.whole);
}

class Reconciling {
  readonly whole = new FieldSet();
  readonly #path: Element[] = [];

  /** `isWhole`: the set has the value itself and nothing below. */
  visit(set: FieldSet | undefined, type: Type, isWhole: boolean): void {
    if (type.map) {
      const { map } = type;
      // Of guessed types nobody knows what they were before.
      if (map.fields.size === 0 && isGuessed(map.element)) return;
      if (isWhole || !map.atomic) this.#below(set, type);
      else if (set && !set.isEmpty) this.whole.insert(this.#path);
    } else if (!type.scalar && type.list) {
      if (isWhole || type.list.relation !== 'atomic') this.#below(set, type);
      else this.whole.insert(this.#path);
    }
  }

  #below(set: FieldSet | undefined, type: Type): void {
    if (!set) return;
    for (const [element, child] of set.children) this.#step(element, child, type, false);
    for (const element of set.members) if (!set.children.has(element)) this.#step(element, undefined, type, true);
  }

  #step(element: Element, child: FieldSet | undefined, { map, list }: Type, isWhole: boolean): void {
    const below = map && isField(element) ? typeOfField(map, fieldName(element)) : (map?.element ?? list?.element);
    if (!below) return;
    this.#path.push(element);
    this.visit(child, below, isWhole);
    this.#path.pop();
  }
}

function isGuessed(element: Type | undefined): boolean {
  return element === deduced || (element?.scalar === 'untyped' && !element.map && !element.list);
}
