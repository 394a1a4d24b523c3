/**
 * JSON as Go writes it into messages: keys in order, and nothing in it that a web page would take for a tag. A Map stands
 * for a struct, whose fields stay as they are declared.
 */
import { goNumber, plain } from './go-text.ts';

export function goJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
      return number(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'object': {
      if (value === null) return 'null';
      if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
      if (value instanceof Map) return fields([...(value as Map<string, unknown>)]);
      const entries = Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .toSorted(([one], [other]) => (one < other ? -1 : 1));
      return fields(entries);
    }
    default:
      return 'null';
  }
}

function fields(entries: readonly (readonly [string, unknown])[]): string {
  return `{${entries.map(([key, item]) => `${quote(key)}:${goJson(item)}`).join(',')}}`;
}

const escaped = /[<>&\u2028\u2029]/g;

function quote(text: string): string {
  return JSON.stringify(text).replace(escaped, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function number(value: number): string {
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-6 || size >= 1e21) ? goNumber(value).replace(/e([+-])0(\d)$/, 'e$1$2') : plain(value);
}
