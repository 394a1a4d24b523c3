import assert from 'node:assert/strict';
import { test } from 'node:test';
import { together } from './together.ts';

/** Until it is told to stop, and then takes a moment. */
function part(ended: string[], name: string) {
  return (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        queueMicrotask(() => {
          ended.push(name);
          resolve();
        });
      });
    });
}

test('when one part fails the others are told to stop, and waited for', { timeout: 10_000 }, async () => {
  const ended: string[] = [];
  const fails = async () => {
    throw new Error('no agent any more');
  };
  const running = together(new AbortController().signal, [part(ended, 'a'), fails, part(ended, 'b')]);
  await assert.rejects(running, /no agent any more/);
  assert.deepEqual(ended, ['a', 'b']);
});

test('a part that ends by itself ends the others', { timeout: 10_000 }, async () => {
  const ended: string[] = [];
  await together(new AbortController().signal, [part(ended, 'a'), async () => undefined]);
  assert.deepEqual(ended, ['a']);
});

test('all end when they are told to', async () => {
  const ended: string[] = [];
  const stop = new AbortController();
  const running = together(stop.signal, [part(ended, 'a'), part(ended, 'b')]);
  stop.abort();
  await running;
  assert.deepEqual(ended, ['a', 'b']);
});
