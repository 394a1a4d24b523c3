/** `reeve down` while somebody else has the folder: who is asked, who is waited for and for how long, what a person is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReeveError } from '@reeve/runtime';
import { downLine } from '../src/up/down-line.ts';
import type { Holder } from '../src/up/holder.ts';
import { PATIENCE_MS, waitForNode, waitForStore } from '../src/up/wait-for-folder.ts';
import { IdleClock } from './harness.ts';

const STORE = { name: 'the store' };
const plane: Holder = { pid: 41, startTime: '1', bootId: 'b', command: 'up' };
const otherDown: Holder = { ...plane, pid: 42, command: 'down' };

interface Somebody {
  /** The store is free from then on. */
  readonly freeAtMs: number;
  readonly holder?: Holder;
  /** Whether a control plane answers by then. */
  readonly answers?: (afterMs: number) => boolean;
}

function scene({ freeAtMs, holder, answers = () => false }: Somebody) {
  const clock = new IdleClock();
  const began = clock.now();
  const lines: string[] = [];
  const stop = new AbortController();
  let asked = 0;
  const waiting = {
    clock,
    signal: stop.signal,
    path: '/data',
    again: 'reeve down --data /data',
    say: (line: string) => void lines.push(line),
    take: () => Promise.resolve(clock.now() - began >= freeAtMs ? STORE : undefined),
    holder: () => Promise.resolve(holder),
    ask: () => {
      asked++;
      return Promise.resolve(answers(clock.now() - began));
    },
  };
  return { waiting, lines, stop, passed: () => clock.now() - began, asked: () => asked };
}

test('a folder that nobody has is taken at once, and nobody is asked', async () => {
  const { waiting, lines, asked } = scene({ freeAtMs: 0 });
  assert.deepEqual(await waitForStore(waiting), { store: STORE, before: 'nobody', wasAsked: false });
  assert.deepEqual([lines, asked()], [[], 0]);
});

test('a control plane that hears is waited for as long as it answers: pods have their own time', async () => {
  const { waiting, lines } = scene({ freeAtMs: 10 * PATIENCE_MS, holder: plane, answers: () => true });
  assert.deepEqual(await waitForStore(waiting), { store: STORE, before: 'plane', wasAsked: true });
  assert.deepEqual(lines, ['Asked the control plane to end its pods and itself; waiting.']);
});

test('one that is stopping, and does not hear any more, is waited for, and that is said', async () => {
  const { waiting, lines } = scene({ freeAtMs: PATIENCE_MS - 1_000, holder: plane });
  assert.deepEqual(await waitForStore(waiting), { store: STORE, before: 'plane', wasAsked: false });
  assert.deepEqual(lines, ['Process 41 has /data in use and does not answer; waiting for its end, up to 30 s.']);
});

test('one that is about to end is not worth a word', async () => {
  const { waiting, lines } = scene({ freeAtMs: 500, holder: plane });
  await waitForStore(waiting);
  assert.deepEqual(lines, []);
});

test('one that gives no sign any more is not waited for without end, also when it had heard: a person is told what to type', async () => {
  for (const answers of [() => false, (afterMs: number) => afterMs < 60_000]) {
    const { waiting, passed } = scene({ freeAtMs: Number.POSITIVE_INFINITY, holder: plane, answers });
    await assert.rejects(waitForStore(waiting), {
      code: 'PLANE_SILENT',
      message: /process 41, the control plane of \/data, .* kill -9 41; reeve down --data \/data$/,
    });
    assert.ok(passed() < 60_000 + 2 * PATIENCE_MS, `${passed()} ms`);
  }
  const unknown = scene({ freeAtMs: Number.POSITIVE_INFINITY });
  await assert.rejects(waitForStore(unknown.waiting), { code: 'PLANE_SILENT', message: /nobody answers/ });
});

test('another reeve down is waited for as long as it lives, and not asked for anything', async () => {
  const { waiting, lines, asked } = scene({ freeAtMs: 10 * PATIENCE_MS, holder: otherDown });
  assert.deepEqual(await waitForStore(waiting), { store: STORE, before: 'other down', wasAsked: false });
  assert.deepEqual(lines, ['Another `reeve down` (process 42) is ending the pods; waiting for it.']);
  assert.equal(asked(), 0);
});

test('Ctrl-C ends the waiting', async () => {
  const { waiting, stop } = scene({ freeAtMs: Number.POSITIVE_INFINITY, holder: otherDown });
  const waited = waitForStore(waiting);
  stop.abort(new ReeveError('INTERRUPTED', 'stopped by Ctrl-C'));
  await assert.rejects(waited, { code: 'INTERRUPTED' });
});

const inUse = () =>
  Promise.reject(new ReeveError('NODE_FOLDER_IN_USE', 'it runs', { subjects: ['/data/nodes/node-1', '41'] }));

test('a node whose process is on its way out is waited for, and that is said', async () => {
  const { waiting, lines, passed } = scene({ freeAtMs: 0 });
  const open = () => (passed() < 5_000 ? inUse() : Promise.resolve('node'));
  assert.equal(await waitForNode(waiting, open), 'node');
  assert.deepEqual(lines, ['Process 41 is on its way out; waiting for its end, up to 30 s.']);
});

test('a node whose process does not end: a person is told what to type', async () => {
  const { waiting, passed } = scene({ freeAtMs: 0 });
  await assert.rejects(waitForNode(waiting, inUse), {
    code: 'PLANE_SILENT',
    message: /process 41, .* does not end\. To end it and the pods: kill -9 41; reeve down --data \/data$/,
  });
  assert.ok(passed() < PATIENCE_MS + 2_000);
  const other = () => Promise.reject(new ReeveError('NODE_DRIVER', 'none'));
  await assert.rejects(waitForNode(waiting, other), { code: 'NODE_DRIVER' });
});

test('what to type can be typed', () => {
  assert.equal(downLine(undefined), 'reeve down');
  assert.equal(downLine('/a/b-c'), 'reeve down --data /a/b-c');
  assert.equal(downLine("/it's here"), `reeve down --data '/it'\\''s here'`);
});
