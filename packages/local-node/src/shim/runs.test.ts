/** Runs on a machine in memory, with files as a full disk or a loss of power leaves them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import { MemoryMachine } from '../host/memory-host-testing.ts';
import { LOST_REASON } from './instance.ts';
import { Runs } from './runs.ts';

const KEY = { uid: 'u', container: 'main', attempt: 0 };
const BEGIN = { env: {}, driver: 'plain', image: 'host', isBoxed: false, delayMs: 0 };
const ignore = () => undefined;

test('an exit code that was cut off is not taken for a success', async () => {
  for (const text of ['', '\n', ' \n', 'x\n', '-1\n']) {
    const machine = new MemoryMachine(() => 0);
    const runs = await Runs.open(machine.host, '/node', () => 0);
    await runs.begin(KEY, { ...BEGIN, argv: ['exit', '7'] }, ignore);
    assert.equal((await runs.read(KEY))?.end?.code, 7);
    await machine.host.files.write(join(runs.runFolder(KEY), 'exit'), text);
    const { end, state } = (await runs.read(KEY)) ?? {};
    assert.deepEqual([state, end?.code, end?.reason], ['ended', 137, LOST_REASON], JSON.stringify(text));
  }
});
