/** What single calls cost at worst, and how large their results can be. */
import type { Expr } from './ast.ts';
import { AUTHORIZER_COST, LIST_COST, PER_CHARACTER, PER_PATTERN_CHARACTER } from './costs.ts';
import type { Overload } from './function.ts';
import { add, fixed, multiply, type Size, times, UNKNOWN } from './size.ts';
import type { CelType } from './type.ts';

export interface Operand {
  readonly expr: Expr;
  readonly type: CelType;
  readonly path: readonly string[];
  readonly size: Size | undefined;
}

export interface Estimate {
  readonly cost: number;
  readonly size?: Size | undefined;
  /** Arguments are not all evaluated; the caller adds them up itself. */
  readonly isShortCircuit?: boolean;
}

type Known = (path: readonly string[]) => Size | undefined;
type Estimator = (target: Operand | undefined, args: readonly Operand[], known: Known) => Estimate | undefined;

const sizeOf = (operand: Operand | undefined): Size => operand?.size ?? UNKNOWN;
const traverse = (size: number, factor = 1): number => Math.ceil(times(size, factor * PER_CHARACTER));
const ONE: Estimate = { cost: 1 };

/** Reads its first argument once. */
const argument =
  (factor: number, keepsSize = false): Estimator =>
  (_target, [first]) => {
    const size = sizeOf(first);
    return { cost: traverse(size.max, factor), ...(keepsSize ? { size } : {}) };
  };

/** Reads what it is called on. */
const receiver =
  (factor: number): Estimator =>
  (target) => {
    if (!target) return undefined;
    const size = sizeOf(target);
    return { cost: traverse(size.max, factor), size };
  };

function pattern(text: Size, source: Size): number {
  return times(Math.ceil((text.max + 1) * PER_CHARACTER), Math.ceil(times(source.max, PER_PATTERN_CHARACTER)));
}

const search: Estimator = (target, [source]) => {
  if (!target) return undefined;
  const size = sizeOf(target);
  return { cost: pattern(size, sizeOf(source)), size: { min: 0, max: size.max } };
};

/** All items, and all of their characters. */
const traversal: Estimator = (target, _args, known) => {
  if (!target) return undefined;
  const [element] = target.type.params;
  if (!element) return { cost: traverse(sizeOf(target).max) };
  const isText = element.kind === 'string' || element.kind === 'bytes';
  const size = known(target.path.length === 0 ? [] : [...target.path, '@items']) ?? UNKNOWN;
  return { cost: times(sizeOf(target).max, isText ? 1 + traverse(size.max) : 1) };
};

const join: Estimator = (target, [separator], known) => {
  if (!target) return undefined;
  const count = sizeOf(target);
  const element = known(target.path.length === 0 ? [] : [...target.path, '@items']) ?? UNKNOWN;
  const separators = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) };
  const items = target.type.params.length > 0 ? multiply(count, element) : fixed(0);
  const size = separator ? add(items, multiply(sizeOf(separator), separators)) : items;
  return { cost: traverse(size.max), size };
};

const replace: Estimator = (target, [part, by]) => {
  if (!target || !part || !by) return undefined;
  const size = sizeOf(target);
  const [old, fresh] = [sizeOf(part), sizeOf(by)];
  const most =
    old.min === 0
      ? { count: size.max + 1, kept: size.max }
      : fresh.max <= old.min
        ? { count: 0, kept: size.max }
        : { count: Math.ceil(size.max / old.min), kept: 0 };
  const least =
    old.max === 0
      ? { count: size.min + 1, kept: size.min }
      : old.max <= fresh.min
        ? { count: 0, kept: size.min }
        : { count: Math.ceil(size.min / old.max), kept: 0 };
  const result = { min: times(least.count, fresh.min) + least.kept, max: times(most.count, fresh.max) + most.kept };
  return { cost: traverse(size.max, 2), size: result };
};

const split: Estimator = (target, [, limit]) => {
  if (!target) return undefined;
  const size = sizeOf(target);
  const most =
    limit?.expr.kind === 'literal' && typeof limit.expr.value === 'bigint' ? Number(limit.expr.value) : size.max;
  return { cost: traverse(size.max, 2), size: { min: 0, max: most < 0 ? Infinity : most } };
};

const ADDRESS: Size = { min: 4, max: 16 };

const contains =
  (extra: number): Estimator =>
  (_target, [other]) => {
    const text = other?.type.kind === 'string' ? traverse(sizeOf(other).max) : 0;
    return { cost: traverse(ADDRESS.max * 2) + extra + text };
  };

const allocate = (factor: number, size: Size): Estimate => ({
  cost: Math.ceil(times(size.max, factor)) + 1 + LIST_COST,
  size,
});

function literalOf(operand: Operand | undefined, otherwise: number): number {
  const expr = operand?.expr;
  return expr?.kind === 'literal' && typeof expr.value === 'bigint' ? Math.max(0, Number(expr.value)) : otherwise;
}

const selfCompare =
  (keys: (target: Operand, args: readonly Operand[]) => Operand | undefined, isSort: boolean): Estimator =>
  (target, args) => {
    const list = target && keys(target, args);
    if (!list) return undefined;
    const element = list.type.params[0]?.kind;
    const isText = isSort && (element === 'string' || element === 'bytes');
    return allocate(isText ? 2 + PER_CHARACTER : 2, multiply(sizeOf(list), sizeOf(list)));
  };

const pairs =
  (factor: number): Estimator =>
  (_target, [one, other]) => ({ cost: times(times(sizeOf(one).max, sizeOf(other).max), factor) + 1 });

const selector: Estimator = (_target, [text]) => {
  const { max } = sizeOf(text);
  return { cost: LIST_COST + traverse(max) + Math.ceil(times(Math.ceil(times(max, 0.5)), LIST_COST + 40)) };
};

const LARGEST_NAMED_PATTERN = 128;

/** By the name of the function. */
const byName: Readonly<Record<string, Estimator>> = {
  check: () => ({ cost: AUTHORIZER_COST }),
  fieldSelector: selector,
  labelSelector: selector,
  isSorted: traversal,
  sum: traversal,
  max: traversal,
  min: traversal,
  indexOf: traversal,
  lastIndexOf: traversal,
  url: argument(1, true),
  lowerAscii: receiver(1),
  upperAscii: receiver(1),
  substring: receiver(1),
  trim: receiver(1),
  replace,
  split,
  join,
  find: search,
  findAll: search,
  matches: (target, [source]) => target && { cost: pattern(sizeOf(target), sizeOf(source)) },
  contains: (target, [part]) => target && { cost: times(traverse(sizeOf(target).max), traverse(sizeOf(part).max)) },
  startsWith: argument(1),
  endsWith: argument(1),
  format: (target) => target && { cost: traverse(sizeOf(target).max) },
  'strings.quote': (_target, [text]) => {
    const { min, max } = sizeOf(text);
    return { cost: traverse(max), size: { min: min + 2, max: max * 2 + 2 } };
  },
  cidr: argument(1),
  isIP: argument(1),
  isCIDR: argument(1),
  ip: (target, args, known) => (target ? ONE : argument(1)(target, args, known)),
  'ip.isCanonical': argument(2),
  containsIP: contains(0),
  containsCIDR: contains(traverse(ADDRESS.max) + 1),
  quantity: argument(1),
  isQuantity: argument(1),
  semver: argument(1),
  isSemver: argument(1),
  validate: (_target, [text]) => ({
    cost: Math.ceil(times(traverse(sizeOf(text).max), LARGEST_NAMED_PATTERN * PER_PATTERN_CHARACTER)),
  }),
  slice: (target, [start, end]) => {
    const size = literalOf(end, sizeOf(target).max) - literalOf(start, 0);
    return allocate(1, fixed(size));
  },
  flatten: (target, [depth]) => allocate(depth ? literalOf(depth, Infinity) : 1, sizeOf(target)),
  'lists.range': (_target, [count]) => allocate(1, fixed(literalOf(count, Infinity))),
  reverse: (target) => allocate(1, sizeOf(target)),
  distinct: selfCompare((target) => target, false),
  sort: selfCompare((target) => target, true),
  '@sortByAssociatedKeys': selfCompare((_target, [keys]) => keys, true),
  'sets.contains': pairs(1),
  'sets.intersects': pairs(1),
  'sets.equivalent': pairs(2),
  '_==_': compared,
  '_!=_': compared,
};

/** As much as the smaller of the two can have. */
function compared(_target: Operand | undefined, [one, other]: readonly Operand[]): Estimate {
  if (one && other && one.type.name === other.type.name && one.type.fields === undefined) {
    const isOpaque = one.type.kind === 'opaque' || one.type.kind === 'object';
    if (isOpaque && one.type.params.length === 0) return ONE;
  }
  return { cost: traverse(Math.min(sizeOf(one).max, sizeOf(other).max)) };
}

const textOrder = /^(?:less|greater)(?:_equals)?_(?:string|bytes)_/;

export function callEstimate(
  name: string,
  { id }: Overload,
  target: Operand | undefined,
  args: readonly Operand[],
  known: Known,
): Estimate {
  if (name === '_&&_' || name === '_||_') return { cost: 0, isShortCircuit: true };
  if (name === '_?_:_') {
    const [yes, no] = [sizeOf(args[1]), sizeOf(args[2])];
    const size = { min: Math.min(yes.min, no.min), max: Math.max(yes.max, no.max) };
    return { cost: 0, size, isShortCircuit: true };
  }
  if (textOrder.test(id)) return compared(target, args);
  if (id === 'in_list') return { cost: sizeOf(args[1]).max };
  if (id === 'add_list') return { cost: 1, size: add(sizeOf(args[0]), sizeOf(args[1])) };
  if (id === 'add_string' || id === 'add_bytes') {
    const size = add(sizeOf(args[0]), sizeOf(args[1]));
    return { cost: traverse(size.max), size };
  }
  if (id === 'string_to_bytes' || id === 'bytes_to_string') {
    const { min, max } = sizeOf(args[0]);
    const size = id === 'string_to_bytes' ? { min, max: max * 4 } : { min: Math.floor(min / 4), max };
    return { cost: traverse(max), size };
  }
  const estimator = Object.hasOwn(byName, name) ? byName[name] : undefined;
  return estimator?.(target, args, known) ?? ONE;
}
