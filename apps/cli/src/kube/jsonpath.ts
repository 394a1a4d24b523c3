/** The few forms of JSONPath in which definitions of custom kinds name the fields of their tables. */
type Step =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'item'; readonly index: number }
  | { readonly type: 'all' }
  | { readonly type: 'where'; readonly path: readonly string[]; readonly value: unknown };

/** The first value that is there; undefined: none, or the path is of a form that is not known here. */
export function valueAt(root: unknown, path: string): unknown {
  const steps = stepsOf(path);
  if (!steps) return undefined;
  let found: readonly unknown[] = [root];
  for (const step of steps) found = found.flatMap((value) => follow(value, step));
  return found[0];
}

function follow(value: unknown, step: Step): readonly unknown[] {
  switch (step.type) {
    case 'field': {
      const fields = typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
      return Object.hasOwn(fields, step.name) ? [fields[step.name]] : [];
    }
    case 'item':
      return Array.isArray(value) ? value.slice(step.index, step.index === -1 ? undefined : step.index + 1) : [];
    case 'all':
      return typeof value === 'object' && value !== null ? Object.values(value) : [];
    case 'where':
      return Array.isArray(value) ? value.filter((item) => isWhere(item, step)) : [];
  }
}

function isWhere(item: unknown, { path, value }: Extract<Step, { type: 'where' }>): boolean {
  let found: readonly unknown[] = [item];
  for (const name of path) found = found.flatMap((one) => follow(one, { type: 'field', name }));
  return found[0] === value;
}

const FIELD = /^\.((?:[^.[\\]|\\.)+)/;
const QUOTED = /^\[(?:'([^']*)'|"([^"]*)")\]/;
const ITEM = /^\[(-?\d+)\]/;
const ALL = /^(?:\[\*\]|\.\*)/;
const WHERE = /^\[\?\(\s*@\.([\w.-]+)\s*==\s*(?:'([^']*)'|"([^"]*)"|(true|false|-?\d+(?:\.\d+)?))\s*\)\]/;

function stepsOf(path: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let rest = path
    .trim()
    .replace(/^\{(.*)\}$/, '$1')
    .replace(/^\$/, '');
  if (rest !== '' && !rest.startsWith('.') && !rest.startsWith('[')) rest = `.${rest}`;
  while (rest !== '') {
    const [step, length] = stepAt(rest) ?? [];
    if (!step || !length) return undefined;
    steps.push(step);
    rest = rest.slice(length);
  }
  return steps;
}

function stepAt(text: string): readonly [Step, number] | undefined {
  const all = ALL.exec(text);
  if (all) return [{ type: 'all' }, all[0].length];
  const where = WHERE.exec(text);
  if (where) {
    const [whole, path = '', single, double, bare = ''] = where;
    const value = single ?? double ?? (JSON.parse(bare) as unknown);
    return [{ type: 'where', path: path.split('.'), value }, whole.length];
  }
  const item = ITEM.exec(text);
  if (item) return [{ type: 'item', index: Number(item[1]) }, item[0].length];
  const quoted = QUOTED.exec(text);
  if (quoted) return [{ type: 'field', name: quoted[1] ?? quoted[2] ?? '' }, quoted[0].length];
  const field = FIELD.exec(text);
  if (field) return [{ type: 'field', name: (field[1] ?? '').replace(/\\(.)/g, '$1') }, field[0].length];
  return undefined;
}
