/** `a[b]` and `a[?b]`. */
import { EvaluationError, noSuchOverload } from './meter.ts';
import { ListValue, MapValue, NONE, Optional, showKey, typeName, Uint, type Value } from './value.ts';

export function at(container: Value, key: Value): Value {
  if (container instanceof Optional) return optionallyAt(container, key);
  const found = lookUp(container, key);
  if (found !== undefined) return found;
  throw new EvaluationError(
    container instanceof ListValue ? `index out of bounds: ${showKey(key)}` : `no such key: ${showKey(key)}`,
  );
}

export function optionallyAt(container: Value, key: Value): Optional {
  const inner = container instanceof Optional ? container.value : container;
  if (inner === undefined || inner === null) return NONE;
  const found = lookUp(inner, key);
  return found === undefined ? NONE : new Optional(found);
}

function lookUp(container: Value, key: Value): Value | undefined {
  if (container instanceof MapValue) return container.get(key);
  if (!(container instanceof ListValue)) throw noSuchOverload();
  const index = indexOf(key);
  return index >= 0 && index < container.length ? container.at(index) : undefined;
}

/** Whole numbers of any type. */
function indexOf(key: Value): number {
  if (typeof key === 'bigint') return Number(key);
  if (key instanceof Uint) return Number(key.value);
  if (typeof key === 'number' && Number.isInteger(key)) return key;
  throw new EvaluationError(`unsupported index type '${typeName(key)}' in list`);
}
