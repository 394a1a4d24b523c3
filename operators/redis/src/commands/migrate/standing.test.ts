import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TestCluster } from '../../../tests/migrate/test-cluster.ts';

it('proves again that source and target are what they were when a failover can have happened meanwhile', async () => {
  const ends = async (ms: number, retold: (table: string, port: number, cluster: TestCluster) => string) => {
    const cluster = new TestCluster({ nodeTimeoutMs: 5_000 });
    cluster.fill(0, 4, 3);
    const port = cluster.interrupted(ms, (table, of) => retold(table, of, cluster));
    const outcome = await cluster.migrate(cluster.command('4'), { port });
    return { text: outcome.status === 'stale' ? outcome.message : outcome.status, taken: cluster.owns(3, 4) };
  };
  const line = (cluster: TestCluster, index: number) =>
    new RegExp(`^(${cluster.ref(index).id} \\S+ )master( .*)$`, 'm');
  const stale = async (expected: RegExp, by: number, retell: (table: string, cluster: TestCluster) => string) => {
    const late = await ends(2_600, (table, port, cluster) => (port === by ? retell(table, cluster) : table));
    assert.match(late.text, expected);
    assert.equal(late.taken, false);
  };
  // The others hear of an heir; neither the source nor the target, which is importing, does.
  await stale(/7002 knows \w+ as owner of slots 4$/, 7002, (table, cluster) =>
    table.replace(line(cluster, 2), '$1master$2 4'),
  );
  await stale(/7002 knows \w+ as the heir of \w+$/, 7002, (table, cluster) =>
    table.replace(line(cluster, 2), '$1master$2 100-200').replace(/ 3 connected/, ' 99 connected'),
  );
  for (const flags of ['master,fail', 'slave']) {
    await stale(/7004 does not take \w+ for a living primary/, 7004, (table, cluster) =>
      table.replace(line(cluster, 0), `$1${flags}$2`),
    );
    await stale(/7001 does not take \w+ for a living primary/, 7001, (table, cluster) =>
      table.replace(line(cluster, 3), `$1${flags}$2`),
    );
  }
  const anyway = { text: 'done', taken: true };
  assert.deepEqual(await ends(2_600, (table) => table), anyway);
  assert.deepEqual(await ends(100, () => ''), anyway, 'nobody is asked within the time');

  // A source that is cut off from the others: they suspect it, or have not waited long enough for that yet.
  const suspecting = (table: string, cluster: TestCluster) => table.replace(line(cluster, 0), '$1master,fail?$2');
  const waiting = (table: string, cluster: TestCluster) =>
    table.replace(new RegExp(`^(${cluster.ref(0).id} \\S+ master \\S+ )0 `, 'm'), '$1999 ');
  for (const [retell, by] of [
    [suspecting, [7002, 7003]],
    [waiting, [7002, 7003]],
  ] as const) {
    const tell = (who: readonly number[]) => (table: string, port: number, cluster: TestCluster) =>
      who.includes(port) ? retell(table, cluster) : table;
    const cut = await ends(2_600, tell(by));
    assert.match(cut.text, /2 of 4 primaries wait for an answer of \w+, or cannot be asked/);
    assert.equal(cut.taken, false);
    assert.deepEqual(await ends(2_600, tell(by.slice(1))), anyway, 'one of three cannot call it failed');
  }
});

it('hands nothing over when one side was failed over on somebody’s order', async () => {
  for (const index of [0, 3]) {
    const cluster = new TestCluster();
    cluster.fill(0, 4, 3);
    const port = cluster.watched(() => undefined);
    const failedOver: typeof port = {
      ...port,
      call: async (endpoint, args, options) => {
        const reply = await port.call(endpoint, args, options);
        const isAsked = endpoint.port === cluster.servers[index]?.port && args.join(' ') === 'INFO replication';
        return isAsked ? String(reply).replace('role:master', 'role:slave') : reply;
      },
    };
    const outcome = await cluster.migrate(cluster.command('4'), { port: failedOver });
    assert.match(outcome.status === 'stale' ? outcome.message : outcome.status, /is a replica now$/);
    assert.equal(cluster.owns(3, 4), false);
  }
});

it('hands slots to a target only when it has heard of the source’s epoch, so that everybody believes it', async () => {
  const epochOf = (cluster: TestCluster, index: number) => cluster.servers[index]?.self.configEpoch ?? 0;
  const raised = (flavour: 'redis7' | 'valkey9') => {
    const cluster = new TestCluster({ flavour });
    cluster.fill(0, 4, 3);
    // The target has the latest epoch that it knows, so it takes no other one by itself.
    cluster.call(3, 'CLUSTER', 'BUMPEPOCH');
    cluster.pass(5_000);
    cluster.call(0, 'CLUSTER', 'BUMPEPOCH');
    assert.ok(epochOf(cluster, 0) > (cluster.servers[3]?.currentEpoch ?? 0), 'it has not heard');
    return cluster;
  };
  for (const [flavour, engine] of [
    ['redis7', 'windowed'],
    ['valkey9', 'windowed'],
    ['valkey9', 'atomic'],
  ] as const) {
    const cluster = raised(flavour);
    assert.equal((await cluster.migrate(cluster.command('4', { engine }))).status, 'done');
    assert.ok(epochOf(cluster, 3) > epochOf(cluster, 0), `${flavour} ${engine}`);
    assert.equal(cluster.owns(3, 4), true);
    assert.equal(cluster.held(3).size, 3);

    const deaf = raised(flavour);
    const port = deaf.watched(() => undefined);
    const unheard: typeof port = {
      ...port,
      call: async (endpoint, args, options) => {
        const reply = await port.call(endpoint, args, options);
        const isAsked = endpoint.port === 7004 && args.join(' ') === 'CLUSTER INFO';
        const own = `${epochOf(deaf, 3)}`;
        return isAsked ? String(reply).replace(/(cluster_(?:my|current)_epoch):\d+/g, `$1:${own}`) : reply;
      },
    };
    const outcome = await deaf.migrate(deaf.command('4', { engine }), { port: unheard });
    assert.match(outcome.status === 'stale' ? outcome.message : outcome.status, /has heard of config epoch/);
    assert.equal(deaf.owns(3, 4), false);
  }
});
