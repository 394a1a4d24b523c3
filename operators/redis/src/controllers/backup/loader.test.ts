import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Ports, ReeveError } from '@reeve/runtime';
import { type Arg, RedisReplyError, type RedisPort, type Reply } from '../../api/port.ts';
import type { Endpoint } from '../../api/view.ts';
import type { SnapshotKey } from '../../client/rdb/walk.ts';
import { Loader } from './loader.ts';

const NOW = 1_000_000;

/** Two servers, one of which owns all slots; what one of them answers can be changed for its next call. */
class World {
  readonly taken = new Map<string, string>();
  readonly answers: (() => Reply)[] = [];
  owner = 'a';
  looks = 0;
  #now = NOW;

  readonly #call = async ({ host }: Endpoint, args: readonly Arg[]): Promise<Reply> => {
    const [name, key = '', ends] = args.map((arg) => (typeof arg === 'string' ? arg : arg.toString('latin1')));
    if (name !== 'RESTORE') return 'OK';
    const answer = this.answers.shift();
    if (answer) return answer();
    if (host !== this.owner) throw new RedisReplyError(`MOVED 1 ${this.owner}:1`, host);
    if (this.taken.has(key)) throw new RedisReplyError('BUSYKEY Target key name already exists.', host);
    this.taken.set(key, ends ?? '');
    return 'OK';
  };

  loader(): Loader {
    const clock = {
      now: () => this.#now,
      sleep: async (ms: number) => {
        this.#now += ms;
      },
    };
    const redis: Partial<RedisPort> = {
      call: this.#call,
      transaction: async (endpoint, commands) => {
        const replies: Reply[] = [];
        for (const args of commands) replies.push(await this.#call(endpoint, args));
        return replies;
      },
    };
    const environment = {
      redis: redis as RedisPort,
      ports: { clock } as unknown as Ports,
      signal: new AbortController().signal,
    };
    return new Loader(environment, 10, async () => {
      this.looks++;
      const owner = { host: this.owner, port: 1 };
      return new Array<Endpoint>(16_384).fill(owner);
    });
  }
}

const keyOf = (name: string, more: Partial<SnapshotKey> = {}): SnapshotKey => ({
  item: 'key',
  database: 0,
  key: Buffer.from(name),
  value: Buffer.from([0, 1, 118]),
  ...more,
});

async function load(world: World, ...items: readonly SnapshotKey[]): Promise<Loader> {
  const loader = world.loader();
  for (const item of items) await loader.add(item);
  await loader.flush();
  return loader;
}

const failing = (error: Error) => () => {
  throw error;
};

test('keys are brought with the time at which they end; those that have ended are not', async () => {
  const world = new World();
  const { counts } = await load(
    world,
    keyOf('plain'),
    keyOf('ends', { expireAt: NOW + 5 }),
    keyOf('ended', { expireAt: NOW }),
    keyOf('elsewhere', { database: 3 }),
  );
  assert.deepEqual(counts, { restored: 3, present: 0, expired: 1 });
  assert.deepEqual([...world.taken].sort(), [
    ['elsewhere', '0'],
    ['ends', String(NOW + 5)],
    ['plain', '0'],
  ]);
});

test('what is there is left alone, and brought twice it is counted', async () => {
  const world = new World();
  await load(world, keyOf('one'));
  assert.deepEqual((await load(world, keyOf('one'), keyOf('two'))).counts, { restored: 1, present: 1, expired: 0 });
});

test('a slot that moved, a server that restarts, a connection that broke: it is looked again, and goes on', async () => {
  const world = new World();
  const loader = world.loader();
  await loader.add(keyOf('one'));
  await loader.flush();
  world.owner = 'b';
  world.answers.push(failing(new ReeveError('REDIS_CONNECTION_LOST', 'lost')));
  for (const name of ['two', 'three']) await loader.add(keyOf(name));
  await loader.flush();
  assert.deepEqual(loader.counts, { restored: 3, present: 0, expired: 0 });
  assert.equal(world.looks, 2);
});

test('a server that cannot read the format, or is full, ends it; so does a connection that does not come back', async () => {
  const unreadable = new World();
  unreadable.answers.push(failing(new RedisReplyError('ERR DUMP payload version or checksum are wrong', 'a')));
  await assert.rejects(load(unreadable, keyOf('one')), { code: 'RESTORE_UNREADABLE' });
  const full = new World();
  full.answers.push(failing(new RedisReplyError("OOM command not allowed when used memory > 'maxmemory'.", 'a')));
  await assert.rejects(load(full, keyOf('one')), { code: 'TARGET_FULL' });
  const gone = new World();
  for (let n = 0; n < 1_000; n++) gone.answers.push(failing(new ReeveError('REDIS_UNREACHABLE', 'nobody there')));
  await assert.rejects(load(gone, keyOf('one')), { code: 'REDIS_UNREACHABLE' });
});
