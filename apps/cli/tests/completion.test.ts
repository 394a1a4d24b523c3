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
