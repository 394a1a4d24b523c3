import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { optionsOf } from '../src/args.ts';
import { allCommands } from '../src/commands.ts';
import { redisVerbs } from '../src/redis/verbs.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const verbs = new Map(redisVerbs.map(({ spec }) => [spec.name.slice('redis '.length), optionsOf(spec)]));

/** Command lines that a text tells people to run: the verb, and the options up to the end of the quoted part. */
function linesIn(text: string): readonly { readonly verb: string; readonly options: readonly string[] }[] {
  return [...text.matchAll(/reeve redis ([a-z-]+)([^`'"\n;]*)/g)].map(([, verb = '', rest = '']) => ({
    verb,
    options: [...rest.matchAll(/(?<=\s)--([a-z-]+)/g)].map((match) => match[1] as string),
  }));
}

const texts = globSync(
  [
    'operators/redis/src/**/*.ts',
    'packages/*/src/**/*.ts',
    'apps/cli/src/**/*.ts',
    'rig/src/*.ts',
    'README.md',
    'docs/**/*.md',
  ],
  {
    cwd: root,
  },
).filter((path) => !path.endsWith('.test.ts'));

test('every command line that messages, remedies and documents name exists, with its options', () => {
  const wrong: string[] = [];
  let found = 0;
  for (const path of texts) {
    for (const { verb, options } of linesIn(readFileSync(new URL(path, `file://${root}`), 'utf8'))) {
      const known = verbs.get(verb);
      found++;
      if (!known) wrong.push(`${path}: no verb ${verb}`);
      else
        for (const name of options)
          if (name !== 'help' && !(name in known)) wrong.push(`${path}: ${verb} has no --${name}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(found > 30, `only ${found} command lines found`);
});

test('no message sends people to a chart: there is none', () => {
  for (const path of texts.filter((one) => one.includes('/src/'))) {
    assert.doesNotMatch(readFileSync(new URL(path, `file://${root}`), 'utf8'), /\bthe chart\b/, path);
  }
});

test('every other command that messages and remedies name exists', () => {
  const known = new Set(allCommands.map(({ spec }) => spec.name.split(' ', 1)[0]));
  const wrong: string[] = [];
  for (const path of texts.filter((one) => one.includes('/src/'))) {
    for (const [, word = ''] of readFileSync(new URL(path, `file://${root}`), 'utf8').matchAll(/`reeve ([a-z]+)/g)) {
      if (!known.has(word)) wrong.push(`${path}: no command ${word}`);
    }
  }
  assert.deepEqual(wrong, []);
});
