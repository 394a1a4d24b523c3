import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProcessRow } from './host.ts';
import { isMarkedThere, ownMark } from './process-mark.ts';

const machine = (rows: readonly Partial<ProcessRow>[], boot = 'b') => ({
  bootId: () => Promise.resolve(boot),
  self: () => ({ pid: 7, startTime: '100' }),
  find: (pid: number) => {
    const row = rows.find((one) => one.pid === pid);
    return row && { pid, startTime: '100', parent: 1, session: 7, isZombie: false, ...row };
  },
});

test('a process is known again by number, start and boot', async () => {
  const mark = await ownMark(machine([]));
  assert.deepEqual(mark, { pid: 7, startTime: '100', bootId: 'b' });
  assert.equal(await isMarkedThere(machine([{ pid: 7 }]), mark), true);
  assert.equal(await isMarkedThere(machine([]), mark), false);
  assert.equal(await isMarkedThere(machine([{ pid: 7, startTime: '200' }]), mark), false);
  assert.equal(await isMarkedThere(machine([{ pid: 7 }], 'other'), mark), false);
});

test('one that ended and was not reaped is gone', async () => {
  const mark = await ownMark(machine([]));
  assert.equal(await isMarkedThere(machine([{ pid: 7, isZombie: true }]), mark), false);
});
