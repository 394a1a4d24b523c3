/** Evaluates an expression and writes down what came of it, for tables. */
import assert from 'node:assert/strict';
import { goNumber } from '../format/go-text.ts';
import { formatInstant } from '../format/time.ts';
import { compile, type Outcome } from './environment.ts';
import type { Limits } from './meter.ts';
import { DYN } from './type.ts';
import {
  Duration,
  fromJson,
  ListValue,
  MapValue,
  Optional,
  Timestamp,
  TypeValue,
  typeName,
  Uint,
  type Value,
} from './value.ts';

export function show(value: Value): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return `double(${goNumber(value)})`;
  if (value instanceof Uint8Array) return `b'${Buffer.from(value).toString('hex')}'`;
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Timestamp) return formatInstant(value.nanos, 0);
  if (value instanceof Duration) return `${value.nanos}ns`;
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Optional) return value.value === undefined ? 'none' : `some(${show(value.value)})`;
  if (value instanceof ListValue) return `[${Array.from(value, show).join(', ')}]`;
  if (value instanceof MapValue) {
    const entries = Array.from(value.keys(), (key) => `${show(key)}: ${show(value.get(key) ?? null)}`);
    return `{${entries.toSorted().join(', ')}}`;
  }
  return typeName(value);
}

/** With `self` of any type. */
export function outcomeOf(text: string, self: unknown = null, limits?: Limits): Outcome {
  const program = compile(text, new Map([['self', DYN]]));
  if ('problem' in program) return { error: program.problem, exceeded: false, cost: 0, steps: 0 };
  const value = fromJson(self);
  return program.evaluate((name) => (name === 'self' ? value : undefined), limits);
}

/** The value, or `error: …` with the first line of what went wrong. */
export function result(text: string, self: unknown = null): string {
  const { value, error } = outcomeOf(text, self);
  if (error === undefined) return show(value as Value);
  return `error: ${error.split('\n')[0]}`;
}

/** One row a line: `expression => result`, and `| self = …` before the arrow if there is one. */
export function holds(table: string): void {
  for (const row of table.split('\n').filter((line) => line.includes(' => '))) {
    const [left = '', expected = ''] = row.trim().split(' => ');
    const [text = '', self = 'null'] = left.split(' | self = ');
    assert.equal(result(text.trim(), JSON.parse(self)), expected.trim(), text);
  }
}
