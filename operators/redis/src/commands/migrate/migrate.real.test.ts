import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type Cluster,
  invariants,
  keySlot,
  nodeId,
  type Product,
  type Server,
  startCluster,
  startTraffic,
  tagForSlot,
  until,
} from '@reeve/rig';
import { type Handle, isHandle, type Outcome, systemClock, systemRandom } from '@reeve/runtime';
import type { Engine, MigrateSlots, Pace } from '../../api/commands.ts';
import type { RedisPort } from '../../api/port.ts';
import type { NodeRef } from '../../api/view.ts';
import { connectRedis } from '../../client/client.ts';
import { parseInfo } from '../../observe/parse.ts';
import { redisContext } from '../context.ts';
import { migrateHandler } from './handler.ts';

const THIRDS: readonly (readonly [number, number])[] = [
  [0, 5460],
  [5461, 10922],
  [10923, 16383],
];
/** Some windows of each third. */
const SHARES = ['0-299', '5461-5760', '10923-11222'];

class Bench {
  readonly cluster: Cluster;
  readonly refs: readonly NodeRef[];
  readonly redis: RedisPort;

  constructor(cluster: Cluster, refs: readonly NodeRef[], redis: RedisPort) {
    this.cluster = cluster;
    this.refs = refs;
    this.redis = redis;
  }

  server(index: number): Server {
    return this.cluster.primaries[index] as Server;
  }

  command(from: number, slots: string, engine: Engine, pace: Pace): MigrateSlots {
    const [source, target] = [this.refs[from], this.refs[3]] as [NodeRef, NodeRef];
    const others = this.refs.filter((ref) => ref !== source && ref !== target);
    return { type: 'migrate-slots', why: 'test', source, target, others, slots, engine, pace };
  }

  async migrate(command: MigrateSlots, redis: RedisPort = this.redis): Promise<Outcome> {
    const context = redisContext(redis, { clock: systemClock, random: systemRandom });
    const result: Outcome | Handle = await migrateHandler.run(command, context, new AbortController().signal);
    return isHandle(result) ? result.settled : result;
  }

  async stop(): Promise<void> {
    await this.redis.close();
    await this.cluster.stop();
  }
}

async function start(product: Product, more: Partial<Parameters<typeof startCluster>[0]> = {}): Promise<Bench> {
  const cluster = await startCluster({ product, primaries: 4, slots: THIRDS, nodeTimeoutMs: 10_000, ...more });
  const refs = await Promise.all(
    cluster.primaries.map(async (server) => ({ id: await nodeId(server), endpoint: server.endpoint })),
  );
  const { username, password } = cluster.access;
  const credentials = { ...(username ? { username } : {}), ...(password ? { password } : {}) };
  return new Bench(cluster, refs, connectRedis(credentials, { clock: systemClock }));
}

const READS: Readonly<Record<string, readonly string[]>> = {
  string: ['GET'],
  expiring: ['GET'],
  hash: ['HGETALL'],
  list: ['LRANGE', '0', '-1'],
  set: ['SMEMBERS'],
  sorted: ['ZRANGE', '0', '-1', 'WITHSCORES'],
  stream: ['XRANGE', '-', '+'],
  '\xff\x00binary': ['GET'],
};

/** One key of each type in each of the slots, with a time to live on some. */
async function fillAllTypes(bench: Bench, slots: readonly number[]): Promise<readonly string[]> {
  const tags: string[] = [];
  for (const slot of slots) {
    const tag = `{${tagForSlot(slot)}}`;
    tags.push(tag);
    const server = bench.server(THIRDS.findIndex(([first, last]) => slot >= first && slot <= last));
    await Promise.all([
      server.call('SET', `${tag}string`, 'value'),
      server.call('SET', `${tag}expiring`, 'value', 'EX', 600),
      server.call('HSET', `${tag}hash`, 'a', '1', 'b', '2'),
      server.call('RPUSH', `${tag}list`, 'x', 'y', 'z'),
      server.call('SADD', `${tag}set`, 'm', 'n'),
      server.call('ZADD', `${tag}sorted`, 1, 'one', 2, 'two'),
      server.call('XADD', `${tag}stream`, '1-1', 'field', 'value'),
      server.call('SET', Buffer.from(`${tag}\xff\x00binary`, 'latin1'), 'value'),
    ]);
  }
  return tags;
}

interface EpochsSeen {
  readonly id: string;
  readonly server: Server;
}

async function shardsOf(bench: Bench): Promise<Record<'source' | 'target' | 'replica', EpochsSeen>> {
  const [source, target] = [bench.refs[0]?.id ?? '', bench.refs[3]?.id ?? ''];
  const replicas = await Promise.all(
    bench.cluster.replicas.map(async (server) => ({
      server,
      id: await nodeId(server),
      ofSource: String(await server.call('CLUSTER', 'NODES')).includes(`myself,slave ${source}`),
    })),
  );
  const replica = replicas.find(({ ofSource }) => ofSource);
  assert.ok(replica);
  return { source: { id: source, server: bench.server(0) }, target: { id: target, server: bench.server(3) }, replica };
}

/** Raises the epoch of the source until its replica has heard of it and the target, which has the latest it knows, has not. */
async function raiseUnheard(source: EpochsSeen, target: EpochsSeen, replica: EpochsSeen): Promise<void> {
  const epochOf = async (whose: EpochsSeen, by: EpochsSeen): Promise<string> => {
    const lines = String(await by.server.call('CLUSTER', 'NODES')).split('\n');
    return lines.find((line) => line.startsWith(whose.id))?.split(' ')[6] ?? '';
  };
  await until('only the replica has heard', async () => {
    await target.server.call('CLUSTER', 'BUMPEPOCH');
    const latest = await epochOf(target, target);
    await until('the source has heard', async () => (await epochOf(target, source)) === latest);
    await source.server.call('CLUSTER', 'BUMPEPOCH');
    const raised = await epochOf(source, source);
    // Of the number itself it may hear from anybody.
    const hasHeard = async () =>
      Number(parseInfo(String(await target.server.call('CLUSTER', 'INFO'))).cluster_current_epoch) >= Number(raised);
    await until(
      'one of them has heard',
      async () => (await epochOf(source, replica)) === raised || (await hasHeard()),
      { everyMs: 1 },
    );
    return !(await hasHeard());
  });
}

async function assertOnTarget(bench: Bench, tags: readonly string[]): Promise<void> {
  const expected = ['value', 'value', 'a,1,b,2', 'x,y,z', 'm,n', 'one,1,two,2', '1-1,field,value', 'value'];
  for (const tag of tags) {
    const replies = await Promise.all(
      Object.entries(READS).map(([name, [command = '', ...rest]]) =>
        bench.server(3).call(command, Buffer.from(`${tag}${name}`, 'latin1'), ...rest),
      ),
    );
    // Sets and hashes have no order of their own.
    const texts = replies.map((reply, index) => (index === 4 ? String((reply as string[]).sort()) : String(reply)));
    assert.deepEqual(texts, expected, tag);
    assert.ok(Number(await bench.server(3).call('TTL', `${tag}expiring`)) > 500);
  }
}

describe('migrate-slots on real servers', () => {
  const paths: readonly (readonly [Product, Engine, Pace])[] = [
    ['redis', 'auto', 'gentle'],
    ['redis', 'auto', 'fast'],
    ['valkey', 'auto', 'gentle'],
    ['valkey', 'auto', 'fast'],
    ['valkey', 'windowed', 'fast'],
  ];
  for (const [product, engine, pace] of paths) {
    it(`${product}: three sources to one target at once under traffic (${engine}, ${pace})`, async () => {
      const bench = await start(product);
      try {
        const tags = await fillAllTypes(bench, [0, 150, 299, 5461, 5700, 10923, 11222]);
        const traffic = await startTraffic(bench.cluster.endpoints, { keys: 4000, writers: 6, patienceMs: 60_000 });
        const outcomes = await Promise.all(
          SHARES.map((slots, index) => bench.migrate(bench.command(index, slots, engine, pace))),
        );
        const result = await traffic.stop();
        for (const outcome of outcomes) assert.equal(outcome.status, 'done', JSON.stringify(outcome));
        assert.deepEqual(result.errors, []);
        assert.deepEqual(result.regressions, []);
        await until('all nodes agree', async () => {
          return (await invariants(bench.cluster.endpoints, { acknowledged: result.acknowledged })).length === 0;
        });
        await assertOnTarget(bench, tags);
      } finally {
        await bench.stop();
      }
    });
  }

  it('valkey with replicas: windowed, SETSLOT waits for them', async () => {
    const bench = await start('valkey', { replicas: 1 });
    try {
      const tags = await fillAllTypes(bench, [3, 40]);
      const outcome = await bench.migrate(bench.command(0, '0-99', 'windowed', 'fast'));
      assert.equal(outcome.status, 'done', JSON.stringify(outcome));
      await assertOnTarget(bench, tags);
      await until('all nodes agree', async () => (await invariants(bench.cluster.endpoints)).length === 0);
    } finally {
      await bench.stop();
    }
  });

  it('redis: a source that gives its last slot away becomes a replica in the middle of it, and that is fine', async () => {
    const bench = await start('redis', { extraConfig: ['cluster-allow-replica-migration yes'] });
    try {
      const outcome = await bench.migrate(bench.command(0, '0-5460', 'windowed', 'fast'));
      assert.equal(outcome.status, 'done', JSON.stringify(outcome));
      const lines = String(await bench.server(3).call('CLUSTER', 'NODES')).split('\n');
      assert.ok(lines.some((line) => line.startsWith(bench.refs[3]?.id ?? '') && line.includes(' 0-5460')));
    } finally {
      await bench.stop();
    }
  });

  it('redis: slots of a source that took a new epoch a moment ago are believed to be the target’s by all, its replicas too', async () => {
    const bench = await start('redis', { replicas: 1 });
    try {
      const { source, target, replica } = await shardsOf(bench);
      const bumping: RedisPort = {
        ...bench.redis,
        call: async (endpoint, args, options) => {
          const reply = await bench.redis.call(endpoint, args, options);
          // The last step before the hand-over, as these slots are empty.
          if (args.join(' ') === `CLUSTER SETSLOT 9 MIGRATING ${target.id}`)
            await raiseUnheard(source, target, replica);
          return reply;
        },
      };
      const outcome = await bench.migrate(bench.command(0, '0-9', 'windowed', 'fast'), bumping);
      assert.equal(outcome.status, 'done', JSON.stringify(outcome));
      await until('all nodes agree', async () => (await invariants(bench.cluster.endpoints)).length === 0);
    } finally {
      await bench.stop();
    }
  });

  describe('redis: after a crash', () => {
    let bench: Bench;
    before(async () => {
      // The source deletes a key once the target has it: a target that is killed must have it in its file by then.
      bench = await start('redis', { appendOnly: true, extraConfig: ['appendfsync always'] });
    });
    after(() => bench.stop());

    it('of the tool, the next run goes on, wherever it was', async () => {
      const slots = Array.from({ length: 60 }, (_, slot) => slot);
      const tags = await fillAllTypes(bench, slots.slice(0, 20));
      for (const calls of [60, 150, 300]) {
        let left = calls;
        const dying: RedisPort = {
          ...bench.redis,
          call: (...args) => {
            if (--left < 0) return Promise.reject(new Error('the tool is dead'));
            return bench.redis.call(...args);
          },
        };
        const outcome = await bench.migrate(bench.command(0, '0-59', 'windowed', 'fast'), dying);
        assert.notEqual(outcome.status, 'done');
      }
      assert.equal((await bench.migrate(bench.command(0, '0-59', 'windowed', 'gentle'))).status, 'done');
      await assertOnTarget(bench, tags);
      await until('all nodes agree', async () => (await invariants(bench.cluster.endpoints)).length === 0);
    });

    it('of the target, keys that are on both sides are sorted out', async () => {
      const values = new Map<string, string>();
      for (let n = 0; n < 20_000; n++) {
        const slot = keySlot(`k${n}`);
        if (slot < 100 || slot > 1100) continue;
        values.set(`k${n}`, `v${n}`);
      }
      await Promise.all([...values].map(([key, value]) => bench.server(0).call('SET', key, value)));
      const moving = bench.migrate(bench.command(0, '100-1100', 'windowed', 'gentle'));
      await until('some keys are over', async () => Number(await bench.server(3).call('DBSIZE')) > 300);
      await bench.server(3).kill9();
      await bench.server(3).restart();
      const outcome = await moving;
      // The engine waits for a restart; when it gave up before, the next run goes on.
      if (outcome.status !== 'done') {
        await until('the target is back', async () =>
          String(await bench.server(3).call('CLUSTER', 'INFO')).includes('state:ok'),
        );
        const again = await bench.migrate(bench.command(0, '100-1100', 'windowed', 'gentle'));
        assert.equal(again.status, 'done', JSON.stringify([outcome, again]));
      }
      for (const [key, value] of values) assert.equal(await bench.server(3).call('GET', key), value);
      await until('all nodes agree', async () => (await invariants(bench.cluster.endpoints)).length === 0);
    });
  });

  describe('redis: keys that need care', () => {
    let bench: Bench;
    before(async () => {
      bench = await start('redis', { nodeTimeoutMs: 2_000 });
    });
    after(() => bench.stop());

    it('different copies stop the slot, equal ones do not', async () => {
      const [source, target] = [bench.server(0), bench.server(3)];
      const [same, different] = [`{${tagForSlot(20)}}k`, `{${tagForSlot(21)}}k`];
      await source.call('SET', same, 'value');
      await source.call('SET', different, 'of the source');
      for (const slot of [20, 21]) {
        await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', bench.refs[0]?.id ?? '');
        await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', bench.refs[3]?.id ?? '');
      }
      const copy = async (key: string, value: string) => {
        await target.call('ASKING');
        await target.call('SET', key, value);
      };
      await copy(same, 'value');
      await copy(different, 'of the target');
      const outcome = await bench.migrate(bench.command(0, '20-21', 'windowed', 'gentle'));
      assert.equal(outcome.status === 'failed' ? outcome.code : outcome.status, 'KEY_CONFLICT');
      assert.equal(await source.call('GET', different), 'of the source');
      assert.equal(await target.call('GET', same), 'value');
      await target.call('ASKING');
      assert.equal(await target.call('GET', different), 'of the target');
      await target.call('ASKING');
      await target.call('DEL', different);
      assert.equal((await bench.migrate(bench.command(0, '20-21', 'windowed', 'gentle'))).status, 'done');
      assert.equal(await target.call('GET', different), 'of the source');
    });

    it('a key that would block for too long keeps its slot; one that is only big moves', async () => {
      const [giant, big] = [`{${tagForSlot(30)}}giant`, `{${tagForSlot(31)}}big`];
      // 2 s of node timeout: 20 MB are the limit.
      await bench.server(0).call('SETRANGE', giant, 30_000_000, 'x');
      for (let n = 0; n < 40; n++) {
        const fields = Array.from({ length: 500 }, (_, m) => [`field-${n}-${m}`, 'v'.repeat(60)]).flat();
        await bench.server(0).call('HSET', big, ...fields);
      }
      const outcome = await bench.migrate(bench.command(0, '30-32', 'windowed', 'gentle'));
      assert.equal(outcome.status === 'failed' ? outcome.code : outcome.status, 'BIG_KEY');
      assert.equal(await bench.server(0).call('STRLEN', giant), 30_000_001);
      assert.equal(await bench.server(3).call('HLEN', big), 20_000);
      assert.doesNotMatch(String(await bench.server(0).call('CLUSTER', 'NODES')), /\[/);
    });
  });

  describe('valkey: atomic migrations', () => {
    let bench: Bench;
    before(async () => {
      bench = await start('valkey', {
        users: ['user default on nopass ~* &* +@all', 'user limited on >secret ~* &* +@all -cluster|migrateslots'],
      });
    });
    after(() => bench.stop());

    it('one that runs already is taken over, not started twice', async () => {
      const tag = `{${tagForSlot(50)}}`;
      await Promise.all(Array.from({ length: 200 }, (_, n) => bench.server(0).call('SET', `${tag}${n}`, 'v')));
      // A child process that sleeps holds the snapshot up, so that there is time to come in between.
      await bench.server(0).call('CONFIG', 'SET', 'rdb-key-save-delay', 60_000);
      await bench.server(0).call('CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', 50, 60, 'NODE', bench.refs[3]?.id ?? '');
      const outcome = await bench.migrate(bench.command(0, '50-60', 'atomic', 'gentle'));
      assert.equal(outcome.status, 'done', JSON.stringify(outcome));
      assert.match(outcome.status === 'done' ? (outcome.note ?? '') : '', /took over an atomic migration/);
      assert.equal(await bench.server(3).call('DBSIZE'), 200);
    });

    it('where they are not permitted, MIGRATE does it', async () => {
      await bench.server(0).call('SET', `{${tagForSlot(70)}}k`, 'v');
      const redis = connectRedis({ username: 'limited', password: 'secret' }, { clock: systemClock });
      try {
        const outcome = await bench.migrate(bench.command(0, '70-75', 'auto', 'fast'), redis);
        assert.equal(outcome.status, 'done', JSON.stringify(outcome));
        assert.match(outcome.status === 'done' ? (outcome.note ?? '') : '', /6 slots moved with MIGRATE instead/);
        assert.equal(await bench.server(3).call('GET', `{${tagForSlot(70)}}k`), 'v');
      } finally {
        await redis.close();
      }
    });
  });
});
