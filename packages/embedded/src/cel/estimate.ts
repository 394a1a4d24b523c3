/** What an expression costs at worst, from its types and the sizes that its variables can have. */
import { type Call, childrenOf, type Expr, type Fold } from './ast.ts';
import { LIST_COST, MAP_COST } from './costs.ts';
import { callEstimate, type Operand } from './estimate-call.ts';
import { type Entry, fixed, join, type Size, times, UNKNOWN } from './size.ts';
import { type CelType, DYN, isOptional } from './type.ts';

/** How large a value can be, by its path: `self`, then names of fields, `@items`, `@values`. */
export type SizeOf = (path: readonly string[]) => number | undefined;

export function estimateCost(expr: Expr, sizeOf: SizeOf): number {
  return new Estimator(sizeOf).cost(expr);
}

interface Local {
  readonly path: readonly string[];
  readonly size?: Size | undefined;
  readonly entry?: Entry | undefined;
}

class Estimator {
  readonly #sizeOf: SizeOf;
  readonly #paths = new Map<Expr, readonly string[]>();
  readonly #sizes = new Map<Expr, Size>();
  readonly #entries = new Map<Expr, Entry>();
  readonly #locals: (readonly [string, Local])[] = [];

  constructor(sizeOf: SizeOf) {
    this.#sizeOf = sizeOf;
  }

  cost(expr: Expr): number {
    switch (expr.kind) {
      case 'literal':
        return 0;
      case 'ident':
        this.#paths.set(expr, this.#local(expr.name)?.path ?? [expr.name]);
        return 1;
      case 'select': {
        const operand = this.cost(expr.operand);
        if (expr.test) return operand;
        this.#paths.set(expr, [...this.#path(expr.operand), expr.field]);
        return operand + (['map', 'object', 'param'].includes(typeOf(expr.operand).kind) ? 1 : 0);
      }
      case 'call':
        return expr.name === 'dyn' ? this.#dyn(expr) : this.#call(expr);
      case 'list': {
        const cost = this.#all(expr.elements);
        const items = expr.elements.map((element) => this.#size(element) ?? UNKNOWN);
        this.#entries.set(expr, { kind: 'list', key: fixed(1), value: items.reduce(join, items[0] ?? fixed(0)) });
        return cost + LIST_COST;
      }
      case 'map': {
        const cost = this.#all(expr.entries.flatMap(({ key, value }) => [key, value]));
        const keys = expr.entries.map(({ key }) => this.#size(key) ?? UNKNOWN);
        const values = expr.entries.map(({ value }) => this.#size(value) ?? UNKNOWN);
        this.#entries.set(expr, {
          kind: 'map',
          key: keys.reduce(join, keys[0] ?? fixed(0)),
          value: values.reduce(join, values[0] ?? fixed(0)),
        });
        return cost + MAP_COST;
      }
      case 'struct':
        return this.#all(childrenOf(expr));
      case 'fold':
        return isBinding(expr) ? this.#binding(expr) : this.#fold(expr);
    }
  }

  #all(exprs: readonly Expr[]): number {
    return exprs.reduce((sum, expr) => sum + this.cost(expr), 0);
  }

  #dyn(expr: Call): number {
    const [arg] = expr.args as readonly [Expr];
    const cost = this.cost(arg) + 1;
    this.#copySizes(expr, arg);
    return cost;
  }

  #call(expr: Call): number {
    const argCosts = expr.args.map((arg) => this.cost(arg));
    const args = expr.args.map((arg) => this.#operand(arg));
    const targetCost = expr.target ? this.cost(expr.target) : 0;
    const target = expr.target && this.#operand(expr.target);
    const sum = argCosts.reduce((total, cost) => total + cost, 0);
    const size = (path: readonly string[]): Size | undefined => this.#known(path);
    let most = 0;
    let result: Size | undefined;
    for (const overload of expr.overloads ?? []) {
      const estimate = callEstimate(expr.name, overload, target, args, size);
      const own = estimate.isShortCircuit ? 0 : sum;
      most = Math.max(most, estimate.cost + own);
      if (estimate.size) result = result ? join(result, estimate.size) : estimate.size;
      const container = overload.params[0]?.kind;
      const first = expr.args[0];
      if (expr.name === '_[_]' && first && (container === 'list' || container === 'map')) {
        result = this.#entry(first)?.value;
        this.#paths.set(expr, [...this.#path(first), container === 'list' ? '@items' : '@values']);
      }
    }
    if (expr.name === '_?_:_') {
      most = (argCosts[0] ?? 0) + Math.max(argCosts[1] ?? 0, argCosts[2] ?? 0);
      this.#joinEntries(expr, expr.args[1] as Expr, expr.args[2] as Expr);
    }
    if (expr.name === '_&&_' || expr.name === '_||_') most = sum;
    if (expr.name === '_+_') this.#joinEntries(expr, expr.args[0] as Expr, expr.args[1] as Expr);
    const settled = result ?? this.#size(expr);
    if (settled) this.#sizes.set(expr, settled);
    return targetCost + most;
  }

  #fold(expr: Fold): number {
    let cost = this.cost(expr.range) + this.cost(expr.start);
    const depth = this.#locals.length;
    this.#push(expr.accumulator, this.#asLocal(expr.start));
    const entry = this.#entry(expr.range);
    const isList = (entry?.kind ?? typeOf(expr.range).kind) === 'list';
    const path = this.#path(expr.range);
    const key = { path: [...path, isList ? '@indices' : '@keys'], size: entry?.key };
    const value = { path: [...path, isList ? '@items' : '@values'], size: entry?.value };
    if (expr.second === undefined) this.#push(expr.variable, isList ? value : key);
    else {
      this.#push(expr.variable, key);
      this.#push(expr.second, value);
    }
    const turn = this.cost(expr.condition) + this.cost(expr.step);
    this.#locals.length = depth + 1;
    cost += this.cost(expr.result);
    this.#locals.length = depth;
    const count = this.#size(expr.range) ?? UNKNOWN;
    if (expr.start.kind === 'literal') this.#copySize(expr, this.#size(expr.start));
    if (expr.start.kind === 'list' || expr.start.kind === 'map') {
      this.#sizes.set(expr, count);
      const made = this.#entry(expr.step);
      if (made) this.#entries.set(expr, made);
    }
    return cost + times(count.max, turn);
  }

  #binding(expr: Fold): number {
    const cost = this.cost(expr.range) + this.cost(expr.start);
    this.#push(expr.accumulator, this.#asLocal(expr.start));
    const result = this.cost(expr.result);
    this.#locals.pop();
    this.#copySizes(expr, expr.result);
    return cost + result;
  }

  #operand(expr: Expr): Operand {
    const path = this.#path(expr);
    const isHidden = path[0] === '@result';
    return { expr, type: typeOf(expr), path: isHidden ? [] : path, size: this.#size(expr) };
  }

  #asLocal(expr: Expr): Local {
    return { path: this.#path(expr), size: this.#size(expr), entry: this.#entry(expr) };
  }

  #push(name: string, local: Local): void {
    this.#locals.push([name, local]);
  }

  #local(name: string): Local | undefined {
    return this.#locals.findLast(([known]) => known === name)?.[1];
  }

  #path(expr: Expr): readonly string[] {
    const local = expr.kind === 'ident' ? this.#local(expr.name) : undefined;
    return local?.path ?? this.#paths.get(expr) ?? [];
  }

  #known(path: readonly string[]): Size | undefined {
    const max = path.length === 0 ? undefined : this.#sizeOf(path);
    return max === undefined ? undefined : { min: 0, max };
  }

  #size(expr: Expr): Size | undefined {
    const known = this.#sizes.get(expr) ?? sizeOfLiteral(expr) ?? this.#known(this.#path(expr));
    if (known) return known;
    if (isScalar(typeOf(expr))) return fixed(1);
    return expr.kind === 'ident' ? this.#local(expr.name)?.size : undefined;
  }

  #entry(expr: Expr): Entry | undefined {
    return this.#entries.get(expr) ?? (expr.kind === 'ident' ? this.#local(expr.name)?.entry : undefined);
  }

  #copySize(to: Expr, size: Size | undefined): void {
    if (size) this.#sizes.set(to, size);
  }

  #copySizes(to: Expr, from: Expr): void {
    this.#copySize(to, this.#size(from));
    const entry = this.#entry(from);
    if (entry) this.#entries.set(to, entry);
  }

  #joinEntries(to: Expr, one: Expr, other: Expr): void {
    const [left, right] = [this.#entry(one), this.#entry(other)];
    if (!left || !right) return;
    this.#entries.set(to, { kind: left.kind, key: join(left.key, right.key), value: join(left.value, right.value) });
  }
}

const typeOf = (expr: Expr): CelType => expr.type ?? DYN;

function isBinding({ range, condition, accumulator }: Fold): boolean {
  const isEmpty = range.kind === 'list' && range.elements.length === 0;
  return isEmpty && condition.kind === 'literal' && condition.value === false && accumulator !== '__result__';
}

function sizeOfLiteral(expr: Expr): Size | undefined {
  if (expr.kind === 'list') return fixed(expr.elements.length);
  if (expr.kind === 'map') return fixed(expr.entries.length);
  if (expr.kind !== 'literal') return undefined;
  if (typeof expr.value === 'string') return fixed(Array.from(expr.value).length);
  return fixed(expr.value instanceof Uint8Array ? expr.value.length : 1);
}

function isScalar(type: CelType): boolean {
  if (isOptional(type)) return isScalar(type.params[0] as CelType);
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind);
}
