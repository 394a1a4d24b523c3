/** Values in the words of Go, for messages that are the server's own. */
import type { Json } from '@reeve/kube';
import { compareText } from './value.ts';

/** `%T` */
export function goType(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' || Number.isInteger(value) ? 'int64' : 'float64';
}

/** `%v` */
export function goPlain(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goPlain).join(' ')}]`;
  if (typeof value === 'object') {
    return `map[${sorted(value)
      .map(([key, item]) => `${key}:${goPlain(item)}`)
      .join(' ')}]`;
  }
  return String(value);
}

/** `%#v` */
export function goSyntax(value: Json): string {
  if (value === null) return 'interface {}(nil)';
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (typeof value === 'object') {
    const items = sorted(value).map(([key, item]) => `${JSON.stringify(key)}:${goSyntax(item)}`);
    return `map[string]interface {}{${items.join(', ')}}`;
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

function sorted(map: { [key: string]: Json }): [string, Json][] {
  return Object.entries(map).sort(([a], [b]) => compareText(a, b));
}
