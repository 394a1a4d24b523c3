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

test('what is dated by a clock that goes on while the machine sleeps is told by that of the node', async () => {
  for (const asleep of [8 * 3_600_000, -600_000, 0]) {
    let now = 1_000_000;
    let slept = 0;
    const machine = new MemoryMachine(() => now + slept);
    const runs = await Runs.open(machine.host, '/node', () => now);
    slept = asleep;
    await runs.begin(KEY, { ...BEGIN, argv: ['exit', '7'] }, ignore);
    const { startedAt, end } = (await runs.read(KEY)) ?? {};
    assert.deepEqual([startedAt, end?.at], [1_000_000, 1_000_000], `asleep for ${asleep}`);
    slept += 500; // clocks that drift apart
    now += 60_000;
    assert.equal((await runs.read(KEY))?.end?.at, 1_000_000, 'the next look says the same');
  }
});

test('a run for which there is no room on the disk is not begun', async () => {
  for (const missing of ['main', 'exit.new', 'up', 'intent']) {
    const machine = new MemoryMachine(() => 0);
    const { files } = machine.host;
    const write: typeof files.write = async (path, ...more) => {
      if (path.endsWith(`/0/${missing}`)) throw new Error('ENOSPC');
      await files.write(path, ...more);
    };
    const runs = await Runs.open({ ...machine.host, files: { ...files, write } }, '/node', () => 0);
    await assert.rejects(runs.begin(KEY, { ...BEGIN, isBoxed: true, argv: ['forever'] }, ignore), /ENOSPC/, missing);
    assert.deepEqual(machine.begun, []);
  }
});

test('a box is made when it says so, not when there is room for saying it', async () => {
  const machine = new MemoryMachine(() => 0);
  const runs = await Runs.open(machine.host, '/node', () => 0);
  await runs.begin(KEY, { ...BEGIN, isBoxed: true, argv: ['forever'] }, ignore);
  const up = join(runs.runFolder(KEY), 'up');
  assert.equal((await runs.read(KEY))?.state, 'starting');
  // As it is now, and as versions before had it.
  for (const [text, state] of [
    ['\n\n', 'running'],
    ['', 'starting'],
    ['\n', 'running'],
  ] as const) {
    await machine.host.files.write(up, text);
    assert.equal((await runs.read(KEY))?.state, state, JSON.stringify(text));
  }
});

test('files that a loss of power left empty keep no node from starting, and no run from being over', async () => {
  const machine = new MemoryMachine(() => 0);
  const { files } = machine.host;
  const before = await Runs.open(machine.host, '/node', () => 0);
  await before.begin(KEY, { ...BEGIN, argv: ['forever'] }, ignore);
  const folder = before.runFolder(KEY);
  const kept = await files.read(join(folder, 'main'));
  machine.restart();
  for (const text of ['', 'null', '{"attempt":']) {
    for (const main of [kept ?? '', '']) {
      for (const name of ['intent', 'stop']) await files.write(join(folder, name), text);
      await files.write(join(folder, 'main'), main);
      await files.write('/node/owner', text);
      const runs = await Runs.open(machine.host, '/node', () => 0);
      const { state, end, isPast, stop } = (await runs.read(KEY, true)) ?? {};
      assert.deepEqual([state, end?.reason, isPast, stop], ['ended', LOST_REASON, true, undefined]);
    }
  }
  // Its claim may have been lost as well: nobody can say that it never began.
  await files.remove(join(folder, 'claim'));
  await files.remove(join(folder, 'main'));
  const runs = await Runs.open(machine.host, '/node', () => 0);
  assert.equal((await runs.read(KEY, true))?.end?.reason, LOST_REASON);
});

test('a run that is there goes on, also if it cannot be read how it was meant', async () => {
  const machine = new MemoryMachine(() => 0);
  const runs = await Runs.open(machine.host, '/node', () => 0);
  await runs.begin(KEY, { ...BEGIN, argv: ['forever'] }, ignore);
  await machine.host.files.write(join(runs.runFolder(KEY), 'intent'), '');
  assert.equal((await runs.read(KEY, true))?.state, 'running');
});
