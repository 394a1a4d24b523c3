/** Killed and stopped servers. Each case has a cluster of its own. */
import assert from 'node:assert/strict';
import { slotOfKey } from '@reeve/simulation/redis';
import {
  type Driver,
  fields,
  idOf,
  keyIn,
  type Node,
  type OperationCase,
  operation,
  ownerIn,
  refused,
  table,
} from './driver.ts';

const own = (name: string, run: OperationCase['run'], only?: OperationCase['only']) =>
  operation('own', name, run, only);

async function flagsOf(driver: Driver, viewer: Node, id: string): Promise<readonly string[]> {
  return (await table(driver, viewer)).find((line) => line.id === id)?.flags ?? [];
}

async function state(driver: Driver, node: Node): Promise<string | undefined> {
  return (await fields(driver, node, 'CLUSTER', 'INFO')).cluster_state;
}

/** Whoever owns its slot. */
async function inMemory(driver: Driver, node: Node, key: string): Promise<boolean> {
  return (await driver.call(node, 'CLUSTER', 'COUNTKEYSINSLOT', slotOfKey(key))) === 1;
}

/** `to` claims the slot with a greater epoch; `from` drops its keys. */
async function loseSlot(driver: Driver, key: string, from: Node, to: Node): Promise<void> {
  const slot = slotOfKey(key);
  const line = await driver.connect(from);
  await line.call('SET', key, 'value');
  assert.equal(await line.call('WAIT', 1, 20_000), 1);
  await driver.exec(to, [
    ['CLUSTER', 'DELSLOTS', slot],
    ['CLUSTER', 'ADDSLOTS', slot],
    ['CLUSTER', 'BUMPEPOCH'],
  ]);
  await driver.wait('the key is dropped', async () => !(await inMemory(driver, from, key)));
}

/** However long the restart of `a` takes, nobody is elected in its place. */
async function killWithReplica(driver: Driver): Promise<void> {
  await driver.kill(driver.nodes.replica);
  await driver.kill(driver.nodes.a);
}

export const faultCases: readonly OperationCase[] = [
  own('a killed primary is failed, its replica elected; restarted it becomes a replica', async (driver) => {
    const { a, b, c, replica } = driver.nodes;
    const key = keyIn(41);
    const [idOfA, idOfReplica] = [await idOf(driver, a), await idOf(driver, replica)];
    const line = await driver.connect(a);
    await line.call('SET', key, 'value');
    assert.equal(await line.call('WAIT', 1, 20_000), 1);
    const before = Math.max(...(await table(driver, b)).map(({ epoch }) => epoch));
    await driver.kill(a);
    await driver.wait('everybody sees the failure', async () => {
      return (await flagsOf(driver, b, idOfA)).includes('fail') && (await flagsOf(driver, c, idOfA)).includes('fail');
    });
    await driver.wait('the replica has the slots', async () => (await ownerIn(driver, c, 41)) === idOfReplica);
    await driver.wait(
      'state ok',
      async () => (await state(driver, c)) === 'ok' && (await state(driver, replica)) === 'ok',
    );
    assert.equal(await driver.call(replica, 'GET', key), 'value');
    const heir = (await table(driver, c)).find(({ id }) => id === idOfReplica);
    assert.ok((heir?.epoch ?? 0) > before);
    await driver.restart(a);
    await driver.wait('the old primary is a replica', async () => {
      const flags = await flagsOf(driver, b, idOfA);
      return flags.includes('slave') && !flags.includes('fail');
    });
    await driver.wait('with its data', async () => {
      return (await fields(driver, a, 'INFO', 'replication')).master_link_status === 'up';
    });
    const reader = await driver.connect(a);
    await reader.call('READONLY');
    assert.equal(await reader.call('GET', key), 'value');
  }),

  own('keys dropped with a lost slot: gone for good on Valkey, back after a restart on Redis 7', async (driver) => {
    const { a, b, replica } = driver.nodes;
    const key = keyIn(41);
    await loseSlot(driver, key, a, b);
    const isBack = driver.product === 'redis';
    const line = await driver.connect(a);
    await line.call('SET', keyIn(42), 'later');
    assert.equal(await line.call('WAIT', 1, 20_000), 1);
    assert.equal(await inMemory(driver, replica, key), isBack, 'its replica was not told either');
    await killWithReplica(driver);
    await driver.restart(a);
    assert.equal(await inMemory(driver, a, key), isBack);
    const self = (await table(driver, a)).find(({ flags }) => flags.includes('myself'));
    assert.deepEqual(self?.open, isBack ? [`[41-<-${await idOf(driver, b)}]`] : []);
  }),

  own('keys dropped with a lost slot are gone for good once the append-only file was rewritten', async (driver) => {
    const { a, b } = driver.nodes;
    const key = keyIn(41);
    await loseSlot(driver, key, a, b);
    await driver.call(a, 'BGREWRITEAOF');
    await driver.wait('it is rewritten', async () => {
      const info = await fields(driver, a, 'INFO', 'persistence');
      return info.aof_rewrite_in_progress === '0' && info.aof_rewrite_scheduled === '0';
    });
    await killWithReplica(driver);
    await driver.restart(a);
    assert.equal(await inMemory(driver, a, key), false);
  }),

  own('a killed primary without replica takes the cluster down until it is back', async (driver) => {
    const { a, b, c } = driver.nodes;
    const idOfB = await idOf(driver, b);
    await driver.kill(b);
    await driver.wait('failed', async () => (await flagsOf(driver, a, idOfB)).includes('fail'));
    await driver.wait('down', async () => (await state(driver, a)) === 'fail' && (await state(driver, c)) === 'fail');
    await refused(driver, a, ['GET', keyIn(41)], 'CLUSTERDOWN The cluster is down');
    await refused(driver, a, ['GET', keyIn(8041)], 'CLUSTERDOWN The cluster is down');
    await driver.restart(b);
    await driver.wait('up', async () => (await state(driver, a)) === 'ok' && (await state(driver, b)) === 'ok');
    assert.equal(await ownerIn(driver, a, 8041), idOfB);
  }),

  own('FAILOVER of a replica whose primary is dead is refused; FORCE works once', async (driver) => {
    const { a, b, c, replica } = driver.nodes;
    const idOfReplica = await idOf(driver, replica);
    // However long it takes to ask, nobody is elected before.
    const patience = async (ms: number) => {
      for (const node of [b, c, replica]) await driver.call(node, 'CONFIG', 'SET', 'cluster-node-timeout', ms);
    };
    await patience(60_000);
    await driver.kill(a);
    const dead = 'ERR Master is down or failed, please use CLUSTER FAILOVER FORCE';
    await driver.wait('the link is known to be down', async () => {
      const lines = await table(driver, replica);
      return lines.some((line) => line.address.includes(`:${a.port}@`) && line.link === 'disconnected');
    });
    await refused(driver, replica, ['CLUSTER', 'FAILOVER'], dead);
    assert.equal(await driver.call(replica, 'CLUSTER', 'FAILOVER', 'FORCE'), 'OK');
    await patience(3000);
    await driver.wait('the replica has the slots', async () => (await ownerIn(driver, c, 41)) === idOfReplica);
  }),

  own('without a majority nobody is elected; TAKEOVER works', async (driver) => {
    const { a, b, c, replica } = driver.nodes;
    const idOfReplica = await idOf(driver, replica);
    const idOfA = await idOf(driver, a);
    // At the same moment: had one of them longer than the node timeout, it would vote for the heir of the other.
    for (const node of [a, b]) driver.pause(node);
    for (const node of [a, b]) await driver.kill(node);
    // A primary without slots counts for the verdict, not for the election: `spare` and `c` may soon call it failed.
    await driver.wait('suspected', async () =>
      (await flagsOf(driver, c, idOfA)).some((flag) => flag === 'fail?' || flag === 'fail'),
    );
    await driver.wait(
      'down',
      async () => (await state(driver, c)) === 'fail' && (await state(driver, replica)) === 'fail',
    );
    assert.equal(await ownerIn(driver, c, 41), idOfA);
    assert.equal(await driver.call(replica, 'CLUSTER', 'FAILOVER', 'TAKEOVER'), 'OK');
    await driver.wait('the replica has the slots', async () => (await ownerIn(driver, c, 41)) === idOfReplica);
  }),

  own('a stopped primary is replaced, and follows when it runs again', async (driver) => {
    const { a, b, replica } = driver.nodes;
    const [idOfA, idOfReplica] = [await idOf(driver, a), await idOf(driver, replica)];
    driver.pause(a);
    await driver.wait('replaced', async () => (await ownerIn(driver, b, 41)) === idOfReplica);
    driver.resume(a);
    await driver.wait('it follows', async () => {
      return (await flagsOf(driver, a, idOfA)).includes('slave') && (await ownerIn(driver, a, 41)) === idOfReplica;
    });
    await driver.wait('and is no longer failed', async () => !(await flagsOf(driver, b, idOfA)).includes('fail'));
  }),

  own('a killed replica is failed and comes back in sync', async (driver) => {
    const { a, b, replica } = driver.nodes;
    const id = await idOf(driver, replica);
    await driver.kill(replica);
    await driver.wait('failed', async () => (await flagsOf(driver, b, id)).includes('fail'));
    assert.equal(await state(driver, b), 'ok');
    await driver.wait('its primary has let it go', async () => {
      return (await fields(driver, a, 'INFO', 'replication')).connected_slaves === '0';
    });
    const key = keyIn(41);
    await driver.call(a, 'SET', key, 'meanwhile');
    await driver.restart(replica);
    await driver.wait('well again', async () => !(await flagsOf(driver, b, id)).includes('fail'));
    const line = await driver.connect(replica);
    await line.call('READONLY');
    await driver.wait('in sync', async () => (await line.call('GET', key).catch(() => null)) === 'meanwhile');
  }),

  own(
    'Valkey 9.1: SETSLOT inside MULTI on a primary with a replica ends the server',
    async (driver) => {
      const { a } = driver.nodes;
      await assert.rejects(driver.exec(a, [['CLUSTER', 'SETSLOT', 41, 'STABLE']]));
      await assert.rejects(driver.call(a, 'PING'));
    },
    'valkey',
  ),
];
