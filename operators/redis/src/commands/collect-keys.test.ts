import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isHandle, type Outcome } from '@reeve/runtime';
import { entryWith, keyIn, TestCluster, type TestClusterOptions } from '../../tests/migrate/test-cluster.ts';
import type { RedisPort } from '../api/port.ts';
import { collectKeysHandler } from './collect-keys.ts';

const SLOT = 7;

/** Keys of a slot of node 0 that lie on node 1, with sizes as told. */
function astray(sizes: readonly number[], options: TestClusterOptions = {}) {
  const cluster = new TestCluster(options);
  const keyspace = cluster.servers[1]?.databases[0];
  assert.ok(keyspace);
  sizes.forEach((bytes, n) => keyspace.set(keyIn(SLOT, n), entryWith(`value ${n}`, bytes)));
  return cluster;
}

async function collect(cluster: TestCluster, port?: RedisPort): Promise<Outcome> {
  const command = {
    type: 'collect-keys',
    from: cluster.ref(1),
    owner: cluster.ref(0),
    slots: String(SLOT),
    why: 'a test',
  } as const;
  const result = await collectKeysHandler.run(command, cluster.context(port), new AbortController().signal);
  return isHandle(result) ? result.settled : result;
}

/** Every MIGRATE: its timeout and the numbers of its keys. */
function watching(cluster: TestCluster) {
  const seen: { readonly timeoutMs: number; readonly keys: readonly number[] }[] = [];
  const prefix = keyIn(SLOT, 0).slice(0, -1);
  const port = cluster.watched((label, detail) => {
    if (label !== 'MIGRATE') return;
    const words = detail.split(' ');
    const keys = words.filter((word) => word.startsWith(prefix)).map((word) => Number(word.slice(prefix.length)));
    const timeout = words.findLast((word, index) => index < words.indexOf('KEYS') && /^\d+$/.test(word));
    seen.push({ timeoutMs: Number(timeout), keys });
  });
  return { port, seen };
}

describe('collect-keys', () => {
  it('moves small keys together, by bytes, and big ones alone', async () => {
    const cluster = astray([200_000, 3_000_000, 200_000, 200_000, 10, 2_000_000]);
    const { port, seen } = watching(cluster);
    assert.deepEqual(await collect(cluster, port), { status: 'done', note: '6 keys moved, 0 equal copies removed' });
    assert.deepEqual(
      seen.map(({ keys }) => keys),
      [[0, 2], [3, 4], [1], [5]],
    );
    assert.equal(cluster.held(0).size, 6);
    assert.equal(cluster.held(1).size, 0);
    assert.deepEqual(cluster.open(), []);
  });

  it('gives no MIGRATE the time in which a blocked server would be failed over', async () => {
    for (const nodeTimeoutMs of [1_000, 5_000, 60_000]) {
      const cluster = astray([10], { nodeTimeoutMs });
      const { port, seen } = watching(cluster);
      await collect(cluster, port);
      const [{ timeoutMs } = { timeoutMs: Number.NaN }] = seen;
      assert.ok(timeoutMs > 0 && timeoutMs < nodeTimeoutMs / 2, `${timeoutMs} of ${nodeTimeoutMs} ms`);
    }
  });

  it('leaves a key that cannot be moved safely, names it, and moves the rest', async () => {
    const cluster = astray([10, 400_000_000, 10], { nodeTimeoutMs: 5_000 });
    const outcome = await collect(cluster);
    assert.equal(outcome.status === 'failed' ? outcome.code : '', 'BIG_KEY');
    const message = outcome.status === 'failed' ? outcome.message : '';
    assert.ok(message.includes(keyIn(SLOT, 1)), message);
    assert.match(message, /at most 50\.0 MB with a node timeout of 5000 ms.*400\.0 MB/);
    assert.deepEqual([...cluster.held(1).keys()], [keyIn(SLOT, 1)]);
    assert.equal(cluster.held(0).size, 2);
    assert.deepEqual(cluster.open(), []);
  });

  it('compares what a client wrote on the owner in the last moment', async () => {
    const cluster = astray([10, 10]);
    let first = true;
    const port = cluster.watched((label) => {
      if (label !== 'MIGRATE' || !first) return;
      first = false;
      cluster.call(0, 'SET', keyIn(SLOT, 1), 'another value');
    });
    const outcome = await collect(cluster, port);
    assert.equal(outcome.status === 'failed' ? outcome.code : '', 'KEY_CONFLICT');
    assert.equal(cluster.held(0).get(keyIn(SLOT, 1)), 'another value');
    assert.equal(cluster.held(1).get(keyIn(SLOT, 1)), 'value 1');
    assert.equal(cluster.held(0).get(keyIn(SLOT, 0)), 'value 0');
  });

  it('gives no more keys to an owner that may have been failed over', async () => {
    const cluster = astray([600_000, 600_000], { nodeTimeoutMs: 5_000 });
    const owner = new RegExp(`^(${cluster.ref(0).id} \\S+ )master`, 'm');
    const port = cluster.interrupted(2_600, (table, of) =>
      of === 7002 ? table.replace(owner, '$1master,fail') : table,
    );
    const outcome = await collect(cluster, port);
    assert.match(
      outcome.status === 'stale' ? outcome.message : outcome.status,
      /does not take \w+ for a living primary/,
    );
    assert.deepEqual([cluster.held(0).size, cluster.held(1).size], [1, 1]);
    assert.deepEqual(cluster.open(), []);
  });

  it('does not pretend to have moved keys of other databases', async () => {
    const cluster = astray([10], { flavour: 'valkey9', databases: 4 });
    cluster.servers[1]?.databases[2]?.set(keyIn(SLOT, 9), entryWith('in another database'));
    const outcome = await collect(cluster);
    assert.equal(outcome.status === 'failed' ? outcome.code : '', 'MIGRATE_DATABASES');
    assert.deepEqual(cluster.open(), []);
  });

  it('moves keys of database 0 where the others have none of the slot', async () => {
    const cluster = astray([10], { flavour: 'valkey9', databases: 4 });
    cluster.servers[1]?.databases[2]?.set(keyIn(6_000, 0), entryWith('of a slot of its own'));
    assert.deepEqual(await collect(cluster), { status: 'done', note: '1 keys moved, 0 equal copies removed' });
  });
});
