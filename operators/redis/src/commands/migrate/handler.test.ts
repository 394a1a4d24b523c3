import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ModelServer } from '@reeve/simulation/redis';
import { keyIn, TestCluster } from '../../../tests/migrate/test-cluster.ts';

/** Labels of calls that change something. */
const CHANGES = new Set(['CLUSTER SETSLOT', 'MIGRATE', 'CLUSTER MIGRATESLOTS', 'CLUSTER MIGRATION']);

function watching(cluster: TestCluster) {
  const seen: string[] = [];
  const port = cluster.watched((label, detail) => {
    if (CHANGES.has(label)) seen.push(detail);
  });
  return { port, seen };
}

function assertMoved(cluster: TestCluster, slots: readonly number[], values: ReadonlyMap<string, string>): void {
  for (const slot of slots) {
    assert.equal(cluster.owns(3, slot), true, `the target owns slot ${slot}`);
    assert.equal(cluster.owns(0, slot), false, `the source gave slot ${slot} up`);
  }
  assert.deepEqual(cluster.open(), []);
  const held = cluster.held(3);
  for (const [key, value] of values) assert.equal(held.get(key), value, key);
  const left = cluster.held(0);
  for (const key of values.keys()) assert.equal(left.has(key), false, `${key} is gone from the source`);
}

describe('migrate-slots', () => {
  for (const pace of ['gentle', 'fast'] as const) {
    it(`moves slots with their keys and times to live (${pace})`, async () => {
      const cluster = new TestCluster();
      const values = new Map([...cluster.fill(0, 0, 300), ...cluster.fill(0, 7, 1), ...cluster.fill(0, 90, 40)]);
      cluster.call(0, 'PEXPIRE', keyIn(7, 0), '60000');
      const outcome = await cluster.migrate(cluster.command('0-99', { pace }));
      assert.deepEqual(outcome, { status: 'done', note: '100 slots; 341 keys' });
      assertMoved(cluster, [0, 7, 50, 90, 99], values);
      const left = Number(cluster.call(3, 'PTTL', keyIn(7, 0)));
      assert.ok(left > 0 && left <= 60_000, `the time to live came along: ${left}`);
      assert.equal(cluster.owns(0, 100), true, 'the next slot stays');
    });
  }

  it('tells the bystanders, so that nobody waits for gossip', async () => {
    const cluster = new TestCluster();
    await cluster.migrate(cluster.command('10-20'));
    const target = cluster.ref(3).id;
    for (const server of cluster.servers) assert.equal(server.ownerOf(15)?.id, target);
  });

  it('changes nothing when all slots are there already', async () => {
    const cluster = new TestCluster();
    await cluster.migrate(cluster.command('10-20'));
    const { port, seen } = watching(cluster);
    const outcome = await cluster.migrate(cluster.command('10-20'), { port });
    assert.equal(outcome.status, 'done');
    assert.deepEqual(seen, []);
  });

  it('moves only what is not there yet', async () => {
    const cluster = new TestCluster();
    await cluster.migrate(cluster.command('10-20'));
    const { port, seen } = watching(cluster);
    const outcome = await cluster.migrate(cluster.command('10-22'), { port });
    assert.equal(outcome.status, 'done');
    assert.deepEqual([...new Set(seen.map((text) => /SETSLOT (\d+)/.exec(text)?.[1]))].sort(), ['21', '22']);
  });

  it('does not give slots to a node whose append-only file still holds what it lost', async () => {
    const cluster = new TestCluster();
    cluster.fill(0, 90, 3);
    await cluster.migrate(cluster.command('90'));
    for (const words of [['DELSLOTS', '90'], ['ADDSLOTS', '90'], ['BUMPEPOCH']]) cluster.call(1, 'CLUSTER', ...words);
    cluster.pass(5_000);
    assert.deepEqual([...cluster.held(3).keys()], [], 'it lost the slot to a greater epoch, and dropped the keys');
    const values = cluster.fill(0, 10, 5);
    assert.equal((await cluster.migrate(cluster.command('10-20'))).status, 'done');
    const target = cluster.servers[3] as ModelServer;
    cluster.model.kill(target);
    cluster.model.restart(target);
    assert.deepEqual(new Map(cluster.held(3)), values);
    assert.deepEqual(cluster.open(), []);
  });

  describe('goes on with half-open slots', () => {
    const halves: readonly (readonly [string, readonly ('source' | 'target')[], number])[] = [
      ['open on the source only', ['source'], 0],
      ['open on the target only', ['target'], 0],
      ['open on both, no key moved', ['source', 'target'], 0],
      ['open on both, half of the keys moved', ['source', 'target'], 5],
    ];
    for (const [name, sides, moved] of halves) {
      it(name, async () => {
        const cluster = new TestCluster();
        const values = cluster.fill(0, 30, 10);
        if (sides.includes('target')) cluster.call(3, 'CLUSTER', 'SETSLOT', '30', 'IMPORTING', cluster.ref(0).id);
        if (sides.includes('source')) cluster.call(0, 'CLUSTER', 'SETSLOT', '30', 'MIGRATING', cluster.ref(3).id);
        for (const key of [...values.keys()].slice(0, moved)) {
          cluster.call(0, 'MIGRATE', '127.0.0.1', '7004', key, '0', '1000');
        }
        const outcome = await cluster.migrate(cluster.command('29-31'));
        assert.equal(outcome.status, 'done');
        assertMoved(cluster, [29, 30, 31], values);
      });
    }

    it('handed over on the target, not on the source', async () => {
      const cluster = new TestCluster();
      cluster.call(3, 'CLUSTER', 'SETSLOT', '30', 'IMPORTING', cluster.ref(0).id);
      cluster.call(0, 'CLUSTER', 'SETSLOT', '30', 'MIGRATING', cluster.ref(3).id);
      cluster.call(3, 'CLUSTER', 'SETSLOT', '30', 'NODE', cluster.ref(3).id);
      const outcome = await cluster.migrate(cluster.command('30'));
      assert.equal(outcome.status, 'done');
      assertMoved(cluster, [30], new Map());
    });
  });

  describe('answers stale and changes nothing', () => {
    const cases: readonly (readonly [string, RegExp, (cluster: TestCluster) => Parameters<TestCluster['command']>])[] =
      [
        [
          'when another node answers at the source’s address',
          /answers .* not 00000000/,
          (cluster) => ['0-9', { source: { ...cluster.ref(0), id: '0'.repeat(40) } }],
        ],
        [
          'when another node answers at the target’s address',
          /answers .* not 00000000/,
          (cluster) => ['0-9', { target: { ...cluster.ref(3), id: '0'.repeat(40) } }],
        ],
        ['when a third node owns a slot', /claims slots 6000/, () => ['0-9,6000']],
        [
          'when a slot is open towards somebody else',
          /slots 5 are open on .* for another move/,
          (cluster) => {
            cluster.call(1, 'CLUSTER', 'SETSLOT', '5', 'IMPORTING', cluster.ref(0).id);
            return ['0-9'];
          },
        ],
        [
          'when the source gives a slot to somebody else',
          /slots 5 are open on .* for another move/,
          (cluster) => {
            cluster.call(0, 'CLUSTER', 'SETSLOT', '5', 'MIGRATING', cluster.ref(1).id);
            return ['0-9'];
          },
        ],
        ['when the slots are no slots', /is no list of slots/, () => ['0-99999']],
      ];
    for (const [name, message, arrange] of cases) {
      it(name, async () => {
        const cluster = new TestCluster();
        const command = cluster.command(...arrange(cluster));
        const { port, seen } = watching(cluster);
        const outcome = await cluster.migrate(command, { port });
        assert.equal(outcome.status, 'stale');
        assert.match(outcome.status === 'stale' ? outcome.message : '', message);
        assert.deepEqual(seen, []);
      });
    }

    it('when the source became a replica', async () => {
      const cluster = new TestCluster();
      cluster.call(1, 'CLUSTER', 'DELSLOTSRANGE', '5461', '10922');
      cluster.call(1, 'CLUSTER', 'REPLICATE', cluster.ref(2).id);
      const outcome = await cluster.migrate(cluster.command('5461', { source: cluster.ref(1), others: [] }));
      assert.deepEqual(outcome, {
        status: 'stale',
        message: `${cluster.ref(1).id.slice(0, 8)} at 127.0.0.1:7002 is a replica`,
      });
    });
  });

  it('refuses an engine that the servers do not have', async () => {
    const cluster = new TestCluster();
    for (const engine of ['atomic', 'redis-atomic'] as const) {
      await assert.rejects(cluster.migrate(cluster.command('0-9', { engine })), { code: 'ENGINE_UNSUPPORTED' });
    }
  });

  it('does not touch keys of other databases', async () => {
    const cluster = new TestCluster({ flavour: 'valkey9', databases: 4 });
    cluster.inDatabase(0, 2, 'SET', keyIn(3, 0), 'x');
    const outcome = await cluster.migrate(cluster.command('0-9'));
    assert.equal(outcome.status === 'failed' ? outcome.code : '', 'MIGRATE_DATABASES');
    assert.deepEqual(cluster.open(), []);
  });
});
