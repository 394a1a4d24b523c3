/** Gives every part of an expression its type and every call its overloads, or says what is wrong. */
import { type Call, childrenOf, type Expr, type Fold, qualifiedName, type Select } from './ast.ts';
import type { Overload } from './function.ts';
import type { Issue } from './issue.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DYN,
  ERROR,
  formatSignature,
  formatType,
  INT,
  isDyn,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  paramOf,
  STRING,
  sameType,
  UINT,
  unwrapOptional,
} from './type.ts';
import { assign, moreGeneral, type Substitution, substitute } from './unify.ts';
import { Uint } from './value.ts';

export interface CheckerContext {
  /** Variables and names of types. */
  readonly names: (name: string) => CelType | undefined;
  readonly functions: (name: string) => readonly Overload[] | undefined;
}

/** Types are written into the tree. */
export function check(expr: Expr, context: CheckerContext): readonly Issue[] {
  const checker = new Checker(context);
  checker.check(expr);
  if (checker.issues.length === 0) checker.settle(expr);
  return checker.issues;
}

class Checker {
  readonly issues: Issue[] = [];
  readonly #context: CheckerContext;
  /** Variables of the folds around, the innermost last. */
  readonly #scopes: (readonly [string, CelType])[] = [];
  #substitution: Substitution = new Map<string, CelType>();
  #fresh = 0;

  constructor(context: CheckerContext) {
    this.#context = context;
  }

  /** Replaces type variables in all of the tree by what they turned out to be. */
  settle(expr: Expr): void {
    expr.type = substitute(this.#substitution, expr.type ?? DYN, 'dyn');
    for (const child of childrenOf(expr)) this.settle(child);
  }

  check(expr: Expr): CelType {
    const type = this.#typeOf(expr);
    expr.type = type;
    return type;
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case 'literal':
        return typeOfLiteral(expr.value);
      case 'ident':
        return this.#lookup(expr.name) ?? this.#undeclared(expr.at, expr.name);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return listOf(
          this.#join(expr.elements.map((element, index) => [element, expr.optional.has(index)])) ?? this.#variable(),
        );
      case 'map': {
        const key = this.#join(expr.entries.map((entry) => [entry.key, false]));
        const value = this.#join(expr.entries.map((entry) => [entry.value, entry.optional]));
        return mapOf(key ?? this.#variable(), value ?? this.#variable());
      }
      case 'struct':
        return this.#undeclared(expr.at, expr.name);
      case 'fold':
        return this.#fold(expr);
    }
  }

  #lookup(name: string): CelType | undefined {
    return this.#scopes.findLast(([known]) => known === name)?.[1] ?? this.#context.names(name);
  }

  #select(expr: Select): CelType {
    const name = qualifiedName(expr);
    const isLocal = this.#scopes.some(([known]) => known === name?.split('.', 1)[0]);
    const whole = name === undefined || isLocal ? undefined : this.#context.names(name);
    if (name !== undefined && whole !== undefined) {
      expr.whole = name;
      return whole;
    }
    const type = this.#field(expr.at, expr.operand, expr.field, false);
    return expr.test ? BOOL : substitute(this.#substitution, type);
  }

  #field(at: number, operand: Expr, field: string, makesOptional: boolean): CelType {
    const [target, isOptional] = unwrapOptional(substitute(this.#substitution, this.check(operand)));
    const type = this.#fieldOf(at, target, field);
    return isOptional || makesOptional ? optionalOf(type) : type;
  }

  #fieldOf(at: number, target: CelType, field: string): CelType {
    switch (target.kind) {
      case 'map':
        return target.params[1] as CelType;
      case 'object': {
        const type = target.fields?.get(field);
        if (type) return type;
        return this.#report(
          at,
          target.fields ? `undefined field '${field}'` : `unexpected failed resolution of '${target.name}'`,
        );
      }
      case 'param':
        this.#assignable(DYN, target);
        return DYN;
      default:
        if (isDyn(target) || target.kind === 'error') return DYN;
        this.#report(at, `type '${formatType(target)}' does not support field selection`);
        return DYN;
    }
  }

  #call(expr: Call): CelType {
    if (expr.name === '_?._') {
      const [operand, field] = expr.args as readonly [Expr, Expr];
      this.check(field);
      expr.overloads = this.#context.functions(expr.name) ?? [];
      const name = field.kind === 'literal' && typeof field.value === 'string' ? field.value : '';
      return substitute(this.#substitution, this.#field(expr.at, operand, name, true));
    }
    for (const arg of expr.args) this.check(arg);
    if (expr.target === undefined) {
      const overloads = this.#context.functions(expr.name);
      return overloads ? this.#resolve(expr, overloads) : this.#undeclared(expr.at, expr.name);
    }
    const prefix = qualifiedName(expr.target);
    const qualified = prefix === undefined ? undefined : this.#context.functions(`${prefix}.${expr.name}`);
    if (qualified) {
      expr.name = `${prefix}.${expr.name}`;
      expr.target = undefined;
      return this.#resolve(expr, qualified);
    }
    this.check(expr.target);
    const overloads = this.#context.functions(expr.name);
    return overloads ? this.#resolve(expr, overloads) : this.#undeclared(expr.at, expr.name);
  }

  #resolve(expr: Call, candidates: readonly Overload[]): CelType {
    const args = expr.target ? [expr.target, ...expr.args] : expr.args;
    if (expr.name === '_&&_' || expr.name === '_||_') return this.#logical(expr, candidates);
    const types = args.map((arg) => arg.type ?? DYN);
    const found: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of candidates) {
      if (overload.isMethod !== (expr.target !== undefined)) continue;
      const rename = this.#renaming(overload);
      const attempt = assign(
        this.#substitution,
        types,
        overload.params.map((param) => substitute(rename, param)),
      );
      if (!attempt) continue;
      this.#substitution = attempt;
      found.push(overload);
      const type = substitute(attempt, substitute(rename, overload.result));
      if (result === undefined) result = type;
      else if (!isDyn(result) && !sameType(result, type)) result = DYN;
    }
    expr.overloads = found;
    if (result !== undefined) return result;
    const settled = types.map((type) => substitute(this.#substitution, type, 'dyn'));
    const signature = formatSignature(settled, expr.target !== undefined);
    return this.#report(expr.at, `found no matching overload for '${expr.name}' applied to '${signature}'`);
  }

  #logical(expr: Call, candidates: readonly Overload[]): CelType {
    expr.overloads = candidates;
    let isWrong = false;
    for (const arg of expr.args) {
      const type = arg.type ?? DYN;
      if (this.#assignable(type, BOOL)) continue;
      this.#mismatch(arg.at, BOOL, type);
      isWrong = true;
    }
    return isWrong ? ERROR : BOOL;
  }

  /** The type parameters of an overload under names that nothing else has. */
  #renaming(overload: Overload): Substitution {
    const renaming = new Map<string, CelType>();
    const collect = (type: CelType): void => {
      if (type.kind === 'param' && !renaming.has(type.name)) renaming.set(type.name, this.#variable());
      type.params.forEach(collect);
    };
    overload.params.forEach(collect);
    collect(overload.result);
    return renaming;
  }

  /** The type that all have in common. */
  #join(items: readonly (readonly [Expr, boolean])[]): CelType | undefined {
    let joined: CelType | undefined;
    for (const [expr, isOptional] of items) {
      let type = this.check(expr);
      if (isOptional) {
        const [inner, wasOptional] = unwrapOptional(type);
        if (!wasOptional && !isDyn(inner)) this.#mismatch(expr.at, optionalOf(inner), inner);
        type = inner;
      }
      if (joined === undefined) joined = type;
      else if (this.#assignable(joined, type)) joined = moreGeneral(joined, type);
      else joined = DYN; // told later, with the literals: some may be mixed
    }
    return joined;
  }

  #fold(expr: Fold): CelType {
    const range = substitute(this.#substitution, this.check(expr.range));
    const start = this.check(expr.start);
    const depth = this.#scopes.length;
    this.#scopes.push([expr.accumulator, start]);
    const [first, second] = this.#rangeTypes(expr, range);
    this.#scopes.push([expr.variable, first]);
    if (expr.second !== undefined) this.#scopes.push([expr.second, second]);
    this.#expectType(expr.condition, BOOL);
    this.#expectType(expr.step, start);
    this.#scopes.length = depth + 1;
    const result = this.check(expr.result);
    this.#scopes.length = depth;
    return substitute(this.#substitution, result);
  }

  /** The types of the variables of a fold over `range`. */
  #rangeTypes(expr: Fold, range: CelType): readonly [CelType, CelType] {
    const [one = DYN, two = DYN] = range.params;
    switch (range.kind) {
      case 'list':
        return expr.second === undefined ? [one, DYN] : [INT, one];
      case 'map':
        return [one, two];
      case 'dyn':
      case 'error':
      case 'param':
        this.#assignable(DYN, range);
        return [DYN, DYN];
      default:
        this.#report(
          expr.range.at,
          `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return [ERROR, ERROR];
    }
  }

  #expectType(expr: Expr, expected: CelType): void {
    const type = this.check(expr);
    if (!this.#assignable(expected, type)) this.#mismatch(expr.at, expected, type);
  }

  #assignable(from: CelType, to: CelType): boolean {
    const attempt = assign(this.#substitution, [from], [to]);
    if (attempt) this.#substitution = attempt;
    return attempt !== undefined;
  }

  #variable(): CelType {
    return paramOf(`_var${this.#fresh++}`);
  }

  #undeclared(at: number, name: string): CelType {
    return this.#report(at, `undeclared reference to '${name}' (in container '')`);
  }

  #mismatch(at: number, expected: CelType, found: CelType): CelType {
    return this.#report(at, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  #report(at: number, message: string): CelType {
    this.issues.push({ at, message });
    return ERROR;
  }
}

function typeOfLiteral(value: Extract<Expr, { kind: 'literal' }>['value']): CelType {
  switch (typeof value) {
    case 'bigint':
      return INT;
    case 'number':
      return DOUBLE;
    case 'boolean':
      return BOOL;
    case 'string':
      return STRING;
    default:
      if (value === null) return NULL;
      return value instanceof Uint ? UINT : BYTES;
  }
}
