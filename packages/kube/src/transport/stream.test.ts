import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noTls, serve, until } from './server-testing.ts';
import { Stream } from './stream.ts';

/** What waits for a reader before the connection does. */
const HIGH_WATER = 256 * 1024;
/** More than is read before the connection waits. */
const BURST = 8 * HIGH_WATER;
/** More than it takes to read until the connection waits again. */
const TURNS = 50;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('what comes while a stream rests is told after it, also if nothing follows', async (t) => {
  const server = await serve(t, 'http', (_request, response) => {
    response.write(Buffer.alloc(BURST, 1)); // and silence
  });
  let bytes = 0;
  const take = async (): Promise<number> => {
    const { body } = await stream.response;
    const reader = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>;
    const { value } = await reader.next();
    bytes += value?.length ?? 0;
    return value?.length ?? 0;
  };
  const readOn = async (): Promise<void> => {
    let isOpen = true;
    while (isOpen && bytes < BURST) isOpen = (await take()) > 0;
  };
  // A reader who had kept the connection waiting lets it go on in the middle of a rest: more comes in that rest.
  let hasLetGo = false;
  const gathering = {
    turn: async () => {
      await nextTurn();
      return true;
    },
    rest: async () => {
      if (hasLetGo) return;
      hasLetGo = (await take()) > HIGH_WATER;
      if (!hasLetGo) return;
      for (let turn = 0; turn < TURNS; turn++) await nextTurn();
      readOn().catch(() => undefined); // the test is over
    },
  };
  const request = { method: 'GET', path: '/', streaming: true } as const;
  const stream = new Stream(server.url, request, noTls, () => undefined, gathering);
  // Before the server goes, which waits for all connections of this process.
  using _ended = { [Symbol.dispose]: () => stream.destroy() };
  await until('all of it is told', () => bytes === BURST);
  assert.ok(hasLetGo, 'the connection was kept waiting');
});
