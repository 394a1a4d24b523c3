/** Failovers, restarts and full memories in the middle of things. */
import assert from 'node:assert/strict';
import {
  close,
  type Driver,
  failOver,
  fields,
  idOf,
  keyIn,
  migrateArgs,
  moveSlot,
  type Node,
  type OperationCase,
  open,
  operation,
  ownerIn,
  ownLine,
  refused,
  table,
  waitForOwner,
} from './driver.ts';

const own = (name: string, run: OperationCase['run'], only?: OperationCase['only']) =>
  operation('own', name, run, only);

const shared = (name: string, run: OperationCase['run']) => operation('cluster', name, run);

const SLOT = 81;

async function waitForState(driver: Driver, nodes: readonly Node[]): Promise<void> {
  await driver.wait('state ok', async () => {
    for (const node of nodes) if ((await fields(driver, node, 'CLUSTER', 'INFO')).cluster_state !== 'ok') return false;
    return true;
  });
}

/** A handshake that is not answered within the node timeout is dropped. */
const HANDSHAKE_OVER_MS = 4_000;

/** MEET from one to all the others, until it has a link to each at its address: once more where a handshake came to nothing. */
async function meetAgain(driver: Driver, by: Node, ids: ReadonlyMap<Node, string>): Promise<void> {
  let askedAt = Number.NEGATIVE_INFINITY;
  await driver.wait(`${by.name} has found all`, async () => {
    const lines = await table(driver, by);
    const isFound = ({ host, port }: Node, id: string) =>
      lines.some((line) => line.id === id && line.address.startsWith(`${host}:${port}@`) && line.link === 'connected');
    const lost = [...ids].filter(([node, id]) => node !== by && !isFound(node, id));
    if (lost.length === 0) return true;
    if (performance.now() - askedAt < HANDSHAKE_OVER_MS) return false;
    askedAt = performance.now();
    for (const [{ host, port, busPort }] of lost) await driver.call(by, 'CLUSTER', 'MEET', host, port, busPort);
    return false;
  });
}

/** A hand-over from `a` to its replica, known to all. */
async function handOver(driver: Driver): Promise<string> {
  const { replica } = driver.nodes;
  const id = await idOf(driver, replica);
  await failOver(driver, replica);
  await driver.wait('everybody knows', async () => {
    for (const node of Object.values(driver.nodes)) if ((await ownerIn(driver, node, 0)) !== id) return false;
    return true;
  });
  return id;
}

export const movementCases: readonly OperationCase[] = [
  own('a server that comes back at another port is found again', async (driver) => {
    const { b, ...others } = driver.nodes;
    const id = await idOf(driver, b);
    await driver.kill(b);
    await driver.restart(b, 'elsewhere');
    await driver.wait('all have the new address', async () => {
      for (const node of Object.values(others)) {
        const line = (await table(driver, node)).find((candidate) => candidate.id === id);
        if (!line?.address.startsWith(`${b.host}:${b.port}@`) || line.link !== 'connected') return false;
      }
      return true;
    });
    await waitForState(driver, Object.values(driver.nodes));
    assert.equal(await idOf(driver, b), id);
  }),

  own('all servers back at other ports: one MEETs them, nobody loses its id', async (driver) => {
    const nodes = Object.values(driver.nodes);
    const ids = await Promise.all(nodes.map((node) => idOf(driver, node)));
    // At the same moment: whoever lives longer may fail the others and elect somebody.
    for (const node of nodes) driver.pause(node);
    for (const node of nodes) await driver.kill(node);
    for (const node of nodes) await driver.restart(node, 'elsewhere');
    const { a, b } = driver.nodes;
    await driver.wait('they do not find each other', async () => {
      return (await table(driver, a)).some(({ id, flags }) => id === ids[1] && flags.includes('fail?'));
    });
    await meetAgain(driver, a, new Map(nodes.map((node, index) => [node, ids[index] as string])));
    await waitForState(driver, nodes);
    for (const node of nodes) {
      await driver.wait(`${node.name} knows all`, async () => {
        const lines = await table(driver, node);
        return lines.every(
          ({ flags }) => !flags.some((flag) => ['fail', 'fail?', 'handshake', 'noaddr'].includes(flag)),
        );
      });
      const known = (await table(driver, node)).map(({ id }) => id);
      assert.deepEqual([...known].sort(), [...ids].sort());
    }
    assert.equal(await ownerIn(driver, b, SLOT), ids[0]);
  }),

  own('open slots survive a restart', async (driver) => {
    const { a, b, replica } = driver.nodes;
    await open(driver, SLOT, a, b);
    // However long the restart of `a` takes, nobody is elected in its place.
    await driver.kill(replica);
    for (const node of [a, b]) {
      const before = (await ownLine(driver, node)).open;
      await driver.kill(node);
      await driver.restart(node);
      assert.deepEqual((await ownLine(driver, node)).open, before);
    }
  }),

  own(
    'Redis: open slots of a primary are not known to its promoted replica',
    async (driver) => {
      const { a, b, replica } = driver.nodes;
      const idOfA = await idOf(driver, a);
      await open(driver, SLOT, a, b);
      await handOver(driver);
      assert.deepEqual((await ownLine(driver, replica)).open, []);
      assert.deepEqual((await ownLine(driver, a)).open, []);
      // The target goes on importing from a node that is no longer the owner.
      assert.deepEqual((await ownLine(driver, b)).open, [`[${SLOT}-<-${idOfA}]`]);
    },
    'redis',
  ),

  own(
    'Valkey: open slots follow a hand-over, on both sides',
    async (driver) => {
      const { a, b, replica } = driver.nodes;
      const [idOfA, idOfB, idOfReplica] = await Promise.all([a, b, replica].map((node) => idOf(driver, node)));
      // A mark follows within a shard; which nodes are one spreads by gossip, seconds later than all else.
      await driver.wait('the target knows the shard', async () => {
        const shards = (await driver.call(b, 'CLUSTER', 'SHARDS')) as readonly unknown[];
        const texts = shards.map((shard) => JSON.stringify(shard));
        return texts.some((text) => text.includes(String(idOfA)) && text.includes(String(idOfReplica)));
      });
      await open(driver, SLOT, a, b);
      await handOver(driver);
      assert.deepEqual((await ownLine(driver, replica)).open, [`[${SLOT}->-${idOfB}]`]);
      await driver.wait('the target follows', async () => {
        return (await ownLine(driver, b)).open.join() === `[${SLOT}-<-${idOfReplica}]`;
      });
    },
    'valkey',
  ),

  own('keys of a slot that another node owns: what a restart makes of them', async (driver) => {
    const { a, b } = driver.nodes;
    const key = keyIn(SLOT);
    await driver.call(b, 'CLUSTER', 'SETSLOT', SLOT, 'IMPORTING', await idOf(driver, a));
    const line = await driver.connect(b);
    await line.call('ASKING');
    await line.call('SET', key, 'stray');
    await close(driver, SLOT, b);
    await driver.kill(b);
    await driver.restart(b);
    const counted = await driver.call(b, 'CLUSTER', 'COUNTKEYSINSLOT', SLOT);
    const { open: opened } = await ownLine(driver, b);
    // Valkey deletes them; Redis keeps them and calls the slot importing.
    assert.deepEqual([counted, opened.length], driver.product === 'valkey' ? [0, 0] : [1, 1]);
  }),

  own('with cluster-allow-replica-migration a primary that gives its last slot away follows it', async (driver) => {
    const { a, spare } = driver.nodes;
    const idOfA = await idOf(driver, a);
    await driver.call(spare, 'CONFIG', 'SET', 'cluster-allow-replica-migration', 'yes');
    await moveSlot(driver, SLOT, a, spare);
    await open(driver, SLOT, spare, a);
    await driver.call(a, 'CLUSTER', 'SETSLOT', SLOT, 'NODE', idOfA);
    // By gossip it may be a replica already, and refuse to be told.
    await driver.call(spare, 'CLUSTER', 'SETSLOT', SLOT, 'NODE', idOfA).catch((error: Error) => {
      assert.match(error.message, /only with masters/);
    });
    await driver.wait('it is a replica', async () => {
      const line = await ownLine(driver, spare);
      return line.flags.includes('slave') && line.primary === idOfA;
    });
  }),

  shared('without it, it stays an empty primary', async (driver) => {
    const { a, spare } = driver.nodes;
    await moveSlot(driver, SLOT, a, spare);
    await moveSlot(driver, SLOT, spare, a);
    const line = await ownLine(driver, spare);
    assert.deepEqual([line.flags.includes('master'), line.slots], [true, []]);
  }),

  shared('MIGRATE to a target without memory moves nothing', async (driver) => {
    const { a, b } = driver.nodes;
    const key = keyIn(SLOT);
    await driver.call(a, 'SET', key, 'value');
    await driver.call(b, 'CONFIG', 'SET', 'maxmemory', 1);
    await open(driver, SLOT, a, b);
    const message = "ERR Target instance replied with error: OOM command not allowed when used memory > 'maxmemory'.";
    await refused(driver, a, migrateArgs(b, [key]), message);
    assert.equal(await driver.call(a, 'GET', key), 'value');
    await refused(driver, b, ['SET', keyIn(8081), 'x'], "OOM command not allowed when used memory > 'maxmemory'.");
    await driver.call(b, 'CONFIG', 'SET', 'maxmemory', 0);
    await close(driver, SLOT, a, b);
    await driver.call(a, 'DEL', key);
  }),

  shared('MIGRATE to a stopped target ends after its time limit, and the key stays', async (driver) => {
    const { a, b } = driver.nodes;
    const key = keyIn(SLOT);
    await driver.call(a, 'SET', key, 'value');
    await open(driver, SLOT, a, b);
    driver.pause(b);
    await refused(driver, a, ['MIGRATE', b.host, b.port, key, 0, 200], /^IOERR error or timeout reading /);
    assert.equal(await driver.call(a, 'GET', key), 'value');
    driver.resume(b);
    // What was sent is done when it goes on: the copy there must go before the slot is closed.
    await driver.wait(
      'the copy is there',
      async () => (await driver.call(b, 'CLUSTER', 'COUNTKEYSINSLOT', SLOT)) === 1,
    );
    const line = await driver.connect(b);
    await line.call('ASKING');
    await line.call('DEL', key);
    await close(driver, SLOT, a, b);
    await driver.call(a, 'DEL', key);
  }),

  own(
    'Valkey: a job whose target dies fails on the source',
    async (driver) => {
      const { a, spare } = driver.nodes;
      driver.pause(spare);
      await driver.call(
        a,
        'CLUSTER',
        'MIGRATESLOTS',
        'SLOTSRANGE',
        SLOT,
        SLOT,
        'NODE',
        await idOfStopped(driver, spare),
      );
      const newest = async () => ((await driver.call(a, 'CLUSTER', 'GETSLOTMIGRATIONS')) as string[][])[0] ?? [];
      const stateOf = (job: readonly string[]) => job[job.indexOf('state') + 1];
      await driver.wait('it waits', async () => stateOf(await newest()) === 'reading-establish-response');
      await driver.kill(spare);
      await driver.wait('it fails', async () => stateOf(await newest()) === 'failed');
      assert.match(String((await newest())[(await newest()).indexOf('message') + 1]), /^Connection lost to target\./);
      assert.equal(await ownerIn(driver, a, SLOT), await idOf(driver, a));
    },
    'valkey',
  ),

  shared('a slot claimed twice: the greater epoch wins, the loser drops its keys', async (driver) => {
    const { a, b } = driver.nodes;
    const key = keyIn(SLOT);
    const idOfB = await idOf(driver, b);
    await driver.call(a, 'SET', key, 'value');
    await driver.exec(b, [
      ['CLUSTER', 'DELSLOTS', SLOT],
      ['CLUSTER', 'ADDSLOTS', SLOT],
      ['CLUSTER', 'BUMPEPOCH'],
    ]);
    await waitForOwner(driver, SLOT, idOfB);
    await driver.wait('the keys are dropped', async () => {
      return (await driver.call(a, 'CLUSTER', 'COUNTKEYSINSLOT', SLOT)) === 0;
    });
    assert.equal(await driver.call(b, 'GET', key), null);
    await moveSlot(driver, SLOT, b, a);
  }),
];

/** A stopped server cannot be asked for its id. */
async function idOfStopped(driver: Driver, node: Node): Promise<string> {
  const line = (await table(driver, driver.nodes.a)).find(({ address }) => address.includes(`:${node.port}@`));
  assert.ok(line);
  return line.id;
}
