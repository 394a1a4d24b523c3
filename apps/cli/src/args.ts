/** Command lines as data: what a command takes, reading it with node's parseArgs, and its help. */
import { parseArgs } from 'node:util';
import { cliError, usage } from './errors.ts';

export type OptionSpec = {
  readonly help: string;
  /** One letter: `-n`. */
  readonly short?: string;
} & (
  | { readonly type: 'flag' }
  | { readonly type: 'text'; readonly value: string; readonly choices?: readonly string[] }
  | {
      readonly type: 'number';
      readonly value: string;
      readonly least?: number;
      readonly most?: number;
      readonly whole?: boolean;
    }
  /** May be given several times. */
  | { readonly type: 'list'; readonly value: string }
);

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export type Values<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends { readonly type: 'flag' }
    ? boolean
    : Specs[Name] extends { readonly type: 'list' }
      ? readonly string[]
      : Specs[Name] extends { readonly type: 'number' }
        ? number | undefined
        : string | undefined;
};

/** A group of options under a heading of the help. */
export interface OptionGroup {
  readonly title: string;
  readonly options: OptionSpecs;
}

export interface CommandSpec {
  /** As typed: `redis reshard`. */
  readonly name: string;
  /** What follows the name: `HOST:PORT --to NODE --slots N`. */
  readonly takes: string;
  readonly summary: string;
  readonly description: readonly string[];
  readonly groups: readonly OptionGroup[];
  readonly examples: readonly { readonly line: string; readonly what: string }[];
}

export function optionsOf(spec: CommandSpec): OptionSpecs {
  return Object.assign({}, ...spec.groups.map((group) => group.options)) as OptionSpecs;
}

export interface ParsedLine<Specs extends OptionSpecs = OptionSpecs> {
  readonly words: readonly string[];
  readonly values: Values<Specs>;
  readonly help: boolean;
}

/** Reads a command line by its spec. Throws USAGE with the word that is wrong and, for a slip of the keys, the right one. */
export function parseLine<Specs extends OptionSpecs>(specs: Specs, argv: readonly string[]): ParsedLine<Specs> {
  const { tokens, positionals } = parseArgs({
    args: [...argv],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      ...Object.fromEntries(
        Object.entries(specs).map(([name, spec]) => [
          name,
          {
            type: spec.type === 'flag' ? ('boolean' as const) : ('string' as const),
            ...(spec.short !== undefined && { short: spec.short }),
          },
        ]),
      ),
    },
  });
  const given = new Map<string, (string | true)[]>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    if (token.name === 'help') return { words: positionals, values: emptyValues(specs), help: true };
    const spec = specs[token.name];
    if (!spec) throw unknownOption(token.name, token.rawName, Object.keys(specs));
    given.set(token.name, [...(given.get(token.name) ?? []), checkGiven(spec, token.rawName, token.value)]);
  }
  const values: Record<string, unknown> = { ...emptyValues(specs) };
  for (const [name, list] of given) {
    const spec = specs[name] as OptionSpec;
    if (spec.type !== 'list' && list.length > 1) throw usage(`--${name} is given ${list.length} times`);
    values[name] = spec.type === 'list' ? list : readValue(spec, name, list[0] as string | true);
  }
  return { words: positionals, values: values as Values<Specs>, help: false };
}

function emptyValues<Specs extends OptionSpecs>(specs: Specs): Values<Specs> {
  const empty = { flag: false, list: [], text: undefined, number: undefined } as const;
  return Object.fromEntries(Object.entries(specs).map(([name, { type }]) => [name, empty[type]])) as Values<Specs>;
}

function checkGiven(spec: OptionSpec, rawName: string, value: string | undefined): string | true {
  if (spec.type === 'flag') {
    if (value !== undefined) throw usage(`${rawName} takes no value`);
    return true;
  }
  if (value === undefined || value === '') throw usage(`${rawName} needs a value: ${rawName} ${spec.value}`);
  // `--journal --yes`: the next option was taken for the value. Whoever means it writes --journal=--yes.
  if (/^--[a-z]/.test(value)) throw usage(`${rawName} needs a value: ${rawName} ${spec.value} (found ${value})`);
  return value;
}

function readValue(spec: OptionSpec, name: string, value: string | true): unknown {
  if (spec.type === 'text' && spec.choices && !spec.choices.includes(value as string)) {
    throw usage(`--${name} is one of ${spec.choices.join(', ')}, not '${String(value)}'`);
  }
  if (spec.type !== 'number') return value;
  const number = Number(value);
  const { least = 0, most = Number.POSITIVE_INFINITY, whole = true } = spec;
  if (!Number.isFinite(number) || String(value).trim() === '' || (whole && !Number.isInteger(number))) {
    throw usage(`--${name} is a ${whole ? 'whole ' : ''}number, not '${String(value)}'`);
  }
  if (number < least || number > most) {
    throw usage(
      `--${name} is ${number}: ${most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`}`,
    );
  }
  return number;
}

function unknownOption(name: string, rawName: string, known: readonly string[]): Error {
  // Elsewhere it is a slip of the keys, and there is no file to give.
  if (/^(?:p|pass|password|a|auth)$/.test(name) && known.includes('password-file')) {
    return cliError(
      'PASSWORD_ARGUMENT',
      `${rawName} is refused: other users of this machine can read arguments; use --password-file FILE or the prompt`,
    );
  }
  const near = nearest(name, [...known, 'help']);
  return usage(`unknown option ${rawName}${near ? `; did you mean --${near}?` : ''}`);
}

/** The known word that a mistyped one was most likely meant to be, or undefined. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const scored = known
    .map((candidate) => ({
      candidate,
      distance: candidate.startsWith(word) && word.length >= 3 ? 1 : editDistance(word, candidate),
    }))
    .sort((a, b) => a.distance - b.distance);
  const best = scored[0];
  return best && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : undefined;
}

/** Letters to change, add, leave out or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(at(i, j - 1) + 1, at(i - 1, j) + 1, at(i - 1, j - 1) + same, swapped));
    }
  }
  return at(a.length, b.length);
}

const HELP_WIDTH = 100;

export function helpText(spec: CommandSpec): string {
  const lines = [`reeve ${spec.name} — ${spec.summary}`, '', `Usage: reeve ${spec.name} ${spec.takes}`.trimEnd(), ''];
  for (const paragraph of spec.description) lines.push(...wrap(paragraph, HELP_WIDTH), '');
  for (const { title, options } of spec.groups) {
    if (Object.keys(options).length === 0) continue;
    lines.push(`${title}:`);
    for (const [name, option] of Object.entries(options)) {
      const names = option.short === undefined ? `--${name}` : `-${option.short}, --${name}`;
      const left = option.type === 'flag' ? names : `${names} ${option.value}`;
      const [first = '', ...rest] = wrap(option.help, HELP_WIDTH - 32);
      if (left.length > 28) lines.push(`  ${left}`, `${' '.repeat(32)}${first}`);
      else lines.push(`  ${left.padEnd(30)}${first}`);
      for (const line of rest) lines.push(`${' '.repeat(32)}${line}`);
    }
    lines.push('');
  }
  if (spec.examples.length > 0) {
    lines.push('Examples:');
    for (const { line, what } of spec.examples) lines.push(`  ${line}`, `      ${what}`);
    lines.push('');
  }
  return lines.join('\n');
}

export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
