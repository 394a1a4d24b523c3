/**
 * Reads the compact tables of the built-in kinds (`pod-table.ts` and its neighbours). A line that begins at the margin
 * names a type and its fields; lines that are indented go on.
 *
 *     Container: name:s! ports:[ContainerPort]containerPort+protocol~merge/containerPort resources:ResourceRequirements!
 *
 * After the colon of a field stands its type: `s` string, `n` int32, `l` int64, `f` float64, `b` boolean, `t` time, `q`
 * quantity, `i` int or string, `o` free object, `x` anything as one value, `d` anything, `{s}` map, `[s]` list, or a type of the table. A list
 * is atomic unless `set` or its keys (joined by `+`) follow; a map or a struct is granular unless `@atomic` follows
 * (`@granular` where the type itself says atomic). Then come `*` (an empty value is kept if it was given), `!` (always
 * written), `~` with the strategy and the merge key of strategic merge patches, `=` with the default. A string or number
 * that is always written has its zero as default.
 */
import { deduced, freeForm, untypedAtomic } from './deduced.ts';
import type { Field, ListType, MapType, PatchRule, Type } from './type.ts';

export type TypeTable = ReadonlyMap<string, Type>;

export function readTable(...texts: readonly string[]): TypeTable {
  const types = new Map<string, Type>();
  for (const { head, fields } of texts.flatMap(blocksOf)) {
    const [name = '', relation] = head.split('@');
    types.set(name, { map: new StructType(name, relation === 'atomic', fields, types) });
  }
  return types;
}

function blocksOf(text: string): { head: string; fields: string }[] {
  const blocks: { head: string; fields: string }[] = [];
  for (const line of text.split('\n')) {
    const last = blocks.at(-1);
    const head = /^([^\s:]+):/.exec(line)?.[1];
    if (head !== undefined) blocks.push({ head, fields: line.slice(head.length + 1) });
    else if (last !== undefined) last.fields += line;
  }
  return blocks;
}

/** Its fields are read when they are first needed: types refer to each other, and few of them are used by one program. */
class StructType implements MapType {
  readonly name: string;
  readonly atomic: boolean;
  readonly #text: string;
  readonly #types: TypeTable;
  #fields: ReadonlyMap<string, Field> | undefined;

  constructor(name: string, atomic: boolean, text: string, types: TypeTable) {
    this.name = name;
    this.atomic = atomic;
    this.#text = text;
    this.#types = types;
  }

  /** The same struct where a field says otherwise than the type whether it is one value. */
  as(atomic: boolean): StructType {
    return new StructType(this.name, atomic, this.#text, this.#types);
  }

  /** A struct without fields is published as an object of which nothing is known. */
  get element(): Type | undefined {
    return this.fields.size === 0 ? deduced : undefined;
  }

  get fields(): ReadonlyMap<string, Field> {
    this.#fields ??= new Map((this.#text.match(/\S+/g) ?? []).map((item) => readField(item, this.#types)));
    return this.#fields;
  }
}

const isNumber = (expression: string): boolean => /^[nlf]$/.test(expression);

const fieldPattern = /^([\w$-]+):(.+?)(\*?)(!?)(?:~([a-zA-Z+]+)(?:\/(\w+))?)?(?:=(.*))?$/;

function readField(text: string, types: TypeTable): [string, Field] {
  const match = fieldPattern.exec(text);
  if (!match) throw new Error(`broken table of types: ${text}`);
  const [, name = '', expression = '', pointer, always, strategy, mergeKey, given] = match;
  const type = readType(expression, types);
  const zero = zeroOf(expression, pointer === '*');
  const isKeyLike = always === '!' && pointer === '' && (expression === 's' || isNumber(expression));
  const standard = given ?? (isKeyLike ? '' : undefined);
  return [
    name,
    {
      type,
      presence: always === '!' ? 'always' : pointer === '*' ? 'pointer' : 'filled',
      ...(zero === undefined ? {} : { zero }),
      ...(standard === undefined ? {} : { default: isNumber(expression) ? Number(standard) : standard }),
      ...(strategy === undefined ? {} : { patch: patchRule(strategy, mergeKey) }),
    },
  ];
}

function patchRule(strategies: string, mergeKey: string | undefined): PatchRule {
  // `retainKeys` is a word for whoever makes patches; whoever applies them finds $retainKeys in the patch.
  const strategy = strategies.split('+').find((one) => one !== 'retainKeys') ?? '';
  return { strategy: strategy === 'merge' || strategy === 'replace' ? strategy : '', mergeKey: mergeKey ?? '' };
}

function readType(expression: string, types: TypeTable): Type {
  const [core = '', relation] = expression.split('@');
  if (core.startsWith('[')) return { list: listType(core, types) };
  if (core.startsWith('{')) {
    const element = readType(core.slice(1, -1), types);
    return { map: { fields: new Map<string, Field>([]), element, atomic: relation === 'atomic' } };
  }
  const simple = simpleTypes[core];
  if (simple) return simple;
  const type = types.get(core);
  if (!type) throw new Error(`the table of types has no ${core}`);
  if (relation === undefined || !(type.map instanceof StructType)) return type;
  return { map: type.map.as(relation === 'atomic') };
}

function listType(core: string, types: TypeTable): ListType {
  const end = core.lastIndexOf(']');
  const element = readType(core.slice(1, end), types);
  const how = core.slice(end + 1);
  if (how === '') return { relation: 'atomic', keys: [], element };
  return how === 'set' ? { relation: 'set', keys: [], element } : { relation: 'map', keys: how.split('+'), element };
}

const simpleTypes: Readonly<Record<string, Type>> = {
  s: { scalar: 'string' },
  n: { scalar: 'numeric', goScalar: 'int32' },
  l: { scalar: 'numeric', goScalar: 'int64' },
  f: { scalar: 'numeric', goScalar: 'float64' },
  b: { scalar: 'boolean' },
  t: { scalar: 'untyped', goScalar: 'Time' },
  q: { scalar: 'untyped', isQuantity: true },
  i: { scalar: 'untyped', goScalar: 'IntOrString' },
  o: freeForm,
  x: untypedAtomic,
  d: deduced,
};

/** Undefined for a struct: what it holds when empty depends on its own fields. */
function zeroOf(expression: string, pointer: boolean): Field['zero'] {
  if (pointer || /^(?:[[{]|[txd]$)/.test(expression)) return null;
  if (expression === 's') return '';
  if (isNumber(expression) || expression === 'i') return 0;
  if (expression === 'b') return false;
  return expression === 'q' ? '0' : undefined;
}
