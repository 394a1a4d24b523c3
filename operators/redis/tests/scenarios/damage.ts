/** Scenarios of `reeve redis fix`: every kind of damage, made on purpose on a real cluster that serves clients meanwhile. */
import assert from 'node:assert/strict';
import {
  entriesIn,
  epochCollision,
  fillSlot,
  halfFinishedMigration,
  importingOnly,
  migratingOnly,
  oneMigratingTwoImporting,
  ownerOf,
  type Server,
  severalOwners,
  strayKeys,
  uncover,
  uncoverWithKeysOnSeveral,
  until,
} from '@reeve/rig';
import { changedWhileAlive } from './damage-alive.ts';
import { members } from './damage-members.ts';
import { brokenMoves } from './damage-moves.ts';
import { mend, seen, settled, setUp } from './mending.ts';
import { type Scenario, scenario } from './topology.ts';
import { type Figures, slotCounts, type World } from './world.ts';

const openSlots: readonly Scenario[] = [
  ...(['opened', 'some-keys', 'all-keys'] as const).map((stage) =>
    mend(`half-finished migration, ${stage}`, 'SLOT_OPEN', async ({ cluster, slot }) => {
      const written = await fillSlot(cluster, slot, 40);
      await halfFinishedMigration(cluster, slot, stage);
      return written;
    }),
  ),
  mend('half-finished migration, and a third node with stray keys of the slot', 'SLOT_OPEN', async (scene) => {
    const { cluster, slot } = scene;
    const written = await fillSlot(cluster, slot, 40);
    const strays = entriesIn(slot, 10, 'stray');
    await strayKeys(cluster, slot, strays, cluster.primaries[3]);
    await halfFinishedMigration(cluster, slot, 'some-keys');
    await seen(scene, 'KEYS_OUTSIDE_SLOT');
    return new Map([...written, ...strays]);
  }),
  mend('one importing with keys, nobody migrating', 'SLOT_OPEN', async ({ cluster, slot }) => {
    const written = await fillSlot(cluster, slot, 40);
    await importingOnly(cluster, slot, 1);
    return written;
  }),
  mend('two importing with keys, nobody migrating', 'SLOT_OPEN', async ({ cluster, slot }) => {
    const written = await fillSlot(cluster, slot, 40);
    await importingOnly(cluster, slot, 2);
    return written;
  }),
  mend('one migrating, two importing, one of them its target', 'SLOT_OPEN', async ({ cluster, slot }) => {
    const written = await fillSlot(cluster, slot, 40);
    await oneMigratingTwoImporting(cluster, slot, { recorded: 'target' });
    return written;
  }),
  mend('one migrating, two importing, neither its target', 'SLOT_OPEN', async ({ cluster, slot }) => {
    const written = await fillSlot(cluster, slot, 40);
    await oneMigratingTwoImporting(cluster, slot, { recorded: 'elsewhere' });
    return written;
  }),
  mend(
    'one migrating, two importing, all with keys (left to a person by redis-cli)',
    'SLOT_OPEN',
    async ({ cluster, slot }) => {
      const written = await fillSlot(cluster, slot, 42);
      await oneMigratingTwoImporting(cluster, slot, { recorded: 'target', keys: true });
      return written;
    },
  ),
  mend(
    'one migrating to a third, two importing with keys (left to a person by redis-cli)',
    'SLOT_OPEN',
    async ({ cluster, slot }) => {
      const written = await fillSlot(cluster, slot, 42);
      await oneMigratingTwoImporting(cluster, slot, { recorded: 'elsewhere', keys: true });
      return written;
    },
  ),
  mend('migrating to a node that does not import', 'SLOT_OPEN', async ({ cluster, slot }) => {
    const written = await fillSlot(cluster, slot, 40);
    await migratingOnly(cluster, slot);
    return written;
  }),
];

const uncovered: readonly Scenario[] = [
  mend('slots without owner and without keys', 'SLOT_UNCOVERED', async ({ cluster, slots }) => {
    await uncover(cluster, slots);
    return new Map();
  }),
  mend(
    'a slot without owner, keys on one node',
    'SLOT_UNCOVERED',
    async ({ cluster, slot }) => {
      const written = await fillSlot(cluster, slot, 40);
      await uncover(cluster, [slot]);
      return written;
    },
    async ({ cluster, slot }) => {
      assert.equal(await settled(cluster, slot), cluster.primaries[0], 'the node with the keys owns the slot');
    },
  ),
  mend(
    'a slot without owner, keys on two nodes, some on both with equal values',
    'SLOT_UNCOVERED',
    async ({ cluster, slot }) => {
      const written = await fillSlot(cluster, slot, 40);
      const { foreign } = await uncoverWithKeysOnSeveral(cluster, slot, written, { equal: 5, foreign: 10 });
      return new Map([...written, ...foreign]);
    },
    async ({ cluster, slot }) => {
      assert.equal(await settled(cluster, slot), cluster.primaries[0], 'the node with most keys owns the slot');
    },
  ),
  scenario('fix: a slot without owner, different values of one key on two nodes', conflicting),
];

/** Nothing is overwritten: both values stay, the key is named, and a person decides. */
async function conflicting(world: World): Promise<Figures> {
  const scene = await setUp(world);
  const { cluster, slot, entry } = scene;
  const written = await fillSlot(cluster, slot, 20);
  const made = await uncoverWithKeysOnSeveral(cluster, slot, written, { equal: 2, conflicting: 1, foreign: 4 });
  const [key] = made.conflicting;
  assert.ok(key);
  const run = await world.tryReeve(entry, 'fix');
  assert.notEqual(run.code, 0, 'a conflict is not success');
  assert.match(`${run.stdout}${run.stderr}`, /KEY_CONFLICT/);
  assert.ok(`${run.stdout}${run.stderr}`.includes(key), 'the key is named');
  const dumped = await Promise.all(
    [made.former, made.other].map((server) => server.call('CLUSTER', 'GETKEYSINSLOT', slot, 1000)),
  );
  for (const keys of dumped) assert.ok((keys as string[]).includes(key), 'each node still has its value');
  // The person decides for the owner's value: the other copy goes, by way of an import opened for it.
  const owner = await ownerOf(cluster, slot);
  const loser = owner === made.former ? made.other : made.former;
  await loser.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(await owner.call('CLUSTER', 'MYID')));
  await loser.call('ASKING');
  await loser.call('DEL', key);
  await loser.call('CLUSTER', 'SETSLOT', slot, 'STABLE');
  await world.reeve(entry, 'fix');
  const expected = new Map([...written, ...made.foreign]);
  expected.delete(key);
  return world.end(cluster.servers, { replicasPerPrimary: 1, written: expected });
}

/**
 * Servers settle equal epochs when one hears the other itself. Nobody reaches these two any more, but they reach the
 * others: so their collision lasts, a third one gets an epoch above it, and it is for our tool to end it.
 */
async function deafCollision(world: World): Promise<Figures> {
  const scene = await setUp(world, { busProxy: true, nodeTimeoutMs: 20_000 });
  const { servers: pair } = await epochCollision(scene.cluster);
  for (const server of scene.cluster.servers) if (!pair.includes(server)) server.busProxy?.heal();
  const [collided] = await epochsOf(pair, 'cluster_my_epoch');
  assert.ok(collided);
  const third = scene.entry;
  assert.ok(!pair.includes(third));
  await until('the third has heard of their epoch', async () => {
    return (await epochsOf([third], 'cluster_current_epoch'))[0] === collided;
  });
  await third.call('CLUSTER', 'BUMPEPOCH');
  await until('and they of its own', async () => {
    return (await epochsOf(pair, 'cluster_current_epoch')).every((epoch) => epoch > collided);
  });
  assert.deepEqual(await epochsOf(pair, 'cluster_my_epoch'), [collided, collided], 'it lasts');
  await seen(scene, 'EPOCH_COLLISION');
  await world.reeve(third, 'fix');
  assert.equal(new Set(await epochsOf([...pair, third], 'cluster_my_epoch')).size, 3, 'while they are deaf still');
  for (const server of pair) server.busProxy?.heal();
  return world.end(scene.cluster.servers, { replicasPerPrimary: 1 });
}

async function epochsOf(
  servers: readonly Server[],
  field: 'cluster_my_epoch' | 'cluster_current_epoch',
): Promise<readonly number[]> {
  return Promise.all(
    servers.map(async (server) =>
      Number(new RegExp(`${field}:(\\d+)`).exec(String(await server.call('CLUSTER', 'INFO')))?.[1]),
    ),
  );
}

/** The owner has 20 keys of it, the claimant so many: five of them are on both with equal values, the others are its own. */
async function claimed(world: World, count: 0 | 15 | 35): Promise<Figures> {
  const scene = await setUp(world, { busProxy: true, nodeTimeoutMs: 20_000 });
  const { cluster, slot } = scene;
  const written = await fillSlot(cluster, slot, 20);
  const foreign = entriesIn(slot, Math.max(0, count - 5), 'foreign');
  const { owner, claimant, heal } = await severalOwners(
    cluster,
    slot,
    count === 0 ? new Map() : new Map([...[...written].slice(0, 5), ...foreign]),
  );
  await seen(scene, 'SLOT_MULTIPLE_OWNERS');
  assert.deepEqual(await keyCounts([owner, claimant], slot), [20, count]);
  // The nodes hear each other again once the claim is settled: earlier, the servers themselves would settle it.
  const slotsOfBoth = async () => (await slotCounts([owner, claimant])).reduce((sum, slots) => sum + slots, 0);
  const healed = until('the claim is settled', async () => (await slotsOfBoth()) === 8192, { timeoutMs: 60_000 });
  await Promise.all([world.reeve(scene.entry, 'fix'), healed.then(heal)]);
  assert.equal(await settled(cluster, slot), count > 20 ? claimant : owner, 'the one with most keys keeps it');
  return world.end(cluster.servers, { replicasPerPrimary: 1, written: new Map([...written, ...foreign]) });
}

async function keyCounts(servers: readonly Server[], slot: number): Promise<readonly number[]> {
  return Promise.all(servers.map(async (server) => Number(await server.call('CLUSTER', 'COUNTKEYSINSLOT', slot))));
}

const elsewhere: readonly Scenario[] = [
  mend('keys outside the slots of their node', 'KEYS_OUTSIDE_SLOT', async ({ cluster, slot }) => {
    const written = await fillSlot(cluster, slot, 20);
    const strays = entriesIn(slot, 10, 'stray');
    await strayKeys(cluster, slot, strays);
    return new Map([...written, ...strays]);
  }),
  ...([0, 15, 35] as const).map((count) =>
    scenario(`fix: several owners of a slot, the claimant with ${count} keys of it`, (world) => claimed(world, count), {
      patienceMs: 120_000,
    }),
  ),
  scenario(
    'fix: colliding epochs',
    async (world) => {
      const scene = await setUp(world, { busProxy: true, nodeTimeoutMs: 20_000 });
      const held = await epochCollision(scene.cluster);
      await seen(scene, 'EPOCH_COLLISION');
      const epochs = () => epochsOf(held.servers, 'cluster_my_epoch');
      // Our tool may settle it or wait for the servers to do so, which they can once they hear each other again.
      const settled = until('settled', async () => new Set(await epochs()).size === 2, { timeoutMs: 4000 });
      const healed = settled.then(held.heal, held.heal);
      await Promise.all([world.reeve(scene.entry, 'fix'), healed]);
      return world.end(scene.cluster.servers, { replicasPerPrimary: 1 });
    },
    { patienceMs: 120_000 },
  ),
  scenario('fix: colliding epochs of two that do not hear each other', deafCollision, { patienceMs: 120_000 }),
];

export const damageScenarios: readonly Scenario[] = [
  ...openSlots,
  ...brokenMoves,
  ...uncovered,
  ...elsewhere,
  ...members,
  ...changedWhileAlive,
];
