/** Functions and operators: what the checker knows of them, and what they do. */
import type { Meter } from './meter.ts';
import type { CelType } from './type.ts';
import {
  Duration,
  ListValue,
  MapValue,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
  typeName,
} from './value.ts';

export interface Overload {
  /** `size`, `_+_`, `optional.of` … */
  readonly name: string;
  readonly id: string;
  /** The first is the target of a method. */
  readonly params: readonly CelType[];
  readonly result: CelType;
  readonly isMethod: boolean;
  readonly run: Run;
  /** What `run` becomes when some arguments are constants; the others are undefined. */
  readonly prepare?: (constants: readonly (Value | undefined)[]) => Run | undefined;
}

export type Run = (args: readonly Value[], meter: Meter) => Value;

/** A function that is called by its name. */
export function fn(name: string, id: string, params: readonly CelType[], result: CelType, run: Run): Overload {
  return { name, id, params, result, isMethod: false, run };
}

/** A function that is called on its first argument. */
export function method(name: string, id: string, params: readonly CelType[], result: CelType, run: Run): Overload {
  return { name, id, params, result, isMethod: true, run };
}

/** Whether a value may be given for a parameter, as far as can be seen at run time. */
export function accepts(type: CelType, value: Value): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'error':
    case 'param':
      return true;
    case 'bool':
      return typeof value === 'boolean';
    case 'bytes':
      return value instanceof Uint8Array;
    case 'double':
      return typeof value === 'number';
    case 'duration':
      return value instanceof Duration;
    case 'int':
      return typeof value === 'bigint';
    case 'list':
      return value instanceof ListValue;
    case 'map':
      return value instanceof MapValue;
    case 'null':
      return value === null;
    case 'string':
      return typeof value === 'string';
    case 'timestamp':
      return value instanceof Timestamp;
    case 'type':
      return value instanceof TypeValue;
    case 'uint':
      return value instanceof Uint;
    case 'object':
    case 'opaque':
      if (value instanceof Optional) return type.name === 'optional_type';
      if (value instanceof Opaque) return typeName(value) === type.name;
      return type.fields !== undefined && value instanceof MapValue;
  }
}
