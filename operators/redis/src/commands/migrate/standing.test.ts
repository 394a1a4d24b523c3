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
