/** Who belongs to the cluster and in which role. */
import assert from 'node:assert/strict';
import {
  type Driver,
  failOver,
  fields,
  idOf,
  keyIn,
  type Node,
  type OperationCase,
  open,
  close,
  operation,
  ownLine,
  refused,
  table,
} from './driver.ts';

const cluster = (name: string, run: OperationCase['run'], only?: OperationCase['only']) =>
  operation('cluster', name, run, only);

const SLOT = 31;

async function waitForRole(driver: Driver, node: Node, role: 'master' | 'slave', primary: string): Promise<void> {
  const id = await idOf(driver, node);
  await driver.wait(`everybody sees ${node.name} as ${role}`, async () => {
    for (const other of Object.values(driver.nodes)) {
      const line = (await table(driver, other)).find((candidate) => candidate.id === id);
      if (!line?.flags.includes(role) || line.primary !== primary) return false;
    }
    return true;
  });
}

async function waitForLink(driver: Driver, replica: Node): Promise<void> {
  await driver.wait(`${replica.name} is in sync`, async () => {
    return (await fields(driver, replica, 'INFO', 'replication')).master_link_status === 'up';
  });
}

export const memberCases: readonly OperationCase[] = [
  cluster('all nodes agree on members, roles, slots and epochs', async (driver) => {
    const views = new Set<string>();
    for (const node of Object.values(driver.nodes)) {
      const lines = await table(driver, node);
      assert.equal(lines.length, 5);
      views.add(
        lines
          .map(({ id, primary, slots, epoch }) => [id, primary, slots.join(','), epoch].join(' '))
          .sort()
          .join('\n'),
      );
    }
    assert.equal(views.size, 1);
  }),

  cluster('CLUSTER INFO of a member', async (driver) => {
    const info = await fields(driver, driver.nodes.b, 'CLUSTER', 'INFO');
    assert.equal(info.cluster_state, 'ok');
    assert.equal(info.cluster_slots_assigned, '16384');
    assert.equal(info.cluster_slots_ok, '16384');
    assert.equal(info.cluster_known_nodes, '5');
    assert.equal(info.cluster_size, '3');
    assert.equal(Number(info.cluster_my_epoch), (await ownLine(driver, driver.nodes.b)).epoch);
    assert.ok(Number(info.cluster_current_epoch) >= Number(info.cluster_my_epoch));
  }),

  cluster('CLUSTER SLOTS names primary and replica of each range', async (driver) => {
    const { a, c, replica } = driver.nodes;
    const [idOfA, idOfReplica] = [await idOf(driver, a), await idOf(driver, replica)];
    const firstRow = async () => {
      const reply = (await driver.call(c, 'CLUSTER', 'SLOTS')) as unknown[][];
      return reply.find(([first]) => first === 0) as [number, number, ...[string, number, string, unknown][]];
    };
    // A replica is named by those who have heard that it has data.
    await driver.wait('the replica is named', async () => (await firstRow()).length === 4);
    const row = await firstRow();
    assert.equal(row[1], 5461 - 1);
    assert.deepEqual([row[2]?.[0], row[2]?.[1], row[2]?.[2]], [a.host, a.port, idOfA]);
    assert.deepEqual([row[3]?.[1], row[3]?.[2]], [replica.port, idOfReplica]);
  }),

  cluster('CLUSTER REPLICAS lists the lines of a primary’s replicas', async (driver) => {
    const { a, b, replica } = driver.nodes;
    const [idOfA, idOfReplica] = [await idOf(driver, a), await idOf(driver, replica)];
    const lines = (await driver.call(b, 'CLUSTER', 'REPLICAS', idOfA)) as string[];
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', new RegExp(`^${idOfReplica} .* slave ${idOfA} `));
    assert.deepEqual(await driver.call(a, 'CLUSTER', 'REPLICAS', await idOf(driver, b)), []);
    const notPrimary = 'ERR The specified node is not a master';
    await refused(driver, a, ['CLUSTER', 'REPLICAS', idOfReplica], notPrimary);
    await refused(driver, a, ['CLUSTER', 'REPLICAS', 'x'], 'ERR Unknown node x');
  }),

  cluster('CLUSTER SHARDS groups primaries with their replicas', async (driver) => {
    const { a, b, replica } = driver.nodes;
    const expected = [await idOf(driver, a), await idOf(driver, replica)].sort().join();
    let slots: unknown;
    // Who shares a shard is told by gossip, after who follows whom.
    await driver.wait('b knows their shard', async () => {
      const shards = (await driver.call(b, 'CLUSTER', 'SHARDS')) as unknown[][];
      const shard = shards.find((one) => {
        const nodes = one[one.indexOf('nodes') + 1] as unknown[][];
        const ids = nodes.map((node) => String(node[node.indexOf('id') + 1]));
        return ids.sort().join() === expected;
      });
      slots = shard?.[shard.indexOf('slots') + 1];
      return shard !== undefined;
    });
    assert.deepEqual(slots, [0, 5460]);
  }),

  cluster(
    'Valkey: MYSHARDID is shared by a primary and its replica',
    async (driver) => {
      const { a, b, replica } = driver.nodes;
      const shard = await driver.call(a, 'CLUSTER', 'MYSHARDID');
      assert.equal(await driver.call(replica, 'CLUSTER', 'MYSHARDID'), shard);
      assert.notEqual(await driver.call(b, 'CLUSTER', 'MYSHARDID'), shard);
    },
    'valkey',
  ),

  cluster(
    'Redis 7.0 has no MYSHARDID',
    async (driver) => {
      const unknown = "ERR unknown subcommand 'MYSHARDID'. Try CLUSTER HELP.";
      await refused(driver, driver.nodes.a, ['CLUSTER', 'MYSHARDID'], unknown);
    },
    'redis',
  ),

  cluster('INFO replication of primary and replica', async (driver) => {
    const { a, b, replica } = driver.nodes;
    // A primary calls a replica online after the replica itself does.
    await driver.wait('the primary calls it online', async () => {
      return (await fields(driver, a, 'INFO', 'replication')).slave0?.includes(',state=online,') ?? false;
    });
    const [ofA, ofB] = [await fields(driver, a, 'INFO', 'replication'), await fields(driver, b, 'INFO', 'replication')];
    assert.deepEqual([ofA.role, ofA.connected_slaves], ['master', '1']);
    assert.match(ofA.slave0 ?? '', new RegExp(`port=${replica.port},state=online,offset=\\d+`));
    assert.deepEqual([ofB.role, ofB.connected_slaves], ['master', '0']);
    const ofReplica = await fields(driver, replica, 'INFO', 'replication');
    assert.deepEqual(
      [ofReplica.role, ofReplica.master_host, ofReplica.master_port, ofReplica.master_link_status],
      ['slave', a.host, String(a.port), 'up'],
    );
    assert.equal(ofReplica.master_sync_in_progress, '0');
    assert.ok(Number(ofReplica.slave_repl_offset) > 0);
  }),

  cluster('INFO tells product, version and mode', async (driver) => {
    const info = await fields(driver, driver.nodes.a, 'INFO');
    assert.equal(driver.product === 'valkey' ? info.server_name : 'redis', driver.product);
    assert.match((driver.product === 'valkey' ? info.valkey_version : info.redis_version) ?? '', /^\d+\.\d+\.\d+$/);
    assert.deepEqual([info.redis_mode ?? info.server_mode, info.cluster_enabled], ['cluster', '1']);
    assert.match(info.run_id ?? '', /^[0-9a-f]{40}$/);
    for (const name of ['used_memory', 'maxmemory', 'total_system_memory']) assert.match(info[name] ?? '', /^\d+$/);
  }),

  cluster('REPLICATE is refused by a primary with slots', async (driver) => {
    const { a, b } = driver.nodes;
    const message = 'ERR To set a master the node must be empty and without assigned slots.';
    await refused(driver, b, ['CLUSTER', 'REPLICATE', await idOf(driver, a)], message);
  }),

  cluster('REPLICATE is refused by a primary with keys', async (driver) => {
    const { a, spare } = driver.nodes;
    const key = keyIn(SLOT);
    await open(driver, SLOT, a, spare);
    const line = await driver.connect(spare);
    await line.call('ASKING');
    await line.call('SET', key, 'x');
    const message = 'ERR To set a master the node must be empty and without assigned slots.';
    await refused(driver, spare, ['CLUSTER', 'REPLICATE', await idOf(driver, a)], message);
    await line.call('ASKING');
    await line.call('DEL', key);
    await close(driver, SLOT, a, spare);
  }),

  cluster('REPLICATE of a replica is refused', async (driver) => {
    const { spare, replica } = driver.nodes;
    const message = 'ERR I can only replicate a master, not a replica.';
    await refused(driver, spare, ['CLUSTER', 'REPLICATE', await idOf(driver, replica)], message);
  }),

  cluster('REPLICATE: data and role follow, and RESET makes an empty primary of it again', async (driver) => {
    const { b, spare } = driver.nodes;
    const key = keyIn(8031);
    await driver.call(b, 'SET', key, 'value');
    const idOfB = await idOf(driver, b);
    assert.equal(await driver.call(spare, 'CLUSTER', 'REPLICATE', idOfB), 'OK');
    assert.equal(await driver.call(spare, 'CLUSTER', 'REPLICATE', idOfB), 'OK');
    await waitForRole(driver, spare, 'slave', idOfB);
    await waitForLink(driver, spare);
    const line = await driver.connect(spare);
    await line.call('READONLY');
    assert.equal(await line.call('GET', key), 'value');
    await driver.call(b, 'DEL', key);
    // HARD: after SOFT the others would go on taking its primary's epoch for its own.
    await forgetByAll(driver, spare);
    await rejoinAsAnother(driver, spare);
    await waitForRole(driver, spare, 'master', '-');
    assert.equal(await driver.call(spare, 'DBSIZE'), 0);
  }),

  cluster('a replica moves to another primary', async (driver) => {
    const { a, b, replica } = driver.nodes;
    const [idOfA, idOfB] = [await idOf(driver, a), await idOf(driver, b)];
    assert.equal(await driver.call(replica, 'CLUSTER', 'REPLICATE', idOfB), 'OK');
    await waitForRole(driver, replica, 'slave', idOfB);
    await waitForLink(driver, replica);
    await driver.call(replica, 'CLUSTER', 'REPLICATE', idOfA);
    await waitForRole(driver, replica, 'slave', idOfA);
    await waitForLink(driver, replica);
  }),

  cluster('FORGET: a replica does not forget its primary', async (driver) => {
    const { a, replica } = driver.nodes;
    await refused(driver, replica, ['CLUSTER', 'FORGET', await idOf(driver, a)], "ERR Can't forget my master!");
  }),

  cluster('FORGET by all: it is gone, and gossip does not bring it back', async (driver) => {
    const { spare, ...others } = driver.nodes;
    const id = await idOf(driver, spare);
    await forgetByAll(driver, spare);
    await driver.call(spare, 'CLUSTER', 'RESET', 'SOFT');
    for (const node of Object.values(others)) {
      assert.ok(!(await table(driver, node)).some((line) => line.id === id), node.name);
    }
    assert.equal((await table(driver, spare)).length, 1);
    assert.equal(await idOf(driver, spare), id);
    await rejoinAsAnother(driver, spare);
    assert.notEqual(await idOf(driver, spare), id);
  }),

  cluster(
    'Valkey: the ban travels by gossip, and FORGET of what is banned is no error',
    async (driver) => {
      const { a, spare, ...others } = driver.nodes;
      const id = await idOf(driver, spare);
      await driver.call(a, 'CLUSTER', 'FORGET', id);
      assert.equal(await driver.call(a, 'CLUSTER', 'FORGET', id), 'OK');
      await driver.wait('the others forget it too', async () => {
        for (const node of Object.values(others)) {
          if ((await table(driver, node)).some((line) => line.id === id)) return false;
        }
        return true;
      });
      await rejoinAsAnother(driver, spare);
    },
    'valkey',
  ),

  cluster(
    'Redis 7.0: FORGET twice is an error, and MEET brings a banned node back',
    async (driver) => {
      const { spare, ...others } = driver.nodes;
      const id = await idOf(driver, spare);
      await forgetByAll(driver, spare);
      await refused(driver, others.a, ['CLUSTER', 'FORGET', id], `ERR Unknown node ${id}`);
      await rejoin(driver, spare);
      assert.equal(await idOf(driver, spare), id);
    },
    'redis',
  ),

  cluster('COUNT-FAILURE-REPORTS', async (driver) => {
    const { a, b } = driver.nodes;
    assert.equal(await driver.call(a, 'CLUSTER', 'COUNT-FAILURE-REPORTS', await idOf(driver, b)), 0);
    const stranger = 'f'.repeat(40);
    await refused(driver, a, ['CLUSTER', 'COUNT-FAILURE-REPORTS', stranger], `ERR Unknown node ${stranger}`);
  }),

  cluster('SAVECONFIG', async (driver) => {
    assert.equal(await driver.call(driver.nodes.a, 'CLUSTER', 'SAVECONFIG'), 'OK');
  }),

  cluster('FAILOVER: the replica takes over with all data, and back again', async (driver) => {
    const { a, replica } = driver.nodes;
    const key = keyIn(SLOT);
    await driver.call(a, 'SET', key, 'value');
    await swap(driver, replica, a);
    assert.equal(await driver.call(replica, 'GET', key), 'value');
    await refused(driver, a, ['GET', key], `MOVED ${SLOT} ${replica.host}:${replica.port}`);
    await swap(driver, a, replica);
    assert.equal(await driver.call(a, 'DEL', key), 1);
  }),

  cluster('FAILOVER TAKEOVER needs nobody', async (driver) => {
    const { a, replica } = driver.nodes;
    await swap(driver, replica, a, 'TAKEOVER');
    await swap(driver, a, replica, 'TAKEOVER');
  }),
];

/** FAILOVER on `next`, until everybody sees it as primary and `former` as its replica, with a greater epoch. */
async function swap(driver: Driver, next: Node, former: Node, ...mode: string[]): Promise<void> {
  const id = await idOf(driver, next);
  const before = Math.max(...(await table(driver, next)).map(({ epoch }) => epoch));
  await failOver(driver, next, ...mode);
  await waitForRole(driver, next, 'master', '-');
  await waitForRole(driver, former, 'slave', id);
  await waitForLink(driver, former);
  assert.ok((await ownLine(driver, next)).epoch > before);
}

async function forgetByAll(driver: Driver, node: Node): Promise<void> {
  const id = await idOf(driver, node);
  for (const other of Object.values(driver.nodes)) {
    if (other !== node) await driver.call(other, 'CLUSTER', 'FORGET', id);
  }
}

/** With a new id: on Valkey the old one is banned for a minute, MEET or not. */
async function rejoinAsAnother(driver: Driver, node: Node): Promise<void> {
  await driver.call(node, 'CLUSTER', 'RESET', 'HARD');
  await meetAll(driver, node);
}

/** RESET, then met by everybody again: whatever it was, it is an empty primary of the cluster then. */
async function rejoin(driver: Driver, node: Node): Promise<void> {
  await driver.call(node, 'CLUSTER', 'RESET', 'SOFT');
  await meetAll(driver, node);
}

async function meetAll(driver: Driver, node: Node): Promise<void> {
  const others = Object.values(driver.nodes).filter((other) => other !== node);
  for (const other of others) {
    await driver.call(other, 'CLUSTER', 'MEET', node.host, node.port, node.busPort);
    await driver.call(node, 'CLUSTER', 'MEET', other.host, other.port, other.busPort);
  }
  const id = await idOf(driver, node);
  await driver.wait(`${node.name} is known by all and knows all`, async () => {
    for (const other of others) {
      const line = (await table(driver, other)).find((candidate) => candidate.id === id);
      if (!line || line.flags.some((flag) => ['handshake', 'noaddr', 'fail?', 'fail'].includes(flag))) return false;
    }
    const lines = await table(driver, node);
    if (lines.length !== 5 || lines.some(({ flags }) => flags.includes('handshake'))) return false;
    return (await fields(driver, node, 'CLUSTER', 'INFO')).cluster_state === 'ok';
  });
}
