/** SETSLOT and MIGRATE: opening, moving, closing slots, and every refusal on the way. */
import assert from 'node:assert/strict';
import {
  close,
  idOf,
  keyIn,
  keysIn,
  migrateArgs,
  moveSlot,
  type OperationCase,
  open,
  operation,
  ownerIn,
  ownLine,
  refused,
  refusedOn,
  table,
  waitForOwner,
} from './driver.ts';

const cluster = (name: string, run: OperationCase['run'], only?: OperationCase['only']) =>
  operation('cluster', name, run, only);

/** Slots used by this file only: of `a`, of `b`. */
const SLOT = 21;
const SLOT_OF_B = 8021;
const stranger = 'f'.repeat(40);
const crossSlot = "CROSSSLOT Keys in request don't hash to the same slot";

export const slotCases: readonly OperationCase[] = [
  cluster('SETSLOT MIGRATING refuses what is not ours, strangers and replicas', async (driver) => {
    const { a, b, replica } = driver.nodes;
    const [idOfA, idOfReplica] = [await idOf(driver, a), await idOf(driver, replica)];
    const notOwner = `ERR I'm not the owner of hash slot ${SLOT}`;
    await refused(driver, b, ['CLUSTER', 'SETSLOT', SLOT, 'MIGRATING', idOfA], notOwner);
    const unknown = `ERR I don't know about node ${stranger}`;
    await refused(driver, a, ['CLUSTER', 'SETSLOT', SLOT, 'MIGRATING', stranger], unknown);
    const notPrimary = 'ERR Target node is not a master';
    await refused(driver, a, ['CLUSTER', 'SETSLOT', SLOT, 'MIGRATING', idOfReplica], notPrimary);
    assert.deepEqual((await ownLine(driver, a)).open, []);
  }),

  cluster('SETSLOT IMPORTING refuses what is ours, strangers and replicas', async (driver) => {
    const { a, b, replica } = driver.nodes;
    const already = `ERR I'm already the owner of hash slot ${SLOT}`;
    await refused(driver, a, ['CLUSTER', 'SETSLOT', SLOT, 'IMPORTING', await idOf(driver, b)], already);
    const unknown = `ERR I don't know about node ${stranger}`;
    await refused(driver, b, ['CLUSTER', 'SETSLOT', SLOT, 'IMPORTING', stranger], unknown);
    const importing = ['CLUSTER', 'SETSLOT', SLOT, 'IMPORTING', await idOf(driver, replica)];
    await refused(driver, b, importing, 'ERR Target node is not a master');
  }),

  cluster('SETSLOT NODE refuses strangers and replicas', async (driver) => {
    const { a, replica } = driver.nodes;
    await refused(driver, a, ['CLUSTER', 'SETSLOT', SLOT, 'NODE', stranger], `ERR Unknown node ${stranger}`);
    const toReplica = ['CLUSTER', 'SETSLOT', SLOT, 'NODE', await idOf(driver, replica)];
    await refused(driver, a, toReplica, 'ERR Target node is not a master');
  }),

  cluster('SETSLOT is refused by replicas and when it is not understood', async (driver) => {
    const { a, replica } = driver.nodes;
    await refused(
      driver,
      replica,
      ['CLUSTER', 'SETSLOT', SLOT, 'STABLE'],
      /^ERR Please use SETSLOT only with masters\.$/,
    );
    const wrong = 'ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP';
    await refused(driver, a, ['CLUSTER', 'SETSLOT', SLOT, 'NOPE'], wrong);
    await refused(driver, a, ['CLUSTER', 'SETSLOT', SLOT, 'MIGRATING'], wrong);
    await refused(
      driver,
      a,
      ['CLUSTER', 'SETSLOT', SLOT],
      "ERR wrong number of arguments for 'cluster|setslot' command",
    );
  }),

  cluster('open slots show in the own line only, and STABLE closes them', async (driver) => {
    const { a, b } = driver.nodes;
    const [idOfA, idOfB] = [await idOf(driver, a), await idOf(driver, b)];
    await open(driver, SLOT, a, b);
    assert.deepEqual((await ownLine(driver, a)).open, [`[${SLOT}->-${idOfB}]`]);
    assert.deepEqual((await ownLine(driver, b)).open, [`[${SLOT}-<-${idOfA}]`]);
    for (const line of await table(driver, driver.nodes.c)) assert.deepEqual(line.open, []);
    assert.equal(await ownerIn(driver, b, SLOT), idOfA);
    await close(driver, SLOT, a, b);
    assert.deepEqual((await ownLine(driver, a)).open, []);
    assert.deepEqual((await ownLine(driver, b)).open, []);
  }),

  cluster('the source of a move serves what it has and asks for the rest', async (driver) => {
    const { a, b } = driver.nodes;
    const [there = '', gone = ''] = keysIn(SLOT, 2);
    await driver.call(a, 'SET', there, 'value');
    await open(driver, SLOT, a, b);
    assert.equal(await driver.call(a, 'GET', there), 'value');
    const ask = `ASK ${SLOT} ${b.host}:${b.port}`;
    await refused(driver, a, ['GET', gone], ask);
    await refused(driver, a, ['SET', gone, 'x'], ask);
    const tryAgain = 'TRYAGAIN Multiple keys request during rehashing of slot';
    await refused(driver, a, ['EXISTS', there, gone], tryAgain);
    await close(driver, SLOT, a, b);
    await driver.call(a, 'DEL', there);
  }),

  cluster('the target of a move serves after ASKING, and only the next command', async (driver) => {
    const { a, b } = driver.nodes;
    const [first = '', second = ''] = keysIn(SLOT, 2);
    await open(driver, SLOT, a, b);
    const line = await driver.connect(b);
    const moved = `MOVED ${SLOT} ${a.host}:${a.port}`;
    await refusedOn(line, ['SET', first, 'x'], moved);
    assert.equal(await line.call('ASKING'), 'OK');
    assert.equal(await line.call('SET', first, 'value'), 'OK');
    await refusedOn(line, ['GET', first], moved);
    await line.call('ASKING');
    await refusedOn(line, ['EXISTS', first, second], 'TRYAGAIN Multiple keys request during rehashing of slot');
    await line.call('ASKING');
    assert.equal(await line.call('DEL', first), 1);
    await close(driver, SLOT, a, b);
  }),

  cluster('ASKING without an open slot changes nothing', async (driver) => {
    const { a, b } = driver.nodes;
    const line = await driver.connect(b);
    await line.call('ASKING');
    await refusedOn(line, ['GET', keyIn(SLOT)], `MOVED ${SLOT} ${a.host}:${a.port}`);
  }),

  cluster('MIGRATE moves keys with value and time to live', async (driver) => {
    const { a, b } = driver.nodes;
    const [plain = '', volatile = '', none = ''] = keysIn(SLOT, 3);
    await driver.call(a, 'SET', plain, 'one');
    await driver.call(a, 'SET', volatile, 'two', 'PX', 500_000);
    await open(driver, SLOT, a, b);
    assert.equal(await driver.call(a, ...migrateArgs(b, [plain, volatile, none])), 'OK');
    assert.equal(await driver.call(a, 'CLUSTER', 'COUNTKEYSINSLOT', SLOT), 0);
    const line = await driver.connect(b);
    await line.call('ASKING');
    assert.equal(await line.call('GET', plain), 'one');
    await line.call('ASKING');
    const left = Number(await line.call('PTTL', volatile));
    assert.ok(left > 400_000 && left <= 500_000);
    assert.equal(await driver.call(a, ...migrateArgs(b, [plain, none])), 'NOKEY');
    // The way back: an owner that is migrating the slot away would ask for the keys instead of taking them.
    await refused(
      driver,
      b,
      migrateArgs(a, [plain]),
      `ERR Target instance replied with error: ASK ${SLOT} ${b.host}:${b.port}`,
    );
    await close(driver, SLOT, a);
    assert.equal(await driver.call(b, ...migrateArgs(a, [plain, volatile])), 'OK');
    assert.equal(await driver.call(a, 'GET', plain), 'one');
    await close(driver, SLOT, b);
    await driver.call(a, 'DEL', plain, volatile);
  }),

  cluster('MIGRATE of one key, without KEYS', async (driver) => {
    const { a, b } = driver.nodes;
    const key = keyIn(SLOT);
    await driver.call(a, 'SET', key, 'one');
    await open(driver, SLOT, a, b);
    assert.equal(await driver.call(a, 'MIGRATE', b.host, b.port, key, 0, 5000), 'OK');
    await close(driver, SLOT, a);
    assert.equal(await driver.call(b, 'MIGRATE', a.host, a.port, key, 0, 5000), 'OK');
    assert.equal(await driver.call(a, 'GET', key), 'one');
    await close(driver, SLOT, b);
    await driver.call(a, 'DEL', key);
  }),

  cluster('MIGRATE to a target that is not importing is answered with its redirection', async (driver) => {
    const { a, b } = driver.nodes;
    const key = keyIn(SLOT);
    await driver.call(a, 'SET', key, 'one');
    const moved = `ERR Target instance replied with error: MOVED ${SLOT} ${a.host}:${a.port}`;
    await refused(driver, a, migrateArgs(b, [key]), moved);
    assert.equal(await driver.call(a, 'GET', key), 'one');
    await driver.call(a, 'DEL', key);
  }),

  cluster('MIGRATE of a key that the target has: BUSYKEY, nothing lost; REPLACE overwrites', async (driver) => {
    const { a, b } = driver.nodes;
    const [twice = '', once = ''] = keysIn(SLOT, 2);
    await driver.call(a, 'SET', twice, 'ours');
    await driver.call(a, 'SET', once, 'other');
    await open(driver, SLOT, a, b);
    const line = await driver.connect(b);
    await line.call('ASKING');
    await line.call('SET', twice, 'theirs');
    const busy = 'ERR Target instance replied with error: BUSYKEY Target key name already exists.';
    await refused(driver, a, migrateArgs(b, [twice, once]), busy);
    // The key without conflict went, the other stayed.
    assert.deepEqual(await driver.call(a, 'CLUSTER', 'GETKEYSINSLOT', SLOT, 10), [twice]);
    await line.call('ASKING');
    assert.equal(await line.call('GET', twice), 'theirs');
    assert.equal(await driver.call(a, ...migrateArgs(b, [twice], 'REPLACE')), 'OK');
    await line.call('ASKING');
    assert.equal(await line.call('GET', twice), 'ours');
    await close(driver, SLOT, a);
    await driver.call(b, ...migrateArgs(a, [twice, once]));
    await close(driver, SLOT, b);
    await driver.call(a, 'DEL', twice, once);
  }),

  cluster('MIGRATE COPY leaves the key here', async (driver) => {
    const { a, b } = driver.nodes;
    const key = keyIn(SLOT);
    await driver.call(a, 'SET', key, 'one');
    await open(driver, SLOT, a, b);
    assert.equal(await driver.call(a, ...migrateArgs(b, [key], 'COPY')), 'OK');
    assert.equal(await driver.call(a, 'GET', key), 'one');
    assert.equal(await driver.call(b, 'CLUSTER', 'COUNTKEYSINSLOT', SLOT), 1);
    const line = await driver.connect(b);
    await line.call('ASKING');
    await line.call('DEL', key);
    await close(driver, SLOT, a, b);
    await driver.call(a, 'DEL', key);
  }),

  cluster('MIGRATE refuses keys of two slots and words it does not know', async (driver) => {
    const { a, b } = driver.nodes;
    const key = keyIn(SLOT);
    await driver.call(a, 'SET', key, 'one');
    await refused(driver, a, migrateArgs(b, [key, keyIn(SLOT + 1)]), crossSlot);
    await refused(driver, a, ['MIGRATE', b.host, b.port, key, 0, 5000, 'NOPE'], 'ERR syntax error');
    const both = 'ERR When using MIGRATE KEYS option, the key argument must be set to the empty string';
    await refused(driver, a, ['MIGRATE', b.host, b.port, key, 0, 5000, 'KEYS', key], both);
    const notNumber = 'ERR value is not an integer or out of range';
    await refused(driver, a, ['MIGRATE', b.host, b.port, key, 0, 'x'], notNumber);
    await driver.call(a, 'DEL', key);
  }),

  cluster('MIGRATE to an address where nobody is', async (driver) => {
    const { a } = driver.nodes;
    const key = keyIn(SLOT);
    await driver.call(a, 'SET', key, 'one');
    await refused(driver, a, ['MIGRATE', '127.0.0.1', 1, key, 0, 1000], /^IOERR error or timeout /);
    assert.equal(await driver.call(a, 'GET', key), 'one');
    await driver.call(a, 'DEL', key);
  }),

  cluster('SETSLOT NODE to another is refused while the owner has keys', async (driver) => {
    const { a, b } = driver.nodes;
    const key = keyIn(SLOT);
    await driver.call(a, 'SET', key, 'one');
    const message = `ERR Can't assign hashslot ${SLOT} to a different node while I still hold keys for this hash slot.`;
    await refused(driver, a, ['CLUSTER', 'SETSLOT', SLOT, 'NODE', await idOf(driver, b)], message);
    assert.equal(await ownerIn(driver, a, SLOT), await idOf(driver, a));
    await driver.call(a, 'DEL', key);
  }),

  cluster('a slot moved by the book: target first, a new epoch, everybody learns it', async (driver) => {
    const { a, b, c } = driver.nodes;
    const [idOfA, idOfB] = [await idOf(driver, a), await idOf(driver, b)];
    const keys = keysIn(SLOT, 10);
    for (const key of keys) await driver.call(a, 'SET', key, `value of ${key}`);
    const greatest = Math.max(...(await table(driver, a)).map(({ epoch }) => epoch));
    await open(driver, SLOT, a, b);
    await driver.call(a, ...migrateArgs(b, keys));
    assert.equal(await driver.call(b, 'CLUSTER', 'SETSLOT', SLOT, 'NODE', idOfB), 'OK');
    const target = await ownLine(driver, b);
    assert.deepEqual(target.open, []);
    assert.ok(target.epoch >= greatest);
    assert.equal(await driver.call(a, 'CLUSTER', 'SETSLOT', SLOT, 'NODE', idOfB), 'OK');
    assert.deepEqual((await ownLine(driver, a)).open, []);
    await waitForOwner(driver, SLOT, idOfB);
    for (const key of keys) assert.equal(await driver.call(b, 'GET', key), `value of ${key}`);
    await refused(driver, c, ['GET', keys[0] as string], `MOVED ${SLOT} ${b.host}:${b.port}`);
    await moveSlot(driver, SLOT, b, a);
    assert.equal(await ownerIn(driver, c, SLOT), idOfA);
    await driver.call(a, 'DEL', ...keys);
  }),

  cluster('a second slot into the same target needs no second epoch', async (driver) => {
    const { a, b } = driver.nodes;
    const slots = [SLOT + 2, SLOT + 3];
    const epochs: number[] = [];
    for (const slot of slots) {
      await moveSlot(driver, slot, a, b);
      epochs.push((await ownLine(driver, b)).epoch);
    }
    assert.equal(epochs[1], epochs[0]);
    for (const slot of slots) await moveSlot(driver, slot, b, a);
  }),

  cluster('SETSLOT NODE without importing changes a view, but no epoch', async (driver) => {
    const { a, b, c } = driver.nodes;
    const [idOfA, idOfB] = [await idOf(driver, a), await idOf(driver, b)];
    const before = (await ownLine(driver, a)).epoch;
    await driver.call(a, 'CLUSTER', 'SETSLOT', SLOT, 'NODE', idOfA);
    assert.equal((await ownLine(driver, a)).epoch, before);
    await driver.call(c, 'CLUSTER', 'SETSLOT', SLOT_OF_B, 'NODE', idOfB);
    assert.equal(await ownerIn(driver, c, SLOT_OF_B), idOfB);
  }),

  cluster('a source that is not told learns from the target’s epoch and drops what it still has', async (driver) => {
    const { a, b } = driver.nodes;
    const [stays = '', goes = ''] = keysIn(SLOT, 2);
    const idOfB = await idOf(driver, b);
    await driver.call(a, 'SET', stays, 'left behind');
    await driver.call(a, 'SET', goes, 'moved');
    await open(driver, SLOT, a, b);
    await driver.call(a, ...migrateArgs(b, [goes]));
    // BUMPEPOCH makes sure that the claim is newer than the owner’s.
    await driver.call(b, 'CLUSTER', 'BUMPEPOCH');
    await driver.call(b, 'CLUSTER', 'SETSLOT', SLOT, 'NODE', idOfB);
    await waitForOwner(driver, SLOT, idOfB);
    await driver.wait('the keys left behind are dropped', async () => {
      return (await driver.call(a, 'CLUSTER', 'COUNTKEYSINSLOT', SLOT)) === 0;
    });
    assert.equal(await driver.call(b, 'GET', goes), 'moved');
    assert.equal(await driver.call(b, 'GET', stays), null);
    // Redis keeps saying that it migrates the slot; Valkey knows that this is over.
    assert.equal((await ownLine(driver, a)).open.length, driver.product === 'redis' ? 1 : 0);
    await close(driver, SLOT, a);
    await driver.call(b, 'DEL', goes);
    await moveSlot(driver, SLOT, b, a);
  }),

  cluster('slots claimed in one transaction: DELSLOTS, ADDSLOTS, BUMPEPOCH', async (driver) => {
    const { a, b } = driver.nodes;
    const [idOfA, idOfB] = [await idOf(driver, a), await idOf(driver, b)];
    const claim = (slot: number) => [
      ['CLUSTER', 'DELSLOTS', slot],
      ['CLUSTER', 'ADDSLOTS', slot],
      ['CLUSTER', 'BUMPEPOCH'],
    ];
    const replies = await driver.exec(b, claim(SLOT + 4));
    assert.deepEqual(replies.slice(0, 2), ['OK', 'OK']);
    assert.match(String(replies[2]), /^(BUMPED|STILL) \d+$/);
    await waitForOwner(driver, SLOT + 4, idOfB);
    await driver.exec(a, claim(SLOT + 4));
    await waitForOwner(driver, SLOT + 4, idOfA);
  }),

  cluster(
    'a slot that its owner gives up stays with it in the views of others until somebody claims it',
    async (driver) => {
      const { a, b, c } = driver.nodes;
      const slot = SLOT + 5;
      const [idOfA, idOfB] = [await idOf(driver, a), await idOf(driver, b)];
      await driver.call(a, 'CLUSTER', 'DELSLOTS', slot);
      assert.equal(await ownerIn(driver, a, slot), undefined);
      await refused(driver, a, ['GET', keyIn(slot)], 'CLUSTERDOWN Hash slot not served');
      assert.equal(await ownerIn(driver, c, slot), idOfA);
      await driver.exec(b, [
        ['CLUSTER', 'DELSLOTS', slot],
        ['CLUSTER', 'ADDSLOTS', slot],
        ['CLUSTER', 'BUMPEPOCH'],
      ]);
      await waitForOwner(driver, slot, idOfB);
      await moveSlot(driver, slot, b, a);
    },
  ),

  cluster(
    'Redis: an importing slot is not taken over by gossip',
    async (driver) => {
      const { a, b, c } = driver.nodes;
      const slot = SLOT + 6;
      const [idOfA, idOfC] = [await idOf(driver, a), await idOf(driver, c)];
      await driver.call(b, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', idOfA);
      await moveSlotTo(driver, slot, a, c);
      const { epoch } = await ownLine(driver, c);
      await driver.wait('the importer has heard the claim', async () => {
        return (await table(driver, b)).some((line) => line.id === idOfC && line.epoch === epoch);
      });
      assert.equal(await ownerIn(driver, b, slot), idOfA);
      await close(driver, slot, b);
      await driver.call(b, 'CLUSTER', 'SETSLOT', slot, 'NODE', idOfC);
      await waitForOwner(driver, slot, idOfC);
      await moveSlot(driver, slot, c, a);
    },
    'redis',
  ),

  cluster(
    'Valkey: replicas know the open slots of their primary',
    async (driver) => {
      const { a, b, replica } = driver.nodes;
      await open(driver, SLOT, a, b);
      await driver.wait('the replica knows', async () => (await ownLine(driver, replica)).open.length === 1);
      await close(driver, SLOT, a, b);
      await driver.wait('the replica knows', async () => (await ownLine(driver, replica)).open.length === 0);
    },
    'valkey',
  ),
];

/** By the book, but only the nodes named are asked whether they know. */
async function moveSlotTo(...[driver, slot, source, target]: Parameters<typeof moveSlot>): Promise<void> {
  const id = await idOf(driver, target);
  await open(driver, slot, source, target);
  await driver.call(target, 'CLUSTER', 'SETSLOT', slot, 'NODE', id);
  await driver.call(source, 'CLUSTER', 'SETSLOT', slot, 'NODE', id);
  await driver.wait(
    'the spare knows the new owner',
    async () => (await ownerIn(driver, driver.nodes.spare, slot)) === id,
  );
}
