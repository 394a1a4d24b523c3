import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '@reeve/kube';
import { constantRandom, VirtualClock } from '@reeve/runtime/testing';
import { keepTokenFresh, lifetimeMs } from './token.ts';

const HOUR_MS = 3_600_000;

function tokenOf(claims: object): string {
  return `head.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`;
}

class Host {
  readonly clock = new VirtualClock();
  readonly random = constantRandom(0.5);
  readonly written: string[] = [];
  readonly complaints: string[] = [];
  readonly stop = new AbortController();
  seconds = 86_400;
  failure: Error | undefined;
  readonly files = {
    read: async () => undefined,
    write: async (path: string, text: string) => void this.written.push(`${path} ${text.trim()}`),
    append: async () => undefined,
    remove: async () => undefined,
  };

  run(): Promise<void> {
    const accounts = {
      post: async <R extends object>(name: string, subresource: string, body: object): Promise<R> => {
        assert.deepEqual([name, subresource], ['account', 'token']);
        assert.deepEqual((body as { spec: object }).spec, { expirationSeconds: 86_400 });
        if (this.failure) throw this.failure;
        return { status: { token: tokenOf({ iat: 1_000, exp: 1_000 + this.seconds }) } } as unknown as R;
      },
    };
    const renewal = {
      accounts,
      account: 'account',
      tokenFile: '/id/token',
      failed: (message: string) => void this.complaints.push(message),
    };
    return keepTokenFresh(this, renewal, this.stop.signal);
  }
}

test('a token is renewed at the start and whenever half of its time is over, whatever the clocks say', async () => {
  const host = new Host();
  const running = host.run();
  await host.clock.advance(0);
  assert.equal(host.written.length, 1);
  assert.match(host.written[0] ?? '', /^\/id\/token head\./);
  await host.clock.advance(12 * HOUR_MS - 1);
  assert.equal(host.written.length, 1);
  await host.clock.advance(1);
  assert.equal(host.written.length, 2);
  host.seconds = 3_600; // the server gives less than was asked for
  await host.clock.advance(12 * HOUR_MS);
  assert.equal(host.written.length, 3);
  await host.clock.advance(HOUR_MS / 2);
  assert.equal(host.written.length, 4);
  host.stop.abort();
  await running;
  assert.equal(host.clock.sleeping, 0);
});

test('a server that does not answer is asked again soon; one that denies it seldom, and a person is told what to do', async () => {
  const host = new Host();
  host.failure = new Error('no connection');
  const running = host.run();
  await host.clock.advance(120_000);
  assert.equal(host.complaints.length, 3);
  host.failure = new KubeError('KUBE_FORBIDDEN', 'cannot create serviceaccounts/token');
  await host.clock.advance(60_000);
  assert.match(host.complaints.at(-1) ?? '', /reeve agent enroll --renew/);
  const count = host.complaints.length;
  await host.clock.advance(HOUR_MS - 1_000);
  assert.equal(host.complaints.length, count);
  host.failure = undefined;
  await host.clock.advance(HOUR_MS);
  assert.equal(host.written.length, 1, 'rights that were given meanwhile are used');
  host.stop.abort();
  await running;
});

test('how long a token lasts is what it says itself', () => {
  assert.equal(lifetimeMs(tokenOf({ iat: 5, exp: 65 })), 60_000);
  for (const odd of ['opaque', 'a.b.c', tokenOf({ exp: 5 }), tokenOf({ iat: 9, exp: 9 })]) {
    assert.equal(lifetimeMs(odd), 24 * HOUR_MS, odd);
  }
});
