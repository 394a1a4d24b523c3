/** Names of fields in expressions: what the language reserves or does not allow is written differently there. */
const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const signs: Readonly<Record<string, string>> = { __: 'underscores', '.': 'dot', '-': 'dash', '/': 'slash' };
const names = new Map(Object.entries(signs).map(([sign, name]) => [name, sign]));

/** `a-b` as `a__dash__b`; nothing when no expression can name the field. */
export function escapeName(name: string): string | undefined {
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[./-]/g, (sign) => `__${signs[sign]}__`);
}

/** Whether this stands for a reserved word. */
export const isEscapedWord = (escaped: string): boolean =>
  escaped.startsWith('__') && escaped.endsWith('__') && reserved.has(escaped.slice(2, -2));

/** Back again; nothing when it cannot have been made by `escapeName`. */
export function unescapeName(escaped: string): string | undefined {
  let isWrong = false;
  const name = escaped.replace(/__([^_]+)__/g, (whole, inner: string) => {
    const sign = names.get(inner);
    if (sign !== undefined) return sign;
    if (reserved.has(inner) && whole.length === escaped.length) return inner;
    isWrong = true;
    return '';
  });
  return isWrong ? undefined : name;
}
