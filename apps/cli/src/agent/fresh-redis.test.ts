import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConnectOptions, RedisPort } from '@reeve/redis';
import { VirtualClock } from '@reeve/runtime/testing';
import { FreshRedis } from './fresh-redis.ts';

const PEER = { host: '10.0.0.1', port: 6379 };

/** Files of a host, and who was asked by which password. */
class Host {
  readonly clock = new VirtualClock();
  readonly asked: string[] = [];
  readonly closed: string[] = [];
  readonly complaints: string[] = [];
  readonly stop = new AbortController();
  /** By turns, if there are more. */
  passwords: readonly string[] = ['old'];
  failure: Error | undefined;
  #reads = 0;

  async open(): Promise<{ readonly redis: FreshRedis; readonly following: Promise<void> }> {
    const redis = await FreshRedis.open(this.clock, {
      read: async () => {
        if (this.failure) throw this.failure;
        return { password: this.passwords[this.#reads++ % this.passwords.length] ?? '' };
      },
      connect: ({ password = '' }: ConnectOptions) => this.#port(password),
      failed: (message) => void this.complaints.push(message),
    });
    return { redis, following: redis.follow(this.stop.signal) };
  }

  #port(password: string): RedisPort {
    return {
      call: async () => {
        this.asked.push(password);
        return 'OK';
      },
      reads: async () => [],
      transaction: async () => [],
      migrateAuth: () => [password],
      close: async () => void this.closed.push(password),
    };
  }
}

test('files that have changed are followed; what was asked before comes to its end, and then the old way is closed', async () => {
  const host = new Host();
  const { redis, following } = await host.open();
  await redis.call(PEER, ['PING']);
  await host.clock.advance(60_000);
  await redis.call(PEER, ['PING']);
  host.passwords = ['new'];
  await host.clock.advance(30_000);
  await redis.call(PEER, ['PING']);
  assert.deepEqual(host.asked, ['old', 'old', 'new']);
  assert.deepEqual(redis.migrateAuth(), ['new']);
  await host.clock.advance(500_000);
  assert.deepEqual(host.closed, []);
  await host.clock.advance(130_000);
  assert.deepEqual(host.closed, ['old']);
  host.stop.abort();
  await following;
  await redis.close();
  assert.deepEqual(host.closed, ['old', 'new']);
  assert.equal(host.clock.sleeping, 0);
});

test('files that change while they are read, or cannot be read, are looked at again', async () => {
  const host = new Host();
  const { redis, following } = await host.open();
  host.passwords = ['half', 'other half'];
  await host.clock.advance(30_000);
  host.failure = new Error('there is no such file');
  await host.clock.advance(30_000);
  assert.match(host.complaints[0] ?? '', /^files of password and certificates: there is no such file$/);
  await redis.call(PEER, ['PING']);
  host.failure = undefined;
  host.passwords = ['new'];
  await host.clock.advance(30_000);
  await redis.call(PEER, ['PING']);
  assert.deepEqual(host.asked, ['old', 'new']);
  host.stop.abort();
  await following;
  await redis.close();
});
