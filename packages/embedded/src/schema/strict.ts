/** Strict field validation: what was given twice or is not known, and the words in which it is refused. */

/** `strict decoding error: unknown field "spec.x"`; `undefined` when there is nothing to complain about. */
export function strictDecodingError(duplicates: readonly string[], unknown: readonly string[]): string | undefined {
  const problems = strictProblems(duplicates, unknown);
  return problems.length === 0 ? undefined : `strict decoding error: ${problems.join(', ')}`;
}

/** One sentence each; with `fieldValidation=Warn` they are warnings. */
export function strictProblems(duplicates: readonly string[], unknown: readonly string[]): readonly string[] {
  return [
    ...duplicates.map((field) => `duplicate field "${field}"`),
    ...unknown.map((field) => `unknown field "${field}"`),
  ];
}

/** Keys that a text gives twice, by their paths. The text must be JSON; of what is not nothing is said. */
export function duplicateFields(text: string): readonly string[] {
  const found: string[] = [];
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/sy;
  const space = /[^"{}[\],:]*/y;
  /** Open objects and lists, with their keys and where we are in them. */
  const stack: { readonly keys: Set<string> | undefined; place: string; at: number; isKey: boolean }[] = [];
  const pathOf = (name: string): string => {
    const parts = [...stack.slice(0, -1).map(({ place }) => place), name];
    return parts.reduce((path, part) => (part.startsWith('[') || path === '' ? path + part : `${path}.${part}`), '');
  };
  let position = 0;
  for (;;) {
    space.lastIndex = position;
    space.exec(text);
    token.lastIndex = space.lastIndex;
    const match = token.exec(text);
    if (!match) return found;
    position = token.lastIndex;
    const [sign] = match;
    const top = stack.at(-1);
    switch (sign) {
      case '{':
        stack.push({ keys: new Set<string>(), place: '', at: 0, isKey: true });
        break;
      case '[':
        stack.push({ keys: undefined, place: '[0]', at: 0, isKey: false });
        break;
      case '}':
      case ']':
        stack.pop();
        break;
      case ',':
        if (!top) break;
        top.at++;
        if (top.keys) top.isKey = true;
        else top.place = `[${top.at}]`;
        break;
      case ':':
        if (top) top.isKey = false;
        break;
      default: {
        if (!top?.isKey || !top.keys) break;
        const name = JSON.parse(sign) as string;
        if (top.keys.has(name)) found.push(pathOf(name));
        top.keys.add(name);
        top.place = name;
      }
    }
  }
}
