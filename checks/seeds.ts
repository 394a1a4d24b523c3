/**
 * docs/seeds.md: every statement of the five seeds, and where it is true. A row is
 *
 *     | 004-12 | Every slot is handled by a node. | `path/to/x.test.ts › title` |
 *
 * The last cell holds any number of: a test (`file › title`, nested: `file › suite › title`), a recorded decision
 * (`docs/designs/NAME.md`), or `open: issue N` / `open: later` for what a later issue brings. The check fails on a test
 * or a file that does not exist, on a gap in the numbers and on a row without proof.
 */
import type { SourceFile } from './lib/source.ts';

const SEEDS = ['000', '001', '002', '003', '004'];
const row = /^\|\s*(\d{3})-(\d{2,3})\s*\|\s*(.*?)\s*\|\s*(.*?)\s*\|\s*$/;

export function checkSeeds(page: string, files: readonly SourceFile[]): readonly string[] {
  const problems: string[] = [];
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const counted = new Map<string, number>();
  const declared = new Map<string, number>();
  page.split('\n').forEach((line, index) => {
    const at = `docs/seeds.md:${index + 1}`;
    const heading = /^## (\d{3}) .*\((\d+) statements\)$/.exec(line);
    if (heading) declared.set(heading[1] as string, Number(heading[2]));
    const match = row.exec(line);
    if (!match) {
      if (/^\|\s*\d{3}-/.test(line)) problems.push(`${at}: not a row: ${line}`);
      return;
    }
    const [, seed, number, statement, proof] = match as unknown as [string, string, string, string, string];
    const expected = (counted.get(seed) ?? 0) + 1;
    counted.set(seed, expected);
    if (Number(number) !== expected)
      problems.push(`${at}: ${seed}-${number} should be ${seed}-${String(expected).padStart(2, '0')}`);
    if (statement === '') problems.push(`${at}: no statement`);
    problems.push(...checkProof(proof, texts).map((problem) => `${at}: ${seed}-${number}: ${problem}`));
  });
  for (const seed of SEEDS) {
    const rows = counted.get(seed) ?? 0;
    if (rows === 0) problems.push(`docs/seeds.md: no row of seed ${seed}`);
    else if (declared.get(seed) !== rows) {
      problems.push(
        `docs/seeds.md: seed ${seed} says ${declared.get(seed) ?? 'no number of'} statements and has ${rows}`,
      );
    }
  }
  return problems;
}

function checkProof(proof: string, texts: ReadonlyMap<string, string>): readonly string[] {
  const references = [...proof.matchAll(/`([^`]+)`/g)].map((match) => match[1] as string);
  const open = /\bopen: (?:issue \d+|later)\b/.test(proof);
  if (references.length === 0 && !open) return ['no test, no decision, not marked open'];
  return references.flatMap((reference) => checkReference(reference, texts));
}

function checkReference(reference: string, texts: ReadonlyMap<string, string>): readonly string[] {
  const [path, ...titles] = reference.split(' › ') as [string, ...string[]];
  const text = texts.get(path);
  if (text === undefined) return [`${path} does not exist`];
  if (titles.length === 0) {
    return path.startsWith('docs/') ? [] : [`${path}: name a test in it (file › title), or a decision in docs/`];
  }
  if (!path.endsWith('.test.ts')) return [`${path} is not a test file`];
  return titles.filter((title) => !hasTitle(text, title)).map((title) => `${path} has no test '${title}'`);
}

/** Titles made of a template count when what was filled in stands in the file as a text of its own. */
function hasTitle(text: string, title: string): boolean {
  const there = [...titlesOf(text)];
  if (there.includes(title)) return true;
  return there.some((template) => {
    const parts = template.split(/\$\{[^}]*\}/);
    if (parts.length === 1) return false;
    const pattern = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('(.+)');
    const filled = new RegExp(`^${pattern}$`).exec(title)?.slice(1);
    return filled?.every((word) => ["'", '"', '`'].some((quote) => text.includes(quote + word + quote))) ?? false;
  });
}

/** The titles given to test, it, describe and suite, as written (templates with their `${…}`). */
export function titlesOf(text: string): ReadonlySet<string> {
  const titles = new Set<string>();
  for (const match of text.matchAll(/\b(?:test|it|describe|suite)\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g)) {
    titles.add((match[2] as string).replace(/\\(['"`])/g, '$1'));
  }
  return titles;
}
