/** Servers that know nobody: what they refuse, epochs, slots, MEET, RESET. */
import assert from 'node:assert/strict';
import { slotOfKey } from '@reeve/simulation/redis';
import { type Driver, fields, idOf, type OperationCase, operation, ownLine, refused, table } from './driver.ts';

const fresh = (name: string, run: OperationCase['run'], only?: OperationCase['only']) =>
  operation('fresh', name, run, only);

async function own(driver: Driver) {
  return ownLine(driver, driver.nodes.a);
}

export const freshCases: readonly OperationCase[] = [
  fresh('CLUSTER INFO of a fresh server', async (driver) => {
    const info = await fields(driver, driver.nodes.a, 'CLUSTER', 'INFO');
    assert.equal(info.cluster_state, 'fail');
    assert.equal(info.cluster_slots_assigned, '0');
    assert.equal(info.cluster_known_nodes, '1');
    assert.equal(info.cluster_current_epoch, '0');
    assert.equal(info.cluster_my_epoch, '0');
  }),

  fresh('the own line of a fresh server: a primary without slots, epoch 0', async (driver) => {
    const line = await own(driver);
    assert.equal(line.id, await idOf(driver, driver.nodes.a));
    assert.match(line.id, /^[0-9a-f]{40}$/);
    assert.deepEqual(line.flags, ['myself', 'master']);
    assert.deepEqual([line.primary, line.epoch, line.link, line.slots.length], ['-', 0, 'connected', 0]);
    assert.match(line.address, new RegExp(`:${driver.nodes.a.port}@${driver.nodes.a.busPort}`));
  }),

  fresh('SET-CONFIG-EPOCH raises the current epoch with it', async (driver) => {
    assert.equal(await driver.call(driver.nodes.a, 'CLUSTER', 'SET-CONFIG-EPOCH', 7), 'OK');
    assert.equal((await own(driver)).epoch, 7);
    const info = await fields(driver, driver.nodes.a, 'CLUSTER', 'INFO');
    assert.deepEqual([info.cluster_current_epoch, info.cluster_my_epoch], ['7', '7']);
  }),

  fresh('SET-CONFIG-EPOCH is refused when the epoch is set', async (driver) => {
    await driver.call(driver.nodes.a, 'CLUSTER', 'SET-CONFIG-EPOCH', 3);
    const again = ['CLUSTER', 'SET-CONFIG-EPOCH', 4];
    await refused(driver, driver.nodes.a, again, 'ERR Node config epoch is already non-zero');
    assert.equal((await own(driver)).epoch, 3);
  }),

  fresh('SET-CONFIG-EPOCH refuses what is not an epoch', async (driver) => {
    const { a } = driver.nodes;
    await refused(driver, a, ['CLUSTER', 'SET-CONFIG-EPOCH', -1], 'ERR Invalid config epoch specified: -1');
    const notNumber = 'ERR value is not an integer or out of range';
    await refused(driver, a, ['CLUSTER', 'SET-CONFIG-EPOCH', 'x'], notNumber);
  }),

  fresh('SET-CONFIG-EPOCH is refused when another node is known', async (driver) => {
    const { a, b } = driver.nodes;
    await driver.call(a, 'CLUSTER', 'MEET', b.host, b.port, b.busPort);
    const message = 'ERR The user can assign a config epoch only when the node does not know any other node.';
    await refused(driver, a, ['CLUSTER', 'SET-CONFIG-EPOCH', 1], message);
  }),

  fresh('BUMPEPOCH gives a new epoch once', async (driver) => {
    assert.equal(await driver.call(driver.nodes.a, 'CLUSTER', 'BUMPEPOCH'), 'BUMPED 1');
    assert.equal(await driver.call(driver.nodes.a, 'CLUSTER', 'BUMPEPOCH'), 'STILL 1');
    assert.equal((await own(driver)).epoch, 1);
  }),

  fresh('ADDSLOTS and DELSLOTS change the own line', async (driver) => {
    const { a } = driver.nodes;
    await driver.call(a, 'CLUSTER', 'ADDSLOTS', 0, 1, 2, 7);
    assert.deepEqual((await own(driver)).slots, ['0-2', '7']);
    await driver.call(a, 'CLUSTER', 'DELSLOTS', 1, 7);
    assert.deepEqual((await own(driver)).slots, ['0', '2']);
  }),

  fresh('ADDSLOTS of a slot that is taken adds nothing at all', async (driver) => {
    const { a } = driver.nodes;
    await driver.call(a, 'CLUSTER', 'ADDSLOTS', 5);
    await refused(driver, a, ['CLUSTER', 'ADDSLOTS', 4, 5, 6], 'ERR Slot 5 is already busy');
    assert.deepEqual((await own(driver)).slots, ['5']);
  }),

  fresh('ADDSLOTS refuses a slot given twice', async (driver) => {
    await refused(driver, driver.nodes.a, ['CLUSTER', 'ADDSLOTS', 7, 7], 'ERR Slot 7 specified multiple times');
    assert.deepEqual((await own(driver)).slots, []);
  }),

  fresh('slot numbers outside 0-16383 are refused', async (driver) => {
    const { a } = driver.nodes;
    for (const slot of ['16384', '-1', 'x', '1.5']) {
      await refused(driver, a, ['CLUSTER', 'ADDSLOTS', slot], 'ERR Invalid or out of range slot');
      await refused(driver, a, ['CLUSTER', 'SETSLOT', slot, 'STABLE'], 'ERR Invalid or out of range slot');
    }
  }),

  fresh('ADDSLOTSRANGE and DELSLOTSRANGE', async (driver) => {
    const { a } = driver.nodes;
    await driver.call(a, 'CLUSTER', 'ADDSLOTSRANGE', 0, 99, 200, 299);
    assert.deepEqual((await own(driver)).slots, ['0-99', '200-299']);
    await driver.call(a, 'CLUSTER', 'DELSLOTSRANGE', 50, 99);
    assert.deepEqual((await own(driver)).slots, ['0-49', '200-299']);
  }),

  fresh('ADDSLOTSRANGE refuses ranges that are none', async (driver) => {
    const { a } = driver.nodes;
    const reversed = 'ERR start slot number 9 is greater than end slot number 3';
    await refused(driver, a, ['CLUSTER', 'ADDSLOTSRANGE', 9, 3], reversed);
    const odd = "ERR wrong number of arguments for 'cluster|addslotsrange' command";
    await refused(driver, a, ['CLUSTER', 'ADDSLOTSRANGE', 1, 3, 5], odd);
    const busy = ['CLUSTER', 'ADDSLOTSRANGE', 0, 9, 5, 7];
    await refused(driver, a, busy, 'ERR Slot 5 specified multiple times');
    assert.deepEqual((await own(driver)).slots, []);
  }),

  fresh('FLUSHSLOTS gives all slots up', async (driver) => {
    await driver.call(driver.nodes.a, 'CLUSTER', 'ADDSLOTSRANGE', 0, 99);
    assert.equal(await driver.call(driver.nodes.a, 'CLUSTER', 'FLUSHSLOTS'), 'OK');
    assert.deepEqual((await own(driver)).slots, []);
  }),

  fresh('DELSLOTS refuses what nobody has', async (driver) => {
    await refused(driver, driver.nodes.a, ['CLUSTER', 'DELSLOTS', 9], 'ERR Slot 9 is already unassigned');
  }),

  fresh('MEET refuses names and ports that are none', async (driver) => {
    const { a } = driver.nodes;
    const name = 'ERR Invalid node address specified: nonsense:6379';
    await refused(driver, a, ['CLUSTER', 'MEET', 'nonsense', 6379], name);
    await refused(driver, a, ['CLUSTER', 'MEET', '127.0.0.1', 0], {
      valkey: 'ERR Port number is out of range',
      redis: 'ERR Invalid node address specified: 127.0.0.1:0',
    });
    await refused(driver, a, ['CLUSTER', 'MEET', '127.0.0.1', 'x'], /^ERR Invalid (TCP )?base port specified: x$/);
  }),

  fresh('MEET: both know each other under their ids, out of handshake', async (driver) => {
    const { a, b } = driver.nodes;
    await driver.call(a, 'CLUSTER', 'MEET', b.host, b.port, b.busPort);
    const ids = [await idOf(driver, a), await idOf(driver, b)].sort();
    await driver.wait('both know both', async () => {
      for (const node of [a, b]) {
        const lines = await table(driver, node);
        if (lines.some(({ flags, link }) => flags.includes('handshake') || link !== 'connected')) return false;
        if (
          lines
            .map(({ id }) => id)
            .sort()
            .join() !== ids.join()
        )
          return false;
      }
      return true;
    });
    // Having been met, a server knows its own address.
    assert.ok((await ownLine(driver, b)).address.startsWith(`${b.host}:${b.port}@`));
  }),

  fresh('two primaries that meet with one epoch end with two; the smaller id moves', async (driver) => {
    const { a, b } = driver.nodes;
    for (const node of [a, b]) await driver.call(node, 'CLUSTER', 'SET-CONFIG-EPOCH', 5);
    await driver.call(a, 'CLUSTER', 'MEET', b.host, b.port, b.busPort);
    await driver.wait(
      'the epochs differ',
      async () => (await ownLine(driver, a)).epoch !== (await ownLine(driver, b)).epoch,
    );
    const [first, second] = [await ownLine(driver, a), await ownLine(driver, b)];
    const [smaller, greater] = first.id < second.id ? [first, second] : [second, first];
    assert.equal(greater.epoch, 5);
    assert.ok(smaller.epoch > 5);
  }),

  fresh('FORGET refuses ourselves and strangers', async (driver) => {
    const { a } = driver.nodes;
    const id = await idOf(driver, a);
    await refused(driver, a, ['CLUSTER', 'FORGET', id], "ERR I tried hard but I can't forget myself...");
    await refused(driver, a, ['CLUSTER', 'FORGET', 'f'.repeat(40)], `ERR Unknown node ${'f'.repeat(40)}`);
  }),

  fresh('REPLICATE refuses ourselves and strangers', async (driver) => {
    const { a } = driver.nodes;
    await refused(driver, a, ['CLUSTER', 'REPLICATE', await idOf(driver, a)], "ERR Can't replicate myself");
    await refused(driver, a, ['CLUSTER', 'REPLICATE', 'f'.repeat(40)], `ERR Unknown node ${'f'.repeat(40)}`);
  }),

  fresh('FAILOVER is refused by a primary', async (driver) => {
    const message = 'ERR You should send CLUSTER FAILOVER to a replica';
    await refused(driver, driver.nodes.a, ['CLUSTER', 'FAILOVER'], message);
    await refused(driver, driver.nodes.a, ['CLUSTER', 'FAILOVER', 'TAKEOVER'], message);
    await refused(driver, driver.nodes.a, ['CLUSTER', 'FAILOVER', 'NOW'], 'ERR syntax error');
  }),

  fresh('unknown commands, subcommands and wrong numbers of words', async (driver) => {
    const { a } = driver.nodes;
    const unknown = "ERR unknown subcommand 'NOPE'. Try CLUSTER HELP.";
    await refused(driver, a, ['CLUSTER', 'NOPE'], unknown);
    await refused(driver, a, ['CLUSTER', 'MEET'], "ERR wrong number of arguments for 'cluster|meet' command");
    await refused(driver, a, ['GET'], "ERR wrong number of arguments for 'get' command");
    await refused(driver, a, ['NOPE', 'x'], /^ERR unknown command 'NOPE', with args beginning with: 'x' ?$/);
  }),

  fresh('a key of a slot that nobody has', async (driver) => {
    await refused(driver, driver.nodes.a, ['GET', 'x'], 'CLUSTERDOWN Hash slot not served');
    await refused(driver, driver.nodes.a, ['SET', 'x', '1'], 'CLUSTERDOWN Hash slot not served');
  }),

  fresh('a key of an own slot while others are not covered', async (driver) => {
    const { a } = driver.nodes;
    await driver.call(a, 'CLUSTER', 'ADDSLOTS', slotOfKey('x'));
    await refused(driver, a, ['GET', 'x'], 'CLUSTERDOWN The cluster is down');
  }),

  fresh('RESET is refused by a primary with keys, and keeps or changes the identity', async (driver) => {
    const { a } = driver.nodes;
    await driver.call(a, 'CLUSTER', 'SET-CONFIG-EPOCH', 4);
    await driver.call(a, 'CLUSTER', 'ADDSLOTSRANGE', 0, 16383);
    await driver.wait('state ok', async () => (await fields(driver, a, 'CLUSTER', 'INFO')).cluster_state === 'ok');
    await driver.call(a, 'SET', 'x', '1');
    const message = "ERR CLUSTER RESET can't be called with master nodes containing keys";
    await refused(driver, a, ['CLUSTER', 'RESET'], message);
    await refused(driver, a, ['CLUSTER', 'RESET', 'HARD'], message);
    await refused(driver, a, ['CLUSTER', 'RESET', 'SOON'], 'ERR syntax error');
    await driver.call(a, 'DEL', 'x');
    const before = await own(driver);
    assert.equal(await driver.call(a, 'CLUSTER', 'RESET', 'SOFT'), 'OK');
    const soft = await own(driver);
    assert.deepEqual([soft.id, soft.epoch, soft.slots], [before.id, 4, []]);
    assert.equal(await driver.call(a, 'CLUSTER', 'RESET', 'HARD'), 'OK');
    const hard = await own(driver);
    assert.notEqual(hard.id, before.id);
    assert.equal(hard.epoch, 0);
    assert.equal((await fields(driver, a, 'CLUSTER', 'INFO')).cluster_current_epoch, '0');
  }),

  fresh('COUNTKEYSINSLOT and GETKEYSINSLOT refuse what is no slot', async (driver) => {
    const { a } = driver.nodes;
    assert.equal(await driver.call(a, 'CLUSTER', 'COUNTKEYSINSLOT', 0), 0);
    assert.deepEqual(await driver.call(a, 'CLUSTER', 'GETKEYSINSLOT', 0, 10), []);
    await refused(driver, a, ['CLUSTER', 'COUNTKEYSINSLOT', 16384], 'ERR Invalid slot');
    await refused(driver, a, ['CLUSTER', 'GETKEYSINSLOT', 0, -1], 'ERR Invalid slot or number of keys');
  }),

  fresh('KEYSLOT agrees with our hash, tags included', async (driver) => {
    const keys = ['', 'a', 'foo', '{foo}bar', 'foo{bar}{zap}', 'foo{}bar', '{}', '{{a}}', '}{', 'ключ', 'x{y'];
    for (const key of keys) {
      const bytes = Buffer.from(key).toString('latin1');
      assert.equal(await driver.call(driver.nodes.a, 'CLUSTER', 'KEYSLOT', key), slotOfKey(bytes), key);
    }
  }),

  fresh('what a server can do is told by COMMAND INFO', async (driver) => {
    const names = ['get', 'cluster|migrateslots', 'cluster|migration', 'cluster|slot-stats', 'cluster|shards', 'nope'];
    const reply = (await driver.call(driver.nodes.a, 'COMMAND', 'INFO', ...names)) as readonly unknown[];
    const valkey = driver.product === 'valkey';
    assert.deepEqual(
      reply.map((entry) => Array.isArray(entry)),
      [true, valkey, false, valkey, true, false],
    );
  }),

  fresh('CONFIG GET answers pairs, and nothing for what it does not have', async (driver) => {
    const reply = await driver.call(driver.nodes.a, 'CONFIG', 'GET', 'cluster-node-timeout', 'cluster-databases');
    const pairs = reply as string[];
    assert.ok(Number(pairs[pairs.indexOf('cluster-node-timeout') + 1]) > 0);
    assert.equal(pairs.includes('cluster-databases'), driver.product === 'valkey');
  }),

  fresh('databases other than 0', async (driver) => {
    const { a } = driver.nodes;
    assert.equal(await driver.call(a, 'SELECT', 0), 'OK');
    await refused(driver, a, ['SELECT', 1], {
      valkey: 'ERR DB index is out of range',
      redis: 'ERR SELECT is not allowed in cluster mode',
    });
  }),

  fresh('functions are loaded, listed, dumped and restored', async (driver) => {
    const { a, b } = driver.nodes;
    const library = "#!lua name=greet\nredis.register_function('hello', function() return 'hi' end)";
    assert.equal(await driver.call(a, 'FUNCTION', 'LOAD', library), 'greet');
    assert.equal(((await driver.call(a, 'FUNCTION', 'LIST')) as unknown[]).length, 1);
    assert.deepEqual(await driver.call(b, 'FUNCTION', 'LIST'), []);
    const line = await driver.connect(a);
    const dump = (await line.binary('FUNCTION', 'DUMP')) as Buffer;
    assert.equal(await driver.call(b, 'FUNCTION', 'RESTORE', dump), 'OK');
    assert.equal(((await driver.call(b, 'FUNCTION', 'LIST')) as unknown[]).length, 1);
    await refused(driver, b, ['FUNCTION', 'RESTORE', dump], /^ERR Library .*greet.* already exists$/);
    await refused(driver, b, ['FUNCTION', 'RESTORE', 'x'], 'ERR DUMP payload version or checksum are wrong');
    for (const node of [a, b]) await driver.call(node, 'FUNCTION', 'FLUSH');
    assert.deepEqual(await driver.call(b, 'FUNCTION', 'LIST'), []);
  }),
];
