import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listenOn } from './listen-on.ts';

const refusing =
  (code: string, ...ports: readonly number[]) =>
  async (port: number): Promise<number> => {
    if (ports.includes(port)) throw Object.assign(new Error(`listen ${code}`), { code });
    return port;
  };

test('the port that was asked for is taken, or refused with the reason', async () => {
  assert.equal(await listenOn({ wished: 80, known: 7 }, refusing('EACCES')), 80);
  const inUse = listenOn({ wished: 80, known: 7 }, refusing('EADDRINUSE', 80));
  await assert.rejects(inUse, { code: 'PORT_IN_USE', message: 'port 80 of 127.0.0.1 is in use' });
  const denied = listenOn({ wished: 80, known: 7 }, refusing('EACCES', 80));
  await assert.rejects(denied, { code: 'PORT_DENIED', message: 'this user may not listen on port 80 of 127.0.0.1' });
});

test('that of the last time is taken if it can be, else any', async () => {
  assert.equal(await listenOn({ wished: undefined, known: 7 }, refusing('EACCES')), 7);
  assert.equal(await listenOn({ wished: undefined, known: 7 }, refusing('EADDRINUSE', 7)), 0);
  assert.equal(await listenOn({ wished: undefined, known: 7 }, refusing('EACCES', 7)), 0);
  assert.equal(await listenOn({ wished: undefined, known: undefined }, refusing('EACCES')), 0);
});
