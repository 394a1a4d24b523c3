/** Keys of a formed cluster: redirections, copies, transactions. */
import assert from 'node:assert/strict';
import { type Driver, keyIn, keysIn, type OperationCase, operation, refused, refusedOn } from './driver.ts';

const cluster = (name: string, run: OperationCase['run'], only?: OperationCase['only']) =>
  operation('cluster', name, run, only);

/** A slot of `a`, `b` and `c` each, used by this file only. */
const slots = { a: 11, b: 8011, c: 15011 } as const;

async function without(driver: Driver, key: string): Promise<void> {
  await driver.call(driver.nodes.a, 'DEL', key);
}

export const keyCases: readonly OperationCase[] = [
  cluster('a key of another node is answered with its address', async (driver) => {
    const { a, b } = driver.nodes;
    const key = keyIn(slots.b);
    await refused(driver, a, ['GET', key], `MOVED ${slots.b} ${b.host}:${b.port}`);
    await refused(driver, a, ['SET', key, '1'], `MOVED ${slots.b} ${b.host}:${b.port}`);
    assert.equal(await driver.call(b, 'GET', key), null);
  }),

  cluster('keys of two slots in one command', async (driver) => {
    const args = ['DEL', keyIn(slots.a), keyIn(slots.b)];
    await refused(driver, driver.nodes.a, args, "CROSSSLOT Keys in request don't hash to the same slot");
  }),

  cluster('a replica redirects, and serves reads of its primary after READONLY', async (driver) => {
    const { a, replica } = driver.nodes;
    const key = keyIn(slots.a);
    await driver.call(a, 'SET', key, 'value');
    const moved = `MOVED ${slots.a} ${a.host}:${a.port}`;
    await refused(driver, replica, ['GET', key], moved);
    const line = await driver.connect(replica);
    assert.equal(await line.call('READONLY'), 'OK');
    await driver.wait('the replica has it', async () => (await line.call('GET', key)) === 'value');
    await refusedOn(line, ['SET', key, 'other'], moved);
    await refusedOn(line, ['GET', keyIn(slots.b)], `MOVED ${slots.b} ${driver.nodes.b.host}:${driver.nodes.b.port}`);
    assert.equal(await line.call('READWRITE'), 'OK');
    await refusedOn(line, ['GET', key], moved);
    await without(driver, key);
  }),

  cluster('SET, GET, EXISTS, DEL', async (driver) => {
    const { a } = driver.nodes;
    const [first = '', second = ''] = keysIn(slots.a, 2);
    assert.equal(await driver.call(a, 'SET', first, 'value'), 'OK');
    assert.equal(await driver.call(a, 'GET', first), 'value');
    assert.equal(await driver.call(a, 'EXISTS', first, second), 1);
    assert.equal(await driver.call(a, 'SET', first, 'x', 'NX'), null);
    assert.equal(await driver.call(a, 'SET', second, 'x', 'XX'), null);
    assert.equal(await driver.call(a, 'DEL', first, second), 1);
    assert.equal(await driver.call(a, 'GET', first), null);
    await refused(driver, a, ['SET', first, 'x', 'NOPE'], 'ERR syntax error');
  }),

  cluster('time to live', async (driver) => {
    const { a } = driver.nodes;
    const key = keyIn(slots.a);
    assert.equal(await driver.call(a, 'PTTL', key), -2);
    assert.equal(await driver.call(a, 'PEXPIRE', key, 1000), 0);
    await driver.call(a, 'SET', key, 'value');
    assert.equal(await driver.call(a, 'TTL', key), -1);
    assert.equal(await driver.call(a, 'PEXPIRETIME', key), -1);
    assert.equal(await driver.call(a, 'PEXPIRE', key, 500_000), 1);
    const left = Number(await driver.call(a, 'PTTL', key));
    assert.ok(left > 400_000 && left <= 500_000);
    assert.ok(Number(await driver.call(a, 'PEXPIRETIME', key)) > left);
    assert.equal(await driver.call(a, 'PEXPIRE', key, 1), 1);
    await driver.wait('it is gone', async () => (await driver.call(a, 'EXISTS', key)) === 0);
    await driver.wait(
      'it is not counted',
      async () => (await driver.call(a, 'CLUSTER', 'COUNTKEYSINSLOT', slots.a)) === 0,
    );
  }),

  cluster('DUMP and RESTORE', async (driver) => {
    const { a } = driver.nodes;
    const [first = '', second = ''] = keysIn(slots.a, 2);
    const line = await driver.connect(a);
    await line.call('SET', first, 'value');
    assert.equal(await line.binary('DUMP', second), null);
    const dump = (await line.binary('DUMP', first)) as Buffer;
    assert.deepEqual(await line.binary('DUMP', first), dump);
    assert.equal(await line.call('RESTORE', second, 0, dump), 'OK');
    assert.equal(await line.call('GET', second), 'value');
    await refusedOn(line, ['RESTORE', second, 0, dump], 'BUSYKEY Target key name already exists.');
    assert.equal(await line.call('RESTORE', second, 500_000, dump, 'REPLACE'), 'OK');
    assert.ok(Number(await line.call('PTTL', second)) > 400_000);
    assert.equal(await line.call('RESTORE', second, 1, dump, 'REPLACE', 'ABSTTL'), 'OK');
    assert.equal(await line.call('EXISTS', second), 0);
    await refusedOn(line, ['RESTORE', second, -1, dump], 'ERR Invalid TTL value, must be >= 0');
    await refusedOn(line, ['RESTORE', second, 0, 'nonsense'], 'ERR DUMP payload version or checksum are wrong');
    await refusedOn(line, ['RESTORE', second, 0, dump, 'NOPE'], 'ERR syntax error');
    await without(driver, first);
  }),

  cluster('keys are counted and listed by slot', async (driver) => {
    const { a, b } = driver.nodes;
    const keys = keysIn(slots.a, 5);
    for (const key of keys) await driver.call(a, 'SET', key, 'x');
    assert.equal(await driver.call(a, 'CLUSTER', 'COUNTKEYSINSLOT', slots.a), 5);
    assert.equal(await driver.call(b, 'CLUSTER', 'COUNTKEYSINSLOT', slots.a), 0);
    const listed = (await driver.call(a, 'CLUSTER', 'GETKEYSINSLOT', slots.a, 100)) as string[];
    assert.deepEqual([...listed].sort(), keys);
    assert.equal(((await driver.call(a, 'CLUSTER', 'GETKEYSINSLOT', slots.a, 2)) as string[]).length, 2);
    assert.equal(((await driver.call(a, 'CLUSTER', 'GETKEYSINSLOT', slots.a, 0)) as string[]).length, 0);
    await driver.call(a, 'DEL', ...keys);
    assert.equal(await driver.call(a, 'CLUSTER', 'COUNTKEYSINSLOT', slots.a), 0);
  }),

  cluster('SCAN gives every key of a node', async (driver) => {
    const { c } = driver.nodes;
    const keys = keysIn(slots.c, 25);
    for (const key of keys) await driver.call(c, 'SET', key, 'x');
    const seen = new Set<string>();
    let cursor = '0';
    do {
      const [next, found] = (await driver.call(c, 'SCAN', cursor, 'COUNT', 7)) as [string, string[]];
      for (const key of found) seen.add(key);
      cursor = next;
    } while (cursor !== '0');
    for (const key of keys) assert.ok(seen.has(key), key);
    assert.equal(await driver.call(c, 'DBSIZE'), seen.size);
    await driver.call(c, 'DEL', ...keys);
  }),

  cluster('INFO keyspace lists databases with keys only', async (driver) => {
    const { c } = driver.nodes;
    const key = keyIn(slots.c);
    assert.doesNotMatch(String(await driver.call(c, 'INFO', 'keyspace')), /db0/);
    await driver.call(c, 'SET', key, 'x');
    assert.match(String(await driver.call(c, 'INFO', 'keyspace')), /db0:keys=1,/);
    await driver.call(c, 'DEL', key);
  }),

  cluster('MEMORY USAGE grows with the value and is null without one', async (driver) => {
    const { a } = driver.nodes;
    const [small = '', big = '', none = ''] = keysIn(slots.a, 3);
    await driver.call(a, 'SET', small, 'x');
    await driver.call(a, 'SET', big, 'x'.repeat(10_000));
    const [less, more] = [await driver.call(a, 'MEMORY', 'USAGE', small), await driver.call(a, 'MEMORY', 'USAGE', big)];
    assert.ok(Number(less) > 0 && Number(more) > 10_000 && Number(more) > Number(less));
    assert.equal(await driver.call(a, 'MEMORY', 'USAGE', none), null);
    await driver.call(a, 'DEL', small, big);
  }),

  cluster('binary keys survive', async (driver) => {
    const { a } = driver.nodes;
    const key = Buffer.concat([Buffer.from(keyIn(slots.a)), Buffer.from([0, 255, 254, 10, 13])]);
    await driver.call(a, 'SET', key, Buffer.from([1, 0, 200]));
    const line = await driver.connect(a);
    const [listed] = (await line.binary('CLUSTER', 'GETKEYSINSLOT', slots.a, 10)) as Buffer[];
    assert.deepEqual(listed, key);
    assert.deepEqual(await line.binary('GET', key), Buffer.from([1, 0, 200]));
    assert.equal(await driver.call(a, 'DEL', key), 1);
  }),

  cluster('MULTI and EXEC: an error inside leaves the rest done', async (driver) => {
    const { a } = driver.nodes;
    const [first = '', second = ''] = keysIn(slots.a, 2);
    const replies = await driver.exec(a, [
      ['SET', first, '1'],
      ['CLUSTER', 'ADDSLOTS', slots.a],
      ['SET', second, '2'],
    ]);
    assert.equal(replies[0], 'OK');
    assert.match((replies[1] as Error).message, /^ERR Slot 11 is already busy/);
    assert.equal(replies[2], 'OK');
    assert.equal(await driver.call(a, 'DEL', first, second), 2);
  }),

  cluster('MULTI and EXEC: a command that is refused when queued discards all', async (driver) => {
    const { a, b } = driver.nodes;
    const key = keyIn(slots.a);
    const commands = [
      ['SET', key, '1'],
      ['SET', keyIn(slots.b), '2'],
    ];
    await assert.rejects(driver.exec(a, commands), { message: `MOVED ${slots.b} ${b.host}:${b.port}` });
    assert.equal(await driver.call(a, 'EXISTS', key), 0);
  }),

  cluster('WAIT counts the replicas that have it', async (driver) => {
    const { a, b } = driver.nodes;
    const line = await driver.connect(a);
    const key = keyIn(slots.a);
    await line.call('SET', key, 'x');
    assert.equal(await line.call('WAIT', 1, 20_000), 1);
    assert.equal(await driver.call(b, 'WAIT', 0, 100), 0);
    await without(driver, key);
  }),
];
