import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolMachine } from '../machine-testing.ts';
import { FetchWork } from '../fetch/work.ts';
import { mend } from './mend.ts';

const { signal } = new AbortController();

function workOn(machine: ToolMachine): FetchWork {
  return new FetchWork({ host: machine.host, folder: '/f', environment: {}, signal });
}

test('a text that stands there once becomes another one; any other file is one that nobody has seen', async () => {
  const machine = new ToolMachine();
  machine.put('/f/a.properties', 'x=1\nversion=2\n');
  const work = workOn(machine);
  const change = { type: 'text', file: 'a.properties', from: 'version=2\n', to: 'version=3\n' } as const;
  await mend(work, change);
  assert.equal(await work.files.read('/f/a.properties'), 'x=1\nversion=3\n');
  await assert.rejects(mend(work, change), /a\.properties is not as expected: it has "version=2\\n" 0 times/);
  await assert.rejects(mend(work, { ...change, file: 'b' }), /what was fetched has no b in it/);
  await assert.rejects(
    mend(work, { ...change, within: 'META-INF/MANIFEST.MF' }),
    /a\.properties is not as expected: it is no zip archive/,
  );
});
