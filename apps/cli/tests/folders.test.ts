/** Folders of the command line build on each other in one direction: what needs each other belongs together. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const src = fileURLToPath(new URL('../src/', import.meta.url));
/** What is put together, and what everybody uses. */
const TOP = '.';

function importsByFolder(): ReadonlyMap<string, ReadonlySet<string>> {
  const folders = new Map<string, Set<string>>();
  for (const path of globSync('*/**/*.ts', { cwd: src }).filter((one) => !one.endsWith('test.ts'))) {
    const folder = dirname(path);
    const known = folders.get(folder) ?? new Set();
    folders.set(folder, known);
    for (const [, to = ''] of readFileSync(join(src, path), 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
      const other = dirname(normalize(join(folder, to)));
      if (other !== folder && other !== TOP) known.add(other);
    }
  }
  return folders;
}

test('no two folders need each other, not even by others in between', () => {
  const folders = importsByFolder();
  assert.ok(folders.size > 8, `only ${folders.size} folders found`);
  const wayBack = (from: string, to: string, passed: ReadonlySet<string>): readonly string[] | undefined => {
    for (const next of folders.get(from) ?? []) {
      if (next === to) return [from, next];
      const rest = passed.has(next) ? undefined : wayBack(next, to, new Set([...passed, next]));
      if (rest) return [from, ...rest];
    }
    return undefined;
  };
  for (const folder of folders.keys()) assert.equal(wayBack(folder, folder, new Set([folder]))?.join(' → '), undefined);
});
