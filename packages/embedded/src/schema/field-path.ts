/** The `fieldPath` of a rule: `.spec.name` or `['a.b']`, and only where the schema has such a field. */
import { additionalOf, type JsonSchema, propertyOf } from './json-schema.ts';

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
};

/** As messages say it, or nothing when the schema has no such field. */
export function normalizeFieldPath(path: string, schema: JsonSchema): string | undefined {
  const parts = parseFieldPath(path);
  let current: JsonSchema | undefined = schema;
  let text = '';
  for (const name of parts ?? []) {
    if (!current) return undefined;
    if (current.properties !== undefined) {
      text = text === '' ? name : `${text}.${name}`;
      current = propertyOf(current, name);
      if (!current) return undefined;
    } else if (current.additionalProperties !== undefined) {
      text = `${text}[${name}]`;
      current = additionalOf(current);
    } else return undefined;
  }
  return parts === undefined || text === '' ? undefined : text;
}

function parseFieldPath(path: string): readonly string[] | undefined {
  const parts: string[] = [];
  const step = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/sy;
  for (let at = 0; at < path.length; at = step.lastIndex) {
    step.lastIndex = at;
    const match = step.exec(path);
    if (!match) return undefined;
    const quoted = match[2]?.replace(/\\(.)/gs, (_whole, letter: string) => escapes[letter] ?? '\0');
    if (quoted?.includes('\0')) return undefined;
    parts.push(match[1] ?? (quoted as string));
  }
  return parts;
}
