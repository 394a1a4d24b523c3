/** Calls: which overload is meant by the values at hand, what it costs, and what can be prepared beforehand. */
import type { Call } from './ast.ts';
import { callCost } from './costs.ts';
import type { Step } from './evaluator.ts';
import { accepts, type Overload } from './function.ts';
import { EvaluationError, Meter, noSuchOverload } from './meter.ts';
import { typeName, type Value } from './value.ts';

/** Conversions of constants are done once; what cannot be converted makes no program. */
const conversions = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
]);

/** What a conversion makes of a constant; `undefined` for all other calls. */
export function convertConstant(expr: Call, constants: readonly (Value | undefined)[]): Value | undefined {
  const [constant] = constants;
  if (!conversions.has(expr.name) || constants.length !== 1 || constant === undefined) return undefined;
  return choose(expr, expr.overloads ?? [], [constant]).run([constant], new Meter());
}

export function planCall(expr: Call, steps: readonly Step[], constants: readonly (Value | undefined)[]): Step {
  const overloads = (expr.overloads ?? []).map((overload) => {
    const run = overload.prepare?.(constants);
    return run ? { ...overload, run } : overload;
  });
  const isFree = expr.name === '@in' && constants[1] !== undefined;
  const idOf = ({ id }: Overload): string => (overloads.length === 1 ? id : '');
  return (frame) => {
    const values = steps.map((step) => step(frame));
    let result: Value = null;
    let id = '';
    try {
      const overload = choose(expr, overloads, values);
      id = idOf(overload);
      result = overload.run(values, frame.meter);
    } finally {
      // What fails costs as much as what does not.
      if (!isFree) frame.meter.charge(callCost(expr.name, id, values, result));
    }
    return result;
  };
}

function choose(expr: Call, overloads: readonly Overload[], values: readonly Value[]): Overload {
  for (const overload of overloads) {
    if (overload.params.every((param, index) => accepts(param, values[index] as Value))) return overload;
  }
  if (conversions.has(expr.name)) {
    throw new EvaluationError(`no such overload: ${expr.name}(${values.map(typeName).join(', ')})`);
  }
  throw expr.name === 'size' ? new EvaluationError('no such overload: size') : noSuchOverload();
}
