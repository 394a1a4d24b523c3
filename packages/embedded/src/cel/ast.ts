/** What the parser makes of an expression. Macros are expanded already: there are only folds left of them. */
import type { Overload } from './function.ts';
import type { CelType } from './type.ts';
import type { Uint } from './value.ts';

interface Node {
  /** Where it stands in the text, in characters (code points). */
  readonly at: number;
  /** Set by the checker. */
  type?: CelType;
}

export interface Literal extends Node {
  readonly kind: 'literal';
  readonly value: bigint | number | boolean | null | string | Uint | Uint8Array;
}

export interface Ident extends Node {
  readonly kind: 'ident';
  readonly name: string;
}

export interface Select extends Node {
  readonly kind: 'select';
  readonly operand: Expr;
  readonly field: string;
  /** `has(x.y)`: asks whether the field is there. */
  readonly test: boolean;
  /** Set by the checker when the whole chain is the name of one variable or type. */
  whole?: string;
}

export interface Call extends Node {
  readonly kind: 'call';
  /** May become the qualified name (`optional.of`) when the checker finds such a function. */
  name: string;
  target?: Expr | undefined;
  readonly args: readonly Expr[];
  /** Set by the checker: those that may be meant. */
  overloads?: readonly Overload[];
}

export interface ListExpr extends Node {
  readonly kind: 'list';
  readonly elements: readonly Expr[];
  /** Indexes of elements written with `?`. */
  readonly optional: ReadonlySet<number>;
}

export interface MapExpr extends Node {
  readonly kind: 'map';
  readonly entries: readonly MapEntry[];
}

export interface MapEntry {
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

/** `Name{field: value}`: parsed, and refused by the checker, for no type of Kubernetes can be made this way. */
export interface StructExpr extends Node {
  readonly kind: 'struct';
  readonly name: string;
  readonly values: readonly Expr[];
}

/** Goes over a list or the keys of a map with an accumulator; with two variables over index and item, key and value. */
export interface Fold extends Node {
  readonly kind: 'fold';
  readonly range: Expr;
  readonly variable: string;
  readonly second?: string | undefined;
  readonly accumulator: string;
  readonly start: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

export type Expr = Literal | Ident | Select | Call | ListExpr | MapExpr | StructExpr | Fold;

/** `a.b.c` as a name, if it is one. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.test) return undefined;
  const prefix = qualifiedName(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}

/** The parts of an expression, in the order of the text. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target ? [expr.target, ...expr.args] : expr.args;
    case 'list':
      return expr.elements;
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return expr.values;
    case 'fold':
      return [expr.range, expr.start, expr.condition, expr.step, expr.result];
  }
}
