import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ModelServer } from '@reeve/simulation/redis';
import { entryWith, keyIn, TestCluster } from '../../../tests/migrate/test-cluster.ts';

function codeOf(outcome: { readonly status: string; readonly code?: string }): string {
  return outcome.code ?? outcome.status;
}

/** Opens a slot between source and target, as a move that broke off leaves it. */
function openSlot(cluster: TestCluster, slot: number): void {
  cluster.call(3, 'CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', cluster.ref(0).id);
  cluster.call(0, 'CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', cluster.ref(3).id);
}

function peerOf(server: ModelServer, id: string): ModelServer['self'] {
  const peer = server.peers.get(id);
  assert.ok(peer);
  return peer;
}

describe('the windowed engine', () => {
  it('has no more slots open at once than its windows', async () => {
    for (const [pace, most] of [
      ['gentle', 64],
      ['fast', 128],
    ] as const) {
      const cluster = new TestCluster();
      for (let slot = 0; slot < 300; slot += 3) cluster.fill(0, slot, 2);
      let largest = 0;
      const port = cluster.watched(() => {
        largest = Math.max(largest, new Set(cluster.open()).size);
      });
      assert.equal((await cluster.migrate(cluster.command('0-299', { pace }), { port })).status, 'done');
      assert.ok(largest > 0 && largest <= most, `${pace}: ${largest} open`);
    }
  });

  it('opens the target first and hands over the target first', async () => {
    const cluster = new TestCluster();
    cluster.fill(0, 4, 3);
    const steps: string[] = [];
    const port = cluster.watched((label, detail) => {
      if (label === 'CLUSTER SETSLOT')
        steps.push(detail.replace(/^127.0.0.1:(\d+) CLUSTER SETSLOT 4 (\w+).*/, '$1 $2'));
      if (label === 'MIGRATE') steps.push('keys');
    });
    await cluster.migrate(cluster.command('4'), { port });
    assert.deepEqual(steps, [
      '7004 IMPORTING',
      '7001 MIGRATING',
      'keys',
      '7004 NODE',
      '7001 NODE',
      '7002 NODE',
      '7003 NODE',
    ]);
  });

  it('takes keys along that clients add while a slot is being emptied', async () => {
    const cluster = new TestCluster();
    cluster.fill(0, 8, 5);
    let added = 0;
    const port = cluster.watched((label) => {
      // As a script on the source could: a new key in a slot whose keys are just leaving.
      if (label === 'MIGRATE' && added < 3) {
        cluster.servers[0]?.databases[0]?.set(keyIn(8, 100 + added), entryWith('late'));
        added++;
      }
    });
    assert.equal((await cluster.migrate(cluster.command('8'), { port })).status, 'done');
    assert.equal(cluster.held(3).size, 8);
    assert.equal(cluster.held(0).size, 0);
  });

  it('makes good a MIGRATE that broke off with keys on both sides', async () => {
    for (const acknowledged of [0, 2, 4]) {
      const cluster = new TestCluster();
      const values = cluster.fill(0, 8, 10);
      cluster.model.breakNextMigrate(cluster.servers[0]!, { restored: 4, acknowledged });
      assert.equal((await cluster.migrate(cluster.command('8'))).status, 'done');
      assert.deepEqual(new Map([...cluster.held(3)].sort()), new Map([...values].sort()));
      assert.equal(cluster.held(0).size, 0);
    }
  });

  it('keeps what a client wrote to the source after a MIGRATE broke off', async () => {
    const cluster = new TestCluster();
    cluster.fill(0, 8, 10);
    cluster.model.breakNextMigrate(cluster.servers[0]!, { restored: 4, acknowledged: 0 });
    let written = false;
    const port = cluster.watched((label) => {
      if (label !== 'CLUSTER MYID' || written) return; // the engine looks for the target after the break
      written = true;
      cluster.call(0, 'SET', keyIn(8, 1), 'written after the break');
    });
    assert.equal((await cluster.migrate(cluster.command('8'), { port })).status, 'done');
    assert.equal(written, true);
    assert.equal(cluster.held(3).get(keyIn(8, 1)), 'written after the break');
  });

  it('overwrites an equal copy that an earlier move left', async () => {
    const cluster = new TestCluster();
    const values = cluster.fill(0, 8, 3);
    openSlot(cluster, 8);
    cluster.model.breakNextMigrate(cluster.servers[0]!, { restored: 2, acknowledged: 0 });
    assert.throws(
      () => cluster.call(0, 'MIGRATE', '127.0.0.1', '7004', '', '0', '1000', 'KEYS', ...values.keys()),
      /IOERR/,
    );
    assert.equal((await cluster.migrate(cluster.command('8'))).status, 'done');
    assert.deepEqual(new Map([...cluster.held(3)].sort()), new Map([...values].sort()));
  });

  it('overwrites nothing when two copies differ: the slot stays open, the others move', async () => {
    const cluster = new TestCluster();
    cluster.fill(0, 8, 3);
    const others = cluster.fill(0, 9, 3);
    openSlot(cluster, 8);
    cluster.servers[3]?.databases[0]?.set(keyIn(8, 1), entryWith('of the target'));
    const outcome = await cluster.migrate(cluster.command('8-9'));
    assert.equal(codeOf(outcome), 'KEY_CONFLICT');
    assert.match(outcome.status === 'failed' ? outcome.message : '', /slot 8: 1 keys differ/);
    assert.equal(cluster.held(0).get(keyIn(8, 1)), '8:1'.padEnd(20, '.'));
    assert.equal(cluster.held(3).get(keyIn(8, 1)), 'of the target');
    assert.deepEqual([...new Set(cluster.open())], [8]);
    assert.equal(cluster.owns(0, 8), true);
    assert.equal(cluster.owns(3, 9), true);
    for (const key of others.keys()) assert.equal(cluster.held(3).has(key), true);
  });

  it('ends the marks of a former source that owns the slots no more', async () => {
    const cluster = new TestCluster();
    const values = cluster.fill(0, 8, 3);
    const former = cluster.servers[1]!;
    // As a source that died in the middle of the move and came back after its heir, server 0, had taken over.
    former.migrating.set(8, peerOf(former, cluster.ref(3).id));
    cluster.call(3, 'CLUSTER', 'SETSLOT', '8', 'IMPORTING', cluster.ref(1).id);
    const outcome = await cluster.migrate(cluster.command('8', { formerly: [cluster.ref(1).id] }));
    assert.equal(outcome.status, 'done', JSON.stringify(outcome));
    assert.deepEqual(new Map([...cluster.held(3)].sort()), new Map([...values].sort()));
    assert.deepEqual(cluster.open(), []);
    assert.equal(former.migrating.size, 0);
  });

  it('leaves alone what is open on a bystander for another move', async () => {
    const cluster = new TestCluster();
    cluster.fill(0, 8, 3);
    const bystander = cluster.servers[1]!;
    bystander.migrating.set(8, peerOf(bystander, cluster.ref(2).id));
    const outcome = await cluster.migrate(cluster.command('8'));
    assert.match(outcome.status === 'stale' ? outcome.message : '', /slots 8 are open on .* for another move/);
    assert.equal(cluster.owns(0, 8), true);
  });

  it('waits for a target that restarts', async () => {
    const cluster = new TestCluster({ nodeTimeoutMs: 60_000 });
    const values = cluster.fill(0, 8, 10);
    const target = cluster.servers[3]!;
    let killedAt = 0;
    const port = cluster.watched((label) => {
      if (label === 'MIGRATE' && killedAt === 0) {
        killedAt = cluster.clock.now();
        cluster.model.kill(target);
      } else if (killedAt > 0 && target.process === 'down' && cluster.clock.now() > killedAt + 2_000) {
        cluster.model.restart(target);
      }
    });
    assert.equal((await cluster.migrate(cluster.command('8'), { port })).status, 'done');
    assert.deepEqual(new Map([...cluster.held(3)].sort()), new Map([...values].sort()));
  });

  it('gives up on a target that stays away, with no key lost', async () => {
    const cluster = new TestCluster({ nodeTimeoutMs: 60_000 });
    const values = cluster.fill(0, 8, 10);
    const port = cluster.watched((label) => {
      if (label === 'MIGRATE') cluster.model.kill(cluster.servers[3]!);
    });
    assert.equal(codeOf(await cluster.migrate(cluster.command('8'), { port })), 'MIGRATE_BROKEN_OFF');
    assert.deepEqual(new Map([...cluster.held(0)].sort()), new Map([...values].sort()));
  });

  it('says that the target is full', async () => {
    const cluster = new TestCluster({ maxMemory: 400 });
    const values = cluster.fill(0, 8, 20);
    assert.equal(codeOf(await cluster.migrate(cluster.command('8'))), 'TARGET_FULL');
    assert.equal(cluster.held(0).size + cluster.held(3).size, values.size);
  });

  describe('with big keys', () => {
    it('moves a slot with a big key last, the big key alone', async () => {
      const cluster = new TestCluster();
      cluster.fill(0, 3, 4);
      cluster.servers[0]?.databases[0]?.set(keyIn(3, 1), entryWith('big', 5_000_000));
      cluster.fill(0, 4, 4);
      const batches: number[] = [];
      const port = cluster.watched((label, detail) => {
        if (label === 'MIGRATE') batches.push(detail.split(' KEYS ')[1]?.split(' ').length ?? 0);
      });
      assert.equal((await cluster.migrate(cluster.command('3-5', { pace: 'gentle' }), { port })).status, 'done');
      assert.deepEqual(batches, [4, 3, 1]);
      assert.equal(cluster.held(3).size, 8);
    });

    for (const pace of ['gentle', 'fast'] as const) {
      it(`leaves a slot whose key cannot be moved safely, closed (${pace})`, async () => {
        const cluster = new TestCluster();
        cluster.fill(0, 3, 4);
        cluster.servers[0]?.databases[0]?.set(keyIn(3, 1), entryWith('giant', 400_000_000));
        const others = cluster.fill(0, 4, 4);
        const outcome = await cluster.migrate(cluster.command('3-5', { pace }));
        assert.equal(codeOf(outcome), 'BIG_KEY');
        assert.equal(cluster.owns(0, 3), true);
        assert.deepEqual(cluster.open(), []);
        assert.equal(cluster.held(0).size, 4);
        assert.deepEqual(new Map([...cluster.held(3)].sort()), new Map([...others].sort()));
      });
    }
  });

  describe('that looks for big keys by a sample', () => {
    const GIANT = 100_000_000; // twice what a node timeout of 5 s allows

    interface Seen {
      readonly outcome: Awaited<ReturnType<TestCluster['migrate']>>;
      /** Keys in each MIGRATE that had the giant. */
      readonly withGiant: readonly number[];
      readonly sized: number;
      readonly counted: number;
    }

    async function move(cluster: TestCluster, slots: string, giant = ''): Promise<Seen> {
      const withGiant: number[] = [];
      const labels: string[] = [];
      const port = cluster.watched((label) => labels.push(label));
      const watched: typeof port = {
        ...port,
        call: (endpoint, args, options) => {
          const keys = args[0] === 'MIGRATE' ? args.slice(args.indexOf('KEYS') + 1) : [];
          if (keys.includes(giant)) withGiant.push(keys.length);
          return port.call(endpoint, args, options);
        },
      };
      const outcome = await cluster.migrate(cluster.command(slots, { pace: 'gentle' }), { port: watched });
      const callsOf = (wanted: string) => labels.filter((label) => label === wanted).length;
      return { outcome, withGiant, sized: callsOf('MEMORY USAGE'), counted: callsOf('CLUSTER COUNTKEYSINSLOT') };
    }

    /** Keys that are as big as the test says, without the costs of writing them. */
    function put(cluster: TestCluster, slot: number, count: number, bytesOf: (n: number) => number): void {
      const keys = cluster.servers[0]?.databases[0];
      const tag = keyIn(slot, 0).slice(0, -1);
      for (let n = 0; n < count; n++) keys?.set(`${tag}${n}`, entryWith('v', bytesOf(n)));
    }

    function leavesGiant({ outcome, withGiant }: Seen, cluster: TestCluster): void {
      assert.equal(codeOf(outcome), 'BIG_KEY', JSON.stringify(outcome));
      assert.deepEqual(withGiant, []);
      assert.equal(cluster.owns(0, 3), true);
      assert.deepEqual(cluster.open(), []);
    }

    it('finds a giant in slots whose keys are larger than those that stay', async () => {
      const cluster = new TestCluster({ nodeTimeoutMs: 5_000 });
      put(cluster, 100, 40_000, () => 200);
      for (let slot = 0; slot < 10; slot++) put(cluster, slot, 20, () => 3_000);
      put(cluster, 3, 21, (n) => (n === 20 ? GIANT : 3_000));
      leavesGiant(await move(cluster, '0-9', keyIn(3, 20)), cluster);
    });

    it('finds a giant beside a slot with most of the keys, which are smaller', async () => {
      const cluster = new TestCluster({ nodeTimeoutMs: 5_000 });
      for (let slot = 0; slot < 200; slot++) put(cluster, slot, 5, () => 10_000);
      put(cluster, 7, 12_000, () => 200);
      put(cluster, 3, 6, (n) => (n === 5 ? GIANT : 10_000));
      leavesGiant(await move(cluster, '0-199', keyIn(3, 5)), cluster);
    });

    it('finds a giant among equal keys', async () => {
      const cluster = new TestCluster({ nodeTimeoutMs: 5_000 });
      for (let slot = 0; slot < 100; slot++) put(cluster, slot, 20, () => 500);
      put(cluster, 3, 21, (n) => (n === 20 ? GIANT : 500));
      leavesGiant(await move(cluster, '0-49', keyIn(3, 20)), cluster);
    });

    it('finds a giant that weighs less than what is put down to bookkeeping, when the node timeout is short', async () => {
      const cluster = new TestCluster({ nodeTimeoutMs: 1_000 });
      for (let slot = 0; slot < 100; slot++) put(cluster, slot, 20, () => 500);
      put(cluster, 3, 21, (n) => (n === 20 ? 12_000_000 : 500)); // 10 MB are safe
      leavesGiant(await move(cluster, '0-49', keyIn(3, 20)), cluster);
    });

    it('asks the size of a few keys where all are alike', async () => {
      const cluster = new TestCluster({ nodeTimeoutMs: 5_000 });
      // Those that stay are of another size: that alone is no reason for doubts.
      for (let slot = 0; slot < 200; slot++) put(cluster, slot, 25, () => (slot < 100 ? 3_000 : 200));
      const { outcome, sized } = await move(cluster, '0-99');
      assert.equal(outcome.status, 'done');
      assert.equal(cluster.held(3).size, 2_500);
      assert.ok(sized > 100 && sized < 500, `${sized} keys were asked`);
    });

    it('asks the size of every key where sizes differ so much that a sample proves nothing', async () => {
      const cluster = new TestCluster({ nodeTimeoutMs: 5_000 });
      // No sampled key is 20 times the mean, and together they weigh what the sample says: it could be off by a giant.
      for (let slot = 0; slot < 100; slot++) put(cluster, slot, 25, (n) => (n % 5 === 0 ? 400_000 : 200));
      const { outcome, sized } = await move(cluster, '0-99');
      assert.equal(outcome.status, 'done');
      assert.ok(sized >= 2_500, `${sized} keys were asked`);
    });

    it('asks the size of every key where it cannot tell what those weigh that stay', async () => {
      const cluster = new TestCluster({ nodeTimeoutMs: 5_000 });
      for (let slot = 0; slot < 50; slot++) put(cluster, slot, 25, () => 500);
      put(cluster, 16_000, 500, () => 500); // astray: the source does not own that slot
      assert.ok((await move(cluster, '0-49')).sized >= 1_250);
    });

    it('asks a source without keys nothing', async () => {
      const { outcome, sized, counted } = await move(new TestCluster({ nodeTimeoutMs: 5_000 }), '0-49');
      assert.equal(outcome.status, 'done');
      assert.deepEqual({ sized, counted }, { sized: 0, counted: 0 });
    });

    it('does not count keys that stay when it has seen all that move', async () => {
      const cluster = new TestCluster({ nodeTimeoutMs: 5_000 });
      put(cluster, 4_000, 1_000, () => 100_000);
      for (let slot = 0; slot < 10; slot++) put(cluster, slot, 2, () => 500);
      const { outcome, sized, counted } = await move(cluster, '0-9');
      assert.equal(outcome.status, 'done');
      assert.equal(sized, 20);
      assert.ok(counted < 100, `${counted} slots were counted`);
    });
  });

  describe('when it is stopped', () => {
    it('begins nothing new and leaves nothing open', async () => {
      for (const pace of ['gentle', 'fast'] as const) {
        const cluster = new TestCluster();
        const values = new Map<string, string>();
        for (let slot = 0; slot < 400; slot++) for (const [k, v] of cluster.fill(0, slot, 1)) values.set(k, v);
        const stop = new AbortController();
        let migrated = 0;
        const port = cluster.watched((label) => {
          if (label === 'MIGRATE' && ++migrated === 20) stop.abort();
        });
        const outcome = await cluster.migrate(cluster.command('0-399', { pace }), { port, signal: stop.signal });
        assert.equal(codeOf(outcome), 'INTERRUPTED');
        assert.deepEqual(cluster.open(), []);
        assert.equal(cluster.held(0).size + cluster.held(3).size, values.size);
        assert.ok(cluster.owns(3, 0) && cluster.owns(0, 399), 'some went, most stayed');
      }
    });

    it('does not cut off a key that a redirected client wrote to the target', async () => {
      const cluster = new TestCluster();
      for (let slot = 0; slot < 4; slot++) cluster.fill(0, slot, 1);
      const stop = new AbortController();
      const port = cluster.watched((label) => {
        if (label !== 'MIGRATE' || stop.signal.aborted) return;
        stop.abort();
        // Slot 3 is open: a key that the source does not have is written to the target.
        cluster.servers[3]?.databases[0]?.set(keyIn(3, 77), entryWith('redirected'));
      });
      await cluster.migrate(cluster.command('0-3', { pace: 'gentle' }), { port, signal: stop.signal });
      assert.deepEqual(cluster.open(), []);
      assert.equal(cluster.owns(3, 3), true, 'slot 3 was finished');
      assert.equal(cluster.owns(0, 2), true, 'slot 2 was taken back');
      assert.equal(cluster.held(3).get(keyIn(3, 77)), 'redirected');
    });

    it('does not cut off a key that comes to the target in the last moment before it is closed', async () => {
      const cluster = new TestCluster();
      for (let slot = 0; slot < 4; slot++) cluster.fill(0, slot, 1);
      const stop = new AbortController();
      const port = cluster.watched((label, detail) => {
        if (label === 'MIGRATE') stop.abort();
        if (detail === '127.0.0.1:7004 CLUSTER SETSLOT 3 STABLE')
          cluster.servers[3]?.databases[0]?.set(keyIn(3, 77), entryWith('redirected'));
      });
      await cluster.migrate(cluster.command('0-3', { pace: 'gentle' }), { port, signal: stop.signal });
      assert.equal(cluster.held(3).get(keyIn(3, 77)), 'redirected');
      assert.deepEqual([cluster.open(), cluster.owns(3, 3), cluster.owns(0, 2)], [[], true, true]);
    });
  });

  it('does not hand over a slot with a key in another database, whenever it came', async () => {
    for (const pace of ['gentle', 'fast'] as const) {
      const cluster = new TestCluster({ flavour: 'valkey9', databases: 4 });
      const opened = new Set<number>();
      const port = cluster.watched((_label, detail) => {
        const slot = Number(/SETSLOT (\d+) IMPORTING/.exec(detail)?.[1] ?? -1);
        if (slot === 3 && !opened.has(slot)) cluster.inDatabase(0, 2, 'SET', keyIn(3, 0), 'acknowledged');
        opened.add(slot);
      });
      const outcome = await cluster.migrate(cluster.command('0-9', { pace }), { port });
      cluster.pass(5_000);
      assert.equal(codeOf(outcome), 'KEYS_STAY');
      assert.deepEqual([cluster.owns(0, 3), cluster.held(0).get(keyIn(3, 0))], [true, 'acknowledged']);
    }
  });
});
