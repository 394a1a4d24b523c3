import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optionsOf } from '../src/args.ts';
import { allCommands } from '../src/commands.ts';
import { Harness } from './harness.ts';

test('every command and every option is in the script of every shell', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = await new Harness().run(`completion ${shell}`);
    assert.equal(code, 0);
    for (const { spec } of allCommands) {
      for (const word of spec.name.split(' ')) assert.ok(out.includes(word), `${shell}: ${word}`);
      for (const name of Object.keys(optionsOf(spec))) {
        assert.ok(out.includes(shell === 'fish' ? `-l ${name} ` : `--${name}`), `${shell}: ${spec.name} --${name}`);
      }
    }
  }
});

test('fish is offered what belongs to a command by the place of its words: redis is one, and a word of agent', async () => {
  const { out } = await new Harness().run('completion fish');
  const rules = out
    .split('\n')
    .filter((line) => line.startsWith('complete ') && !line.includes('__fish_use_subcommand'));
  /** What it does with `commandline -opc`, in our words. */
  const offered = (typed: string): readonly string[] => {
    const words = typed.split(' ');
    return rules.filter((rule) => {
      const condition = /-n '__reeve_after ([a-z -]+?)(; and test \(count \(commandline -opc\)\) -eq 2)?'/.exec(rule);
      assert.ok(condition, rule);
      const after = condition[1]?.split(' ') ?? [];
      const isAfter = after.every((word, index) => words[index + 1] === word);
      return isAfter && (condition[2] === undefined || words.length === 2);
    });
  };
  const verbs = (typed: string) => offered(typed).some((rule) => / -a '.*\breshard\b/.test(rule));
  assert.equal(verbs('reeve redis'), true);
  assert.equal(verbs('reeve agent redis'), false);
  assert.equal(verbs('reeve redis create'), false);
  const options = (typed: string) => offered(typed).map((rule) => / -l (\S+)/.exec(rule)?.[1]);
  const ofAgent = allCommands.find(({ spec }) => spec.name === 'agent redis');
  assert.ok(ofAgent);
  assert.deepEqual(options('reeve agent redis'), Object.keys(optionsOf(ofAgent.spec)));
  assert.ok(options('reeve redis create x').includes('replicas'));
});

test('another shell is refused', async () => {
  for (const line of ['completion', 'completion tcsh', 'completion bash zsh']) {
    assert.equal((await new Harness().run(line)).code, 2, line);
  }
});

test('every command has help that names what it takes', async () => {
  for (const { spec } of allCommands) {
    const { code, out } = await new Harness().run(`${spec.name} --help`);
    assert.equal(code, 0, spec.name);
    assert.ok(out.includes(`Usage: reeve ${spec.name}`), out);
    for (const [name, option] of Object.entries(optionsOf(spec))) {
      assert.ok(
        out.includes(option.short === undefined ? `  --${name}` : `  -${option.short}, --${name}`),
        `${spec.name} ${name}`,
      );
    }
  }
});
