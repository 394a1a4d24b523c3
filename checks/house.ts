/** Small rules of the house for every file: its size, and no path or registry of one machine in what is committed. */
import { isTypeScript, type SourceFile } from './lib/source.ts';

export const MOST_LINES = 450;

export function checkSize(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => isTypeScript(path) || path.endsWith('.js'))
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > MOST_LINES)
    .map(({ path, lines }) => `${path}: ${lines} lines, the most is ${MOST_LINES}: one concept per file`);
}

const homes = ['home', 'Users', 'work'].map((folder) => `/${folder}/[a-z][a-z0-9._-]*/`);
const machine = new RegExp(`(?<![\\w.~$}/-])(?:${homes.join('|')}|/root/)`, 'i');
const registry =
  /https?:\/\/(?!registry\.npmjs\.org\/)[a-z0-9.:-]*(?:npm|maven|debian|pypi|pythonhosted|crates)[a-z0-9.:-]*\//i;

/** This file and its test hold what they look for. */
const isAboutThis = (path: string): boolean => path.startsWith('checks/house.');

export function checkMachine(files: readonly SourceFile[]): readonly string[] {
  const problems: string[] = [];
  for (const { path, text } of files) {
    if (isAboutThis(path) || text.includes('\0')) continue; // binary files are not text
    text.split('\n').forEach((line, index) => {
      const found = machine.exec(line) ?? registry.exec(line);
      if (found) problems.push(`${path}:${index + 1}: names this machine or its registry: ${found[0]}`);
    });
  }
  return problems;
}

/** What must not be left behind: undone work, switched-off tests, silenced tools. */
const leftovers: readonly { readonly pattern: RegExp; readonly message: string }[] = [
  {
    pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/,
    message: 'work left undone',
  },
  {
    pattern: /(?:biome-ignore|oxlint-disable|eslint-disable|@ts-(?:ignore|expect-error|nocheck))\b/,
    message: 'a silenced tool',
  },
  { pattern: /\b(?:test|it|describe|suite)\.(?:skip|only|todo)\(/, message: 'a test switched off' },
  { pattern: /\b(?:skip|only|todo):\s*true\b/, message: 'a test switched off' },
];

export function checkLeftovers(files: readonly SourceFile[]): readonly string[] {
  const problems: string[] = [];
  for (const { path, text } of files) {
    if (!isTypeScript(path) || isAboutThis(path)) continue;
    text.split('\n').forEach((line, index) => {
      for (const { pattern, message } of leftovers) {
        if (pattern.test(line)) problems.push(`${path}:${index + 1}: ${message}: ${line.trim()}`);
      }
    });
  }
  return problems;
}
