/** Scenarios of `reeve redis fix`: every kind of damage, made on purpose on a real cluster that serves clients meanwhile. */
import assert from 'node:assert/strict';
import {
  breakReplicaLink,
  type Cluster,
  entriesIn,
  epochCollision,
  fillSlot,
  halfFinishedMigration,
  importingOnly,
  loseQuorum,
  meetAll,
  migratingOnly,
  oneMigratingTwoImporting,
  ownerOf,
  parseNodes,
  restartAllElsewhere,
  type Server,
  severalOwners,
  splitInHalves,
  strayKeys,
  uncover,
  uncoverWithKeysOnSeveral,
  until,
} from '@reeve/rig';
import { brokenMoves } from './damage-moves.ts';
import { mend, seen, settled, setUp } from './mending.ts';
import { type Scenario, scenario } from './topology.ts';
import { type Figures, isPrimary, slotCounts, type World } from './world.ts';

const openSlots: readonly Scenario[] = [
  ...(['opened', 'some-keys', 'all-keys', 'target-told'] as const).map((stage) =>
    mend(
      `half-finished migration, ${stage}`,
      stage === 'target-told' ? undefined : 'SLOT_OPEN',
      async ({ cluster, slot }) => {
        const written = await fillSlot(cluster, slot, 40);
        await halfFinishedMigration(cluster, slot, stage);
        return written;
      },
    ),
  ),
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

const elsewhere: readonly Scenario[] = [
  mend('keys outside the slots of their node', 'KEYS_OUTSIDE_SLOT', async ({ cluster, slot }) => {
    const written = await fillSlot(cluster, slot, 20);
    const strays = entriesIn(slot, 10, 'stray');
    await strayKeys(cluster, slot, strays);
    return new Map([...written, ...strays]);
  }),
  scenario(
    'fix: several owners of a slot',
    async (world) => {
      const scene = await setUp(world, { busProxy: true, nodeTimeoutMs: 20_000 });
      const { cluster, slot } = scene;
      const written = await fillSlot(cluster, slot, 20);
      const held = await severalOwners(cluster, slot);
      await seen(scene, 'SLOT_MULTIPLE_OWNERS');
      // The nodes hear each other again once the claim is settled: earlier, the servers themselves would settle it.
      const healed = until('the claim is settled', async () => (await slotCounts([held.claimant]))[0] === 4096, {
        timeoutMs: 60_000,
      }).then(() => held.heal());
      await Promise.all([world.reeve(scene.entry, 'fix'), healed]);
      return world.end(cluster.servers, { replicasPerPrimary: 1, written });
    },
    { patienceMs: 120_000 },
  ),
  scenario(
    'fix: colliding epochs',
    async (world) => {
      const scene = await setUp(world, { busProxy: true, nodeTimeoutMs: 20_000 });
      const held = await epochCollision(scene.cluster);
      await seen(scene, 'EPOCH_COLLISION');
      const epochs = async () =>
        Promise.all(
          held.servers.map(
            async (server) => /cluster_my_epoch:(\d+)/.exec(String(await server.call('CLUSTER', 'INFO')))?.[1],
          ),
        );
      // Our tool may settle it or wait for the servers to do so, which they can once they hear each other again.
      const settled = until('settled', async () => new Set(await epochs()).size === 2, { timeoutMs: 4000 });
      const healed = settled.then(held.heal, held.heal);
      await Promise.all([world.reeve(scene.entry, 'fix'), healed]);
      return world.end(scene.cluster.servers, { replicasPerPrimary: 1 });
    },
    { patienceMs: 120_000 },
  ),
  scenario('fix: all nodes restarted at new addresses', newAddresses, { patienceMs: 120_000 }),
  scenario('fix: a replica that cannot reach its primary', async (world) => {
    const scene = await setUp(world);
    const { repair } = await breakReplicaLink(scene.cluster);
    await seen(scene, 'REPLICA_LINK_DOWN');
    // No command of ours changes a password: a person must, and is told so.
    const said = await world.reeve(scene.entry, 'fix');
    assert.equal(said.json?.status, 'nothing-to-do');
    assert.match(said.stdout, /not mended by this: [^"]* is not in step with [^"]*log of the replica/);
    await repair();
    await world.reeve(scene.entry, 'fix');
    return world.end(scene.cluster.servers, { replicasPerPrimary: 1 });
  }),
  scenario('fix: the majority of primaries dead', lostQuorum, { patienceMs: 180_000 }),
  scenario('fix: two halves that do not know each other are refused', halves, { patienceMs: 240_000 }),
];

/** With data on disk, as a cluster that lost power and got other addresses. */
async function newAddresses(world: World): Promise<Figures> {
  const cluster = await world.cluster({
    primaries: 3,
    replicas: 1,
    appendOnly: true,
    hostOf: (index) => `127.0.3.${10 + index}`,
  });
  const { servers } = cluster;
  const written = await fillSlot(cluster, 100, 30);
  await restartAllElsewhere(cluster, (index) => `127.0.3.${30 + index}`);
  const addresses = servers.slice(1).map(({ endpoint }) => `${endpoint.host}:${endpoint.port}`);
  await world.reeve(servers[0] as Server, 'fix', ...addresses);
  await world.startTraffic(servers);
  return world.end(servers, { replicasPerPrimary: 1, written });
}

async function lostQuorum(world: World): Promise<Figures> {
  const { servers, primaries, ...cluster } = await world.cluster({ primaries: 3, replicas: 1, nodeTimeoutMs: 2000 });
  await world.startTraffic(servers);
  await world.permitLossOf(primaries);
  const dead = await loseQuorum({ servers, primaries, ...cluster });
  const alive = servers.filter((server) => !dead.includes(server));
  const entry = alive[0] as Server;
  await until(
    'the survivors have noticed',
    async () => String(await entry.call('CLUSTER', 'INFO')).includes('cluster_state:fail'),
    { timeoutMs: 60_000 },
  );
  const refused = await world.tryReeve(entry, 'fix');
  assert.notEqual(refused.code, 0, 'without --takeover nobody is promoted without votes');
  assert.equal((await Promise.all(alive.map(isPrimary))).filter(Boolean).length, 1);
  await world.reeve(entry, 'fix', '--takeover');
  assert.equal((await Promise.all(alive.map(isPrimary))).filter(Boolean).length, 3);
  await world.moreTraffic(200);
  // The dead come back and find that they are replicas now.
  await Promise.all(dead.map((server) => server.restart()));
  return world.end(servers, { replicasPerPrimary: 1 });
}

/** Two clusters with a part of the slots each: joining them could overwrite data, so a person must say. Then the halves are brought together. */
async function halves(world: World): Promise<Figures> {
  const cluster = await world.cluster({ primaries: 3, replicas: 1 });
  await world.startTraffic(cluster.servers);
  const [left, right] = await splitInHalves(cluster);
  const [one] = left;
  const [other] = right;
  assert.ok(one && other);
  const before = await tables(cluster);
  const run = await world.tryReeve(one, 'fix', `${other.endpoint.host}:${other.endpoint.port}`);
  assert.notEqual(run.code, 0);
  assert.match(`${run.stdout}${run.stderr}`, /SPLIT_CLUSTER/);
  assert.deepEqual(await tables(cluster), before, 'nothing was changed');
  // Who was forgotten is banned for a minute: introductions before that come to nothing on some servers.
  await until('the halves are one again', () => meetAll(cluster.servers).then(() => true), { timeoutMs: 150_000 });
  return world.end(cluster.servers, { replicasPerPrimary: 1 });
}

/** Who each node knows, with which slots. */
async function tables(cluster: Cluster): Promise<readonly string[]> {
  return Promise.all(
    cluster.servers.map(async (server) => {
      const lines = parseNodes(String(await server.call('CLUSTER', 'NODES')));
      return lines
        .map(({ id, role, slotText }) => `${id} ${role} ${slotText}`)
        .sort()
        .join('\n');
    }),
  );
}

export const damageScenarios: readonly Scenario[] = [...openSlots, ...brokenMoves, ...uncovered, ...elsewhere];
