import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Access, Identity } from '../auth/access.ts';
import { testPorts } from '../ports/testing.ts';
import { authenticated, networkTransport } from './network.ts';
import { serve, trusted } from './server-testing.ts';
import { readBody } from './transport.ts';

function access(server: URL, tokens: readonly string[]): Access {
  let at = 0;
  return {
    server,
    identity: async () => ({ headers: { authorization: tokens[at] ?? '' }, tls: trusted }),
    rejected: async () => ++at < tokens.length,
  };
}

test('after a 401 there is one more try with what is new, and no other', async () => {
  const seen: unknown[] = [];
  let left = 0;
  const body: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.reject(new Error('read')),
      return: async () => {
        left++;
        return { done: true, value: undefined };
      },
    }),
  };
  const transport = (tokens: readonly string[]) =>
    authenticated(access(new URL('http://k'), tokens), {
      send: async ({ headers }) => {
        seen.push(headers?.authorization);
        return { status: headers?.authorization === 'good' ? 200 : 401, headers: {}, body };
      },
    });
  const get = { method: 'GET', path: '/' } as const;
  assert.equal((await transport(['old', 'good'])(get)).status, 200);
  assert.equal((await transport(['old'])(get)).status, 401);
  assert.equal((await transport(['old', 'older', 'good'])(get)).status, 401);
  assert.equal(left, 2, 'what is not passed on is let go');
  assert.deepEqual(seen, ['old', 'good', 'old', 'old', 'older']);
});

test('who waits for credentials can leave', async () => {
  const controller = new AbortController();
  const waiting: Access = {
    server: new URL('http://k'),
    identity: () => new Promise<Identity>(() => undefined),
    rejected: async () => false,
  };
  const transport = authenticated(waiting, { send: () => Promise.reject(new Error('sent')) });
  const sent = transport({ method: 'GET', path: '/', signal: controller.signal });
  controller.abort(new Error('enough'));
  await assert.rejects(sent, { message: 'enough' });
});

for (const kind of ['h2', 'https'] as const) {
  test(`watches of a server that speaks ${kind} go over the best it has`, async (t) => {
    const server = await serve(t, kind, (request, response) => void response.end(request.httpVersion));
    const network = networkTransport(access(server.url, ['t']), testPorts().clock, { watches: 'http2' });
    t.after(() => network.close());
    const response = await network.transport({ method: 'GET', path: '/', streaming: true });
    assert.equal((await readBody(response.body, 100)).toString(), kind === 'h2' ? '2.0' : '1.1');
  });
}
