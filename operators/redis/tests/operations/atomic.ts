/** Atomic slot migration. */
import assert from 'node:assert/strict';
import type { Reply } from '../../src/api/port.ts';
import {
  close,
  type Driver,
  fields,
  idOf,
  keysIn,
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

const valkey = (name: string, run: OperationCase['run']) => operation('cluster', name, run, 'valkey');

const own = (name: string, run: OperationCase['run']) => operation('own', name, run, 'valkey');

const FIRST = 51;
const LAST = 53;

/** The newest job of a node, by field. */
async function newestJob(driver: Driver, node: Node): Promise<Record<string, Reply>> {
  const [job] = (await driver.call(node, 'CLUSTER', 'GETSLOTMIGRATIONS')) as readonly (readonly Reply[])[];
  assert.ok(job, `${node.name} has a job`);
  const named: Record<string, Reply> = {};
  for (let at = 0; at < job.length; at += 2) named[String(job[at])] = job[at + 1] as Reply;
  return named;
}

async function migrate(driver: Driver, source: Node, target: Node): Promise<void> {
  const id = await idOf(driver, target);
  const args = ['CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', FIRST, LAST, 'NODE', id];
  assert.equal(await driver.call(source, ...args), 'OK');
  await driver.wait('the job ends', async () => (await newestJob(driver, source)).state === 'success');
  await waitForOwner(driver, FIRST, id);
}

/** A job that the target refuses. */
async function startAndFail(driver: Driver, source: Node, target: Node, reason: string): Promise<void> {
  const id = await idOf(driver, target);
  assert.equal(await driver.call(source, 'CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', FIRST, LAST, 'NODE', id), 'OK');
  await driver.wait('it fails', async () => (await newestJob(driver, source)).state === 'failed');
  const { message } = await newestJob(driver, source);
  assert.equal(message, `Received error during handshake to target: -ERR ${reason}\r\n`);
}

export const atomicCases: readonly OperationCase[] = [
  valkey('MIGRATESLOTS refuses what it cannot do', async (driver) => {
    const { a, b, replica } = driver.nodes;
    const [idOfA, idOfB] = [await idOf(driver, a), await idOf(driver, b)];
    const ask = (...words: (string | number)[]) => ['CLUSTER', 'MIGRATESLOTS', ...words];
    await refused(driver, a, ask('SLOTSRANGE', 1, 2, 'NODE', 'x'), 'ERR Invalid node name: x');
    const stranger = 'f'.repeat(40);
    await refused(driver, a, ask('SLOTSRANGE', 1, 2, 'NODE', stranger), `ERR Unknown node name: ${stranger}`);
    await refused(driver, a, ask('SLOTSRANGE', 1, 2, 'NODE', idOfA), 'ERR Target node can not be this node.');
    await refused(driver, b, ask('SLOTSRANGE', 1, 2, 'NODE', idOfA), 'ERR Slots are not served by this node.');
    const reversed = 'ERR Start slot number 9 is greater than end slot number 3.';
    await refused(driver, a, ask('SLOTSRANGE', 9, 3, 'NODE', idOfB), reversed);
    const spans = 'ERR Requested slots span multiple shards';
    await refused(driver, a, ask('SLOTSRANGE', 5000, 6000, 'NODE', idOfB), spans);
    const overlap = 'ERR Slot range 2-4 overlaps with previous range 1-3.';
    await refused(driver, a, ask('SLOTSRANGE', 1, 3, 2, 4, 'NODE', idOfB), overlap);
    const twice = ask('SLOTSRANGE', 1, 3, 'NODE', idOfB, 'SLOTSRANGE', 2, 4, 'NODE', idOfB);
    await refused(driver, a, twice, 'ERR Slot ranges in migrations overlap');
    await refused(driver, a, ask('SLOTSRANGE', 'NODE', idOfB), 'ERR No slot ranges specified');
    await refused(driver, a, ask('SLOTSRANGE', 16384, 16385, 'NODE', idOfB), 'ERR Invalid or out of range slot');
    await refused(driver, a, ask('NOPE', 1, 2, 'NODE', idOfB), 'ERR syntax error');
    const notPrimary = 'ERR Slot migration can only be used on primary nodes.';
    await refused(driver, replica, ask('SLOTSRANGE', 1, 2, 'NODE', idOfB), notPrimary);
  }),

  valkey('MIGRATESLOTS is refused while slots are open by hand', async (driver) => {
    const { a, b } = driver.nodes;
    const idOfB = await idOf(driver, b);
    await open(driver, FIRST, a, b);
    const args = ['CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', 1, 2, 'NODE', idOfB];
    await refused(driver, a, args, 'ERR Slots are being manually migrated');
    const other = ['CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', 8000, 8001, 'NODE', await idOf(driver, a)];
    await refused(driver, b, other, 'ERR Slots are being manually imported');
    await close(driver, FIRST, a, b);
  }),

  valkey('MIGRATESLOTS moves slots with their keys at once', async (driver) => {
    const { a, b, c } = driver.nodes;
    const [idOfA, idOfB] = [await idOf(driver, a), await idOf(driver, b)];
    const keys = [...keysIn(FIRST, 20), ...keysIn(LAST, 20)];
    for (const key of keys) await driver.call(a, 'SET', key, `value of ${key}`);
    const before = Math.max(...(await table(driver, b)).map(({ epoch }) => epoch));
    await migrate(driver, a, b);
    const job = await newestJob(driver, a);
    assert.deepEqual(
      [job.operation, job.slot_ranges, job.target_node, job.source_node, job.state, job.message],
      ['EXPORT', `${FIRST}-${LAST}`, idOfB, idOfA, 'success', ''],
    );
    assert.match(String(job.name), /^[0-9a-f]{40}$/);
    const other = await newestJob(driver, b);
    assert.deepEqual([other.operation, other.name, other.state], ['IMPORT', job.name, 'success']);
    assert.ok((await ownLine(driver, b)).epoch >= before);
    assert.deepEqual((await ownLine(driver, a)).open, []);
    for (const key of keys) assert.equal(await driver.call(b, 'GET', key), `value of ${key}`);
    await driver.wait('the source has none left', async () => {
      return (await driver.call(a, 'CLUSTER', 'COUNTKEYSINSLOT', FIRST)) === 0;
    });
    await refused(driver, c, ['GET', keys[0] as string], `MOVED ${FIRST} ${b.host}:${b.port}`);
    await migrate(driver, b, a);
    for (const key of keys) assert.equal(await driver.call(a, 'GET', key), `value of ${key}`);
    await driver.call(a, 'DEL', ...keysIn(FIRST, 20));
    await driver.call(a, 'DEL', ...keysIn(LAST, 20));
  }),

  valkey('several ranges to several nodes in one command', async (driver) => {
    const { a, b, c } = driver.nodes;
    const [idOfA, idOfB, idOfC] = [await idOf(driver, a), await idOf(driver, b), await idOf(driver, c)];
    const toB = ['SLOTSRANGE', 60, 61, 65, 65, 'NODE', idOfB];
    await driver.call(a, 'CLUSTER', 'MIGRATESLOTS', ...toB, 'SLOTSRANGE', 70, 71, 'NODE', idOfC);
    await waitForOwner(driver, 65, idOfB);
    await waitForOwner(driver, 71, idOfC);
    for (const [node, words] of [
      [b, toB.slice(1, 5)],
      [c, [70, 71]],
    ] as const) {
      await driver.call(node, 'CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', ...words, 'NODE', idOfA);
    }
    await waitForOwner(driver, 65, idOfA);
    await waitForOwner(driver, 71, idOfA);
  }),

  valkey('CANCELSLOTMIGRATIONS without a job is refused', async (driver) => {
    await driver.wait('no job is left', async () => {
      const jobs = (await driver.call(driver.nodes.a, 'CLUSTER', 'GETSLOTMIGRATIONS')) as readonly (readonly Reply[])[];
      return jobs.every((job) => ['success', 'failed', 'cancelled'].includes(String(job[job.indexOf('state') + 1])));
    });
    await refused(driver, driver.nodes.a, ['CLUSTER', 'CANCELSLOTMIGRATIONS'], 'ERR No migrations ongoing');
  }),

  valkey('SLOT-STATS counts keys by slot', async (driver) => {
    const { a } = driver.nodes;
    const keys = keysIn(FIRST, 3);
    for (const key of keys) await driver.call(a, 'SET', key, 'x');
    const reply = (await driver.call(a, 'CLUSTER', 'SLOT-STATS', 'SLOTSRANGE', FIRST, FIRST + 1)) as [
      number,
      Reply[],
    ][];
    assert.deepEqual(
      reply.map(([slot, stats]) => [slot, stats[stats.indexOf('key-count') + 1]]),
      [
        [FIRST, 3],
        [FIRST + 1, 0],
      ],
    );
    const ordered = ['CLUSTER', 'SLOT-STATS', 'ORDERBY', 'KEY-COUNT', 'LIMIT', 1, 'DESC'];
    const [top] = (await driver.call(a, ...ordered)) as [number, Reply[]][];
    assert.equal(top?.[0], FIRST);
    const notOurs = (await driver.call(a, 'CLUSTER', 'SLOT-STATS', 'SLOTSRANGE', 8000, 8001)) as Reply[];
    assert.deepEqual(notOurs, []);
    await driver.call(a, 'DEL', ...keys);
  }),

  valkey(
    'MIGRATESLOTS to a node that cannot take part: the job fails with its reason, nothing moves',
    async (driver) => {
      const { a, b, c, replica } = driver.nodes;
      await startAndFail(driver, a, replica, 'Slot migration can only be used on primary nodes.');
      await driver.call(c, 'CLUSTER', 'SETSLOT', 90, 'IMPORTING', await idOf(driver, a));
      await startAndFail(driver, a, c, 'Slots are being manually imported');
      await close(driver, 90, c);
      assert.equal(await ownerIn(driver, b, FIRST), await idOf(driver, a));
    },
  ),

  own('MIGRATESLOTS to a dead node fails', async (driver) => {
    const { a, spare } = driver.nodes;
    const id = await idOf(driver, spare);
    await driver.kill(spare);
    await driver.call(a, 'CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', FIRST, LAST, 'NODE', id);
    await driver.wait('it fails', async () => (await newestJob(driver, a)).state === 'failed');
    const { message } = await newestJob(driver, a);
    assert.equal(message, 'Unable to connect to target node: Connection refused');
  }),

  valkey('a job under way excludes others and SETSLOT, and can be cancelled', async (driver) => {
    const { a, b, c } = driver.nodes;
    const [idOfA, idOfB] = [await idOf(driver, a), await idOf(driver, b)];
    driver.pause(b);
    const start = ['CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', FIRST, LAST, 'NODE', idOfB];
    assert.equal(await driver.call(a, ...start), 'OK');
    await refused(driver, a, start, `ERR I am already migrating slot ${FIRST}.`);
    await refused(driver, a, ['CLUSTER', 'SETSLOT', 99, 'MIGRATING', idOfB], 'ERR Slot export in progress.');
    await refused(driver, a, ['CLUSTER', 'SETSLOT', FIRST, 'STABLE'], 'ERR Slot export in progress.');
    assert.equal(await driver.call(a, 'CLUSTER', 'CANCELSLOTMIGRATIONS'), 'OK');
    assert.deepEqual([(await newestJob(driver, a)).state, (await newestJob(driver, a)).message], ['cancelled', '']);
    driver.resume(b);
    await driver.wait('everybody is well', async () => {
      const info = await fields(driver, b, 'CLUSTER', 'INFO');
      return info.cluster_state === 'ok' && (await ownerIn(driver, c, FIRST)) === idOfA;
    });
    assert.equal(await ownerIn(driver, b, FIRST), idOfA);
  }),

  operation(
    'cluster',
    'Redis 7 has no atomic migration and no slot statistics',
    async (driver) => {
      const { a } = driver.nodes;
      for (const name of ['MIGRATESLOTS', 'GETSLOTMIGRATIONS', 'MIGRATION', 'SLOT-STATS']) {
        await refused(driver, a, ['CLUSTER', name, 'x'], `ERR unknown subcommand '${name}'. Try CLUSTER HELP.`);
      }
    },
    'redis',
  ),
];
