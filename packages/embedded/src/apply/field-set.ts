/**
 * A set of fields, as a tree. A member is in the set itself; a child holds members further down. Both can be true of one
 * step: a manager may own a map's key (its existence) and fields below it.
 */
import { type Element, fieldName, isField, isKey, type Path, sortElements } from './element.ts';
import { type Type, typeOfField } from '../types/type.ts';

/** Most sets in a tree have no children, and many no members: they share these. */
const noMembers: ReadonlySet<Element> = new Set<Element>([]);
const noChildren: ReadonlyMap<Element, FieldSet> = new Map<Element, FieldSet>([]);

export class FieldSet {
  #members: Set<Element> | undefined;
  #children: Map<Element, FieldSet> | undefined;

  get members(): ReadonlySet<Element> {
    return this.#members ?? noMembers;
  }

  get children(): ReadonlyMap<Element, FieldSet> {
    return this.#children ?? noChildren;
  }

  add(member: Element): void {
    this.#members ??= new Set();
    this.#members.add(member);
  }

  put(element: Element, child: FieldSet): void {
    this.#children ??= new Map();
    this.#children.set(element, child);
  }

  static of(...paths: readonly Path[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  /** The empty path is the whole object, which nobody owns. */
  insert(path: Path): void {
    const last = path.at(-1);
    if (last === undefined) return;
    const above = path.slice(0, -1).reduce<FieldSet>((set, element) => set.descend(element), this);
    above.add(last);
  }

  descend(element: Element): FieldSet {
    let child = this.children.get(element);
    if (!child) {
      child = new FieldSet();
      this.put(element, child);
    }
    return child;
  }

  has(path: Path): boolean {
    const last = path.at(-1);
    const above = path.slice(0, -1).reduce<FieldSet | undefined>((set, element) => set?.children.get(element), this);
    return last !== undefined && above?.members.has(last) === true;
  }

  get isEmpty(): boolean {
    if (this.members.size > 0) return false;
    for (const child of this.children.values()) if (!child.isEmpty) return false;
    return true;
  }

  union(other: FieldSet): FieldSet {
    const out = new FieldSet();
    for (const member of this.members) out.add(member);
    for (const member of other.members) out.add(member);
    for (const [element, child] of this.children) {
      const same = other.children.get(element);
      out.put(element, same ? child.union(same) : child);
    }
    for (const [element, child] of other.children) if (!out.children.has(element)) out.put(element, child);
    return out;
  }

  intersection(other: FieldSet): FieldSet {
    const out = new FieldSet();
    for (const member of this.members) if (other.members.has(member)) out.add(member);
    for (const [element, child] of this.children) {
      const same = other.children.get(element)?.intersection(child);
      if (same && !same.isEmpty) out.put(element, same);
    }
    return out;
  }

  /** Whether a member is in both. */
  intersects(other: FieldSet): boolean {
    const [few, many] = this.members.size < other.members.size ? [this, other] : [other, this];
    for (const member of few.members) if (many.members.has(member)) return true;
    const [fewer, more] = this.children.size < other.children.size ? [this, other] : [other, this];
    for (const [element, child] of fewer.children) {
      const same = more.children.get(element);
      if (same && child.intersects(same)) return true;
    }
    return false;
  }

  /** Members of `other` go; what lies below them stays. */
  difference(other: FieldSet): FieldSet {
    return this.#without(other, false);
  }

  /** Members of `other` go, with all that lies below them. */
  recursiveDifference(other: FieldSet): FieldSet {
    return this.#without(other, true);
  }

  #without(other: FieldSet, below: boolean): FieldSet {
    const out = new FieldSet();
    for (const member of this.members) if (!other.members.has(member)) out.add(member);
    for (const [element, child] of this.children) {
      if (below && other.members.has(element)) continue;
      const same = other.children.get(element);
      const rest = same ? child.#without(same, below) : child;
      if (!same || !rest.isEmpty) out.put(element, rest);
    }
    return out;
  }

  /** With the declared fields that lead to members as members, too: a struct's field is usually not in a set. */
  withNamedFields(type: Type | undefined): FieldSet {
    const out = new FieldSet();
    for (const member of this.members) out.add(member);
    for (const [element, child] of this.children) {
      let below: Type | undefined;
      if (isField(element) && type?.map) {
        const name = fieldName(element);
        if (type.map.fields.has(name)) out.add(element);
        below = typeOfField(type.map, name);
      } else if (isKey(element)) {
        below = type?.list?.element;
      }
      out.put(element, child.withNamedFields(below));
    }
    return out;
  }

  equals(other: FieldSet): boolean {
    if (this.members.size !== other.members.size || this.children.size !== other.children.size) return false;
    for (const member of this.members) if (!other.members.has(member)) return false;
    for (const [element, child] of this.children) {
      const same = other.children.get(element);
      if (!same || !child.equals(same)) return false;
    }
    return true;
  }

  /** In order: the members of a level, then what lies below. */
  *paths(prefix: Path = []): Generator<Path> {
    for (const member of sortElements([...this.members])) yield [...prefix, member];
    for (const element of sortElements([...this.children.keys()])) {
      yield* (this.children.get(element) as FieldSet).paths([...prefix, element]);
    }
  }
}

/** Inserts many paths, each close to the one before, without walking down from the root each time. */
export class SetBuilder {
  readonly set = new FieldSet();
  readonly #path: Element[] = [];
  readonly #sets: FieldSet[] = [this.set];

  insert(path: Path): void {
    const last = path.at(-1);
    if (last !== undefined) this.above(path).add(last);
  }

  /** The set in which the last step of the path is a member. */
  above(path: Path): FieldSet {
    const last = path.length - 1;
    let depth = 0;
    while (depth < last && depth < this.#path.length && this.#path[depth] === path[depth]) depth++;
    let set = this.#sets[depth] as FieldSet;
    this.#path.length = depth;
    for (; depth < last; depth++) {
      const element = path[depth] as Element;
      set = set.descend(element);
      this.#path.push(element);
      this.#sets[depth + 1] = set;
    }
    return set;
  }
}
