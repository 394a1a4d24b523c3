import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestCluster } from '../../../tests/migrate/test-cluster.ts';
import type { ModelServer } from '@reeve/simulation/redis';

function noteOf(outcome: { readonly status: string; readonly note?: string; readonly message?: string }): string {
  return outcome.note ?? outcome.message ?? '';
}

function valkey(): { readonly cluster: TestCluster; readonly source: ModelServer } {
  const cluster = new TestCluster({ flavour: 'valkey9' });
  return { cluster, source: cluster.servers[0] as ModelServer };
}

function started(cluster: TestCluster) {
  const ranges: string[] = [];
  const port = cluster.watched((label, detail) => {
    if (label === 'CLUSTER MIGRATESLOTS') ranges.push(/SLOTSRANGE (.*) NODE/.exec(detail)?.[1] ?? '');
  });
  return { port, ranges };
}

function assertArrived(cluster: TestCluster, values: ReadonlyMap<string, string>, slots: readonly number[]): void {
  for (const slot of slots) assert.equal(cluster.owns(3, slot), true, `slot ${slot}`);
  assert.deepEqual(new Map([...cluster.held(3)].sort()), new Map([...values].sort()));
  assert.equal(cluster.held(0).size, 0);
  assert.deepEqual(cluster.open(), []);
}

describe('the atomic engine', () => {
  it('moves many ranges with one command', async () => {
    const { cluster } = valkey();
    const values = new Map([...cluster.fill(0, 3, 20), ...cluster.fill(0, 40, 5)]);
    const { port, ranges } = started(cluster);
    const outcome = await cluster.migrate(cluster.command('0-9,30-40,77', { engine: 'atomic' }), { port });
    assert.deepEqual(outcome, { status: 'done', note: '22 slots' });
    assert.deepEqual(ranges, ['0 9 30 40 77 77']);
    assertArrived(cluster, values, [0, 9, 30, 40, 77]);
  });

  it('takes over a job that runs already', async () => {
    const { cluster } = valkey();
    const values = cluster.fill(0, 3, 20);
    cluster.call(0, 'CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', '2', '5', 'NODE', cluster.ref(3).id);
    const { port, ranges } = started(cluster);
    const outcome = await cluster.migrate(cluster.command('2-8', { engine: 'atomic' }), { port });
    assert.match(noteOf(outcome), /took over an atomic migration that was running: slots 2-5/);
    assert.deepEqual(ranges, ['6 8'], 'only the rest is started');
    assertArrived(cluster, values, [2, 5, 6, 8]);
  });

  it('is stale while another job moves one of its slots', async () => {
    const { cluster } = valkey();
    cluster.call(0, 'CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', '2', '5', 'NODE', cluster.ref(1).id);
    const outcome = await cluster.migrate(cluster.command('4-8', { engine: 'atomic' }));
    assert.equal(outcome.status, 'stale');
    assert.match(noteOf(outcome), /is moving slots 2-5 to/);
  });

  it('tries again after a failure', async () => {
    const { cluster, source } = valkey();
    const values = cluster.fill(0, 3, 20);
    source.atomic.failNext = { at: 'replicating', message: 'Connection lost to target' };
    const outcome = await cluster.migrate(cluster.command('0-9', { engine: 'atomic' }));
    assert.equal(outcome.status, 'done');
    assert.match(noteOf(outcome), /atomic migration failed: failed Connection lost to target .*valkey#4545/);
    assertArrived(cluster, values, [0, 9]);
  });

  it('halves the slots when failures repeat', async () => {
    const { cluster, source } = valkey();
    const values = cluster.fill(0, 3, 20);
    const { port, ranges } = started(cluster);
    const failing = {
      ...port,
      call: (...args: Parameters<typeof port.call>) => {
        if (ranges.length < 4) source.atomic.failNext = { at: 'replicating', message: 'out of luck' };
        return port.call(...args);
      },
    };
    const outcome = await cluster.migrate(cluster.command('0-15', { engine: 'atomic' }), { port: failing });
    source.atomic.failNext = undefined;
    assert.equal(outcome.status, 'done', noteOf(outcome));
    assert.deepEqual(ranges.slice(0, 5), ['0 15', '0 15', '0 7', '0 7', '0 3']);
    assertArrived(cluster, values, [0, 15]);
  });

  for (const [engine, expected] of [
    ['auto', 'done'],
    ['atomic', 'failed'],
  ] as const) {
    it(`that never succeeds ${engine === 'auto' ? 'leaves the slots to MIGRATE' : 'says so when nothing else is wanted'}`, async () => {
      const { cluster, source } = valkey();
      const values = cluster.fill(0, 3, 20);
      const { port, ranges } = started(cluster);
      const failing = {
        ...port,
        call: (...args: Parameters<typeof port.call>) => {
          source.atomic.failNext = { at: 'snapshotting', message: 'fork failed' };
          return port.call(...args);
        },
      };
      const outcome = await cluster.migrate(cluster.command('0-9', { engine, pace: 'fast' }), { port: failing });
      assert.equal(outcome.status, expected, noteOf(outcome));
      assert.match(noteOf(outcome), /failed 7 times: failed fork failed \(the source could not fork/);
      assert.equal(ranges.length, 7, 'a bounded number of tries');
      if (expected === 'done') {
        assert.match(noteOf(outcome), /10 slots moved with MIGRATE instead/);
        assertArrived(cluster, values, [0, 9]);
      } else {
        assert.equal(outcome.status === 'failed' ? outcome.code : '', 'ATOMIC_FAILED');
        assert.equal(cluster.held(0).size, values.size);
      }
    });
  }

  it('finishes half-open slots with MIGRATE first', async () => {
    const { cluster } = valkey();
    const values = new Map([...cluster.fill(0, 3, 20), ...cluster.fill(0, 5, 4)]);
    cluster.call(3, 'CLUSTER', 'SETSLOT', '3', 'IMPORTING', cluster.ref(0).id);
    cluster.call(0, 'CLUSTER', 'SETSLOT', '3', 'MIGRATING', cluster.ref(3).id);
    const { port, ranges } = started(cluster);
    const outcome = await cluster.migrate(cluster.command('0-9', { engine: 'auto', pace: 'fast' }), { port });
    assert.equal(outcome.status, 'done', noteOf(outcome));
    assert.deepEqual(ranges, ['0 2 4 9']);
    assertArrived(cluster, values, [0, 3, 9]);
  });

  it('at the gentle pace is kept for long moves', async () => {
    for (const [bytes, atomically] of [
      [20, false],
      [100_000_000, true],
    ] as const) {
      const { cluster, source } = valkey();
      for (const key of cluster.fill(0, 3, 6).keys()) {
        source.databases[0]?.set(key, { value: 'x', bytes });
      }
      const { port, ranges } = started(cluster);
      const outcome = await cluster.migrate(cluster.command('0-9', { engine: 'auto', pace: 'gentle' }), { port });
      assert.equal(outcome.status, 'done', noteOf(outcome));
      assert.equal(ranges.length > 0, atomically, `${bytes} bytes a key`);
      assert.equal(cluster.held(3).size, 6);
    }
  });

  it('two pairs with different engines and one target both get through', async () => {
    const { cluster } = valkey();
    cluster.fill(0, 3, 20);
    cluster.fill(1, 6000, 20);
    const others = [cluster.ref(2)];
    const outcomes = await Promise.all([
      cluster.migrate(cluster.command('0-99', { engine: 'auto', pace: 'fast' })),
      cluster.migrate(
        cluster.command('5990-6010', { engine: 'windowed', pace: 'gentle', source: cluster.ref(1), others }),
      ),
    ]);
    for (const outcome of outcomes) assert.equal(outcome.status, 'done', noteOf(outcome));
    assert.equal(cluster.held(3).size, 40);
    assert.deepEqual(cluster.open(), []);
  });

  describe('when it is stopped', () => {
    it('cancels its own job', async () => {
      const { cluster, source } = valkey();
      cluster.fill(0, 3, 20);
      const stop = new AbortController();
      const port = cluster.watched(() => {
        if (source.atomic.jobs.some((job) => job.state === 'snapshotting')) stop.abort();
      });
      const command = cluster.command('0-9', { engine: 'atomic' });
      const outcome = await cluster.migrate(command, { port, signal: stop.signal });
      assert.deepEqual(outcome, { status: 'failed', code: 'INTERRUPTED', message: 'stopped after 0 of 10 slots' });
      assert.deepEqual(
        source.atomic.jobs.map(({ state }) => state),
        ['cancelled'],
      );
      assert.equal(cluster.owns(0, 3), true);
    });

    it('cancels nothing when the source has jobs of others', async () => {
      const { cluster, source } = valkey();
      const stop = new AbortController();
      const port = cluster.watched((label) => {
        assert.notEqual(label, 'CLUSTER CANCELSLOTMIGRATIONS');
        if (source.atomic.jobs.some((job) => job.state === 'snapshotting')) stop.abort();
      });
      cluster.call(0, 'CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', '900', '950', 'NODE', cluster.ref(1).id);
      const outcome = await cluster.migrate(cluster.command('0-9', { engine: 'atomic' }), {
        port,
        signal: stop.signal,
      });
      assert.equal(outcome.status, 'failed');
      cluster.pass(5_000);
      assert.deepEqual(
        source.atomic.jobs.map(({ state }) => state),
        ['success', 'success'],
        'both went on by themselves',
      );
    });
  });
});

describe('the atomic engine of Redis 8.4 (experimental)', () => {
  it('imports many ranges with one task', async () => {
    const cluster = new TestCluster({ flavour: 'redis8' });
    const values = new Map([...cluster.fill(0, 3, 20), ...cluster.fill(0, 40, 5)]);
    const outcome = await cluster.migrate(cluster.command('0-9,30-40', { engine: 'redis-atomic' }));
    assert.equal(outcome.status, 'done', noteOf(outcome));
    cluster.pass(2_000);
    assertArrived(cluster, values, [0, 9, 30, 40]);
  });

  it('is used only when it is asked for', async () => {
    const cluster = new TestCluster({ flavour: 'redis8' });
    const labels = new Set<string>();
    const port = cluster.watched((label, detail) => {
      labels.add(detail.includes('MIGRATION IMPORT') ? 'IMPORT' : label);
    });
    assert.equal((await cluster.migrate(cluster.command('0-9', { engine: 'auto' }), { port })).status, 'done');
    assert.equal(labels.has('IMPORT'), false);
    assert.equal(labels.has('CLUSTER SETSLOT'), true);
  });

  it('takes over a task that runs already', async () => {
    const cluster = new TestCluster({ flavour: 'redis8' });
    cluster.fill(0, 3, 20);
    cluster.call(3, 'CLUSTER', 'MIGRATION', 'IMPORT', '0', '9');
    const outcome = await cluster.migrate(cluster.command('0-9', { engine: 'redis-atomic' }));
    assert.match(noteOf(outcome), /took over an atomic migration that was running: slots 0-9/);
    assert.equal(cluster.owns(3, 3), true);
  });

  it('waits for its turn: a node takes one task at a time', async () => {
    const cluster = new TestCluster({ flavour: 'redis8' });
    const others = [cluster.ref(2)];
    const outcomes = await Promise.all([
      cluster.migrate(cluster.command('0-9', { engine: 'redis-atomic' })),
      cluster.migrate(cluster.command('6000-6010', { engine: 'redis-atomic', source: cluster.ref(1), others })),
    ]);
    for (const outcome of outcomes) assert.equal(outcome.status, 'done', noteOf(outcome));
    assert.ok(cluster.owns(3, 5) && cluster.owns(3, 6005));
  });

  it('cancels its task on the target when it is stopped', async () => {
    const cluster = new TestCluster({ flavour: 'redis8' });
    cluster.fill(0, 3, 20);
    const stop = new AbortController();
    const port = cluster.watched((_label, detail) => {
      if (detail.includes('MIGRATION STATUS') && cluster.servers[3]?.pull.current) stop.abort();
    });
    const outcome = await cluster.migrate(cluster.command('0-9', { engine: 'redis-atomic' }), {
      port,
      signal: stop.signal,
    });
    assert.equal(outcome.status === 'failed' ? outcome.code : '', 'INTERRUPTED', noteOf(outcome));
    cluster.pass(5_000);
    assert.equal(cluster.owns(0, 3), true);
    assert.equal(cluster.held(0).size, 20);
  });
});
