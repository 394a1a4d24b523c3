/** Macros are written as calls and become folds and tests. What they make stands where the call's bracket stands. */
import type { Call, Expr, Fold, Ident, ListExpr, Literal } from './ast.ts';

/** No expression can name it. */
export const ACCUMULATOR = '@result';

export interface MacroError {
  readonly at: number;
  readonly message: string;
}

/** What the call stands for; `undefined` when it is no macro. */
export function expandMacro(
  at: number,
  name: string,
  target: Expr | undefined,
  args: readonly Expr[],
): Expr | MacroError | undefined {
  if (target === undefined) return name === 'has' && args.length === 1 ? presence(at, args[0] as Expr) : undefined;
  const macro = macros[`${name}/${args.length}`];
  return macro?.(new Maker(at), target, args);
}

type Macro = (make: Maker, target: Expr, args: readonly Expr[]) => Expr | MacroError;

/** Makes parts of an expansion, all at one place. */
class Maker {
  readonly at: number;

  constructor(at: number) {
    this.at = at;
  }

  ident(name: string): Ident {
    return { kind: 'ident', at: this.at, name };
  }

  accumulator(): Ident {
    return this.ident(ACCUMULATOR);
  }

  literal(value: Literal['value']): Literal {
    return { kind: 'literal', at: this.at, value };
  }

  list(...elements: readonly Expr[]): ListExpr {
    return { kind: 'list', at: this.at, elements, optional: new Set<number>() };
  }

  emptyMap(): Expr {
    return { kind: 'map', at: this.at, entries: [] };
  }

  call(name: string, ...args: readonly Expr[]): Call {
    return { kind: 'call', at: this.at, name, args };
  }

  method(name: string, target: Expr, ...args: readonly Expr[]): Call {
    return { kind: 'call', at: this.at, name, target, args };
  }

  fold(range: Expr, variables: Variables, parts: Pick<Fold, 'start' | 'condition' | 'step' | 'result'>): Fold {
    const [variable, second] = variables;
    return { kind: 'fold', at: this.at, range, variable, second, accumulator: ACCUMULATOR, ...parts };
  }

  /** Evaluates `value` once and lets `result` use it by name. */
  bind(name: string, value: Expr, result: Expr): Fold {
    const unused = { range: this.list(), variable: '#unused', condition: this.literal(false), step: this.ident(name) };
    return { kind: 'fold', at: this.at, accumulator: name, start: value, result, ...unused };
  }
}

type Variables = readonly [string, string | undefined];

function presence(at: number, arg: Expr): Expr | MacroError {
  if (arg.kind !== 'select' || arg.test) return { at: arg.at, message: 'invalid argument to has() macro' };
  return { kind: 'select', at, operand: arg.operand, field: arg.field, test: true };
}

const isError = (value: Variables | MacroError): value is MacroError => !Array.isArray(value);

function variablesOf(args: readonly Expr[], count: 1 | 2): Variables | MacroError {
  const names: string[] = [];
  for (const arg of args.slice(0, count)) {
    if (arg.kind !== 'ident') return { at: arg.at, message: 'argument must be a simple name' };
    if (arg.name === '__result__') {
      return { at: arg.at, message: 'iteration variable overwrites accumulator variable' };
    }
    if (names.includes(arg.name)) return { at: arg.at, message: `duplicate variable name: ${arg.name}` };
    names.push(arg.name);
  }
  return [names[0] as string, names[1]];
}

/** A macro over a range; `count` of its arguments are names, the others are given to `parts`. */
function over(
  count: 1 | 2,
  parts: (make: Maker, rest: readonly Expr[], names: Variables) => Pick<Fold, 'start' | 'step'> & Partial<Fold>,
): Macro {
  return (make, target, args) => {
    const names = variablesOf(args, count);
    if (isError(names)) return names;
    const defaults = { condition: make.literal(true), result: make.accumulator() };
    return make.fold(target, names, { ...defaults, ...parts(make, args.slice(count), names) });
  };
}

const all = (count: 1 | 2): Macro =>
  over(count, (make, [test]) => ({
    start: make.literal(true),
    condition: make.call('@not_strictly_false', make.accumulator()),
    step: make.call('_&&_', make.accumulator(), test as Expr),
  }));

const exists = (count: 1 | 2): Macro =>
  over(count, (make, [test]) => ({
    start: make.literal(false),
    condition: make.call('@not_strictly_false', make.call('!_', make.accumulator())),
    step: make.call('_||_', make.accumulator(), test as Expr),
  }));

const existsOne = (count: 1 | 2): Macro =>
  over(count, (make, [test]) => ({
    start: make.literal(0n),
    step: make.call('_?_:_', test as Expr, make.call('_+_', make.accumulator(), make.literal(1n)), make.accumulator()),
    result: make.call('_==_', make.accumulator(), make.literal(1n)),
  }));

/** With three arguments the first of the two expressions is a filter. */
const collect = (count: 1 | 2): Macro =>
  over(count, (make, rest) => {
    const step = make.call('_+_', make.accumulator(), make.list(rest.at(-1) as Expr));
    return { start: make.list(), step: filtered(make, rest, step) };
  });

const filter: Macro = over(1, (make, [test], [name]) => ({
  start: make.list(),
  step: make.call(
    '_?_:_',
    test as Expr,
    make.call('_+_', make.accumulator(), make.list(make.ident(name))),
    make.accumulator(),
  ),
}));

const transformMap: Macro = over(2, (make, rest, [key]) => {
  const step = make.call('cel.@mapInsert', make.accumulator(), make.ident(key), rest.at(-1) as Expr);
  return { start: make.emptyMap(), step: filtered(make, rest, step) };
});

const transformMapEntry: Macro = over(2, (make, rest) => {
  const step = make.call('cel.@mapInsert', make.accumulator(), rest.at(-1) as Expr);
  return { start: make.emptyMap(), step: filtered(make, rest, step) };
});

function filtered(make: Maker, rest: readonly Expr[], step: Expr): Expr {
  return rest.length === 2 ? make.call('_?_:_', rest[0] as Expr, step, make.accumulator()) : step;
}

const optional = (name: string, wrap: (make: Maker, value: Expr) => Expr): Macro => {
  return (make, target, [variable, value]) => {
    if (variable?.kind !== 'ident') {
      return { at: variable?.at ?? make.at, message: `${name}() variable name must be a simple identifier` };
    }
    return make.call(
      '_?_:_',
      make.method('hasValue', target),
      wrap(make, make.bind(variable.name, make.method('value', target), value as Expr)),
      make.call('optional.none'),
    );
  };
};

const sortBy: Macro = (make, target, args) => {
  if (!['list', 'select', 'ident', 'fold', 'call'].includes(target.kind)) {
    return {
      at: target.at,
      message: 'sortBy can only be applied to a list, identifier, comprehension, call or select expression',
    };
  }
  const input = '@__sortBy_input__';
  const keys = collect(1)(make, make.ident(input), args);
  if (!('kind' in keys)) return keys;
  return make.bind(input, target, make.method('@sortByAssociatedKeys', make.ident(input), keys));
};

/** By name and number of arguments. */
const macros: Readonly<Record<string, Macro>> = {
  'all/2': all(1),
  'all/3': all(2),
  'exists/2': exists(1),
  'exists/3': exists(2),
  'exists_one/2': existsOne(1),
  'exists_one/3': existsOne(2),
  'existsOne/3': existsOne(2),
  'map/2': collect(1),
  'map/3': collect(1),
  'filter/2': filter,
  'transformList/3': collect(2),
  'transformList/4': collect(2),
  'transformMap/3': transformMap,
  'transformMap/4': transformMap,
  'transformMapEntry/3': transformMapEntry,
  'transformMapEntry/4': transformMapEntry,
  'optMap/2': optional('optMap', (make, value) => make.call('optional.of', value)),
  'optFlatMap/2': optional('optFlatMap', (_make, value) => value),
  'sortBy/2': sortBy,
};
