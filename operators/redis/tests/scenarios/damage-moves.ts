/** Moves that broke off in the worst moment: nobody owns the slot, several do, an end of the move is dead. */
import assert from 'node:assert/strict';
import { cutBus, fillSlot, halfFinishedMigration, nodeId, ownerOf, parseNodes, type Server, until } from '@reeve/rig';
import { type Scene, seen, settled, setUp } from './mending.ts';
import { type Scenario, scenario } from './topology.ts';
import { type Figures, isPrimary, slotCounts, type World } from './world.ts';

/**
 * The source was told first who owns the slot, and the target has not been told yet (redis#7116). Nodes that hear each
 * other may settle that by themselves: on Valkey a target that imports takes what the source no longer claims.
 */
async function openWithoutOwner(world: World): Promise<Figures> {
  const scene = await setUp(world, { busProxy: true, nodeTimeoutMs: 20_000 });
  const { cluster, slot } = scene;
  const written = await fillSlot(cluster, slot, 40);
  const { source, target } = await halfFinishedMigration(cluster, slot, 'all-keys');
  const held = cutBus(cluster);
  await source.call('CLUSTER', 'SETSLOT', slot, 'NODE', await nodeId(target));
  await seen(scene, 'SLOT_UNCOVERED');
  const healed = until('the target owns it', async () => (await slotCounts([target]))[0] === 4097, {
    timeoutMs: 60_000,
  }).then(() => held.heal());
  await Promise.all([world.reeve(scene.entry, 'fix'), healed]);
  assert.equal(await settled(cluster, slot), target, 'the target has the keys and owns the slot');
  return world.end(cluster.servers, { replicasPerPrimary: 1, written });
}

/**
 * The target was told that it owns the slot, the source was not. Servers that hear each other settle that within a
 * second, before a tool can look: so they do not, until ours has.
 */
async function onlyTheTargetTold(world: World): Promise<Figures> {
  const scene = await setUp(world, { busProxy: true, nodeTimeoutMs: 20_000 });
  const { cluster, slot } = scene;
  const written = await fillSlot(cluster, slot, 40);
  const { source, target } = await halfFinishedMigration(cluster, slot, 'all-keys');
  const held = cutBus(cluster);
  await target.call('CLUSTER', 'SETSLOT', slot, 'NODE', await nodeId(target));
  await seen(scene, 'SLOT_MULTIPLE_OWNERS');
  await seen(scene, 'SLOT_OPEN');
  const healed = until('the source has given it up', async () => (await slotCounts([source]))[0] === 4095, {
    timeoutMs: 60_000,
  }).then(() => held.heal());
  await Promise.all([world.reeve(scene.entry, 'fix'), healed]);
  assert.equal(await settled(cluster, slot), target, 'the target has the keys and owns the slot');
  return world.end(cluster.servers, { replicasPerPrimary: 1, written });
}

async function severalOwnersOfAnOpenSlot(world: World): Promise<Figures> {
  const scene = await setUp(world, { busProxy: true, nodeTimeoutMs: 20_000 });
  const { cluster, slot } = scene;
  const written = await fillSlot(cluster, slot, 40);
  await halfFinishedMigration(cluster, slot, 'some-keys');
  const claimant = cluster.primaries[3] as Server;
  const held = cutBus(cluster);
  await claimant.call('CLUSTER', 'DELSLOTS', slot);
  await claimant.call('CLUSTER', 'ADDSLOTS', slot);
  await seen(scene, 'SLOT_MULTIPLE_OWNERS');
  await seen(scene, 'SLOT_OPEN');
  // The nodes hear each other again once the claim is settled: earlier, the servers themselves would settle it.
  const healed = until('the claim is settled', async () => (await slotCounts([claimant]))[0] === 4096, {
    timeoutMs: 60_000,
  }).then(() => held.heal());
  await Promise.all([world.reeve(scene.entry, 'fix'), healed]);
  assert.equal(await settled(cluster, slot), cluster.primaries[0], 'the owner that has keys of it keeps it');
  return world.end(cluster.servers, { replicasPerPrimary: 1, written });
}

/**
 * Its replica takes over, with the keys that had arrived. The move is taken back: a target that comes back to find it
 * finished would make itself the owner on Valkey, with an epoch that beats its heir's, and without its keys.
 */
async function targetDies(world: World): Promise<Figures> {
  const scene = await setUp(world, { nodeTimeoutMs: 2000 });
  const { cluster, slot, entry } = scene;
  const written = await fillSlot(cluster, slot, 40);
  const { source, target } = await halfFinishedMigration(cluster, slot, 'some-keys');
  await world.permitLossOf([target]);
  await target.kill9();
  await world.reeve(entry, 'fix');
  assert.equal(await ownerOf(cluster, slot), source, 'it is taken back');
  await target.restart();
  await until('the target finds that it is a replica now', async () => !(await isPrimary(target)));
  // It may have brought its mark along, as a replica.
  await world.reeve(entry, 'fix');
  assert.equal(await settled(cluster, slot), source);
  return world.end(cluster.servers, { replicasPerPrimary: 1, written });
}

/**
 * A replica that is away when the end of a move is told. Valkey's replicas copy the marks of their primary, and keep one
 * whose end they missed; those of Redis have none, and there is nothing to mend.
 */
async function carriedMarks(world: World): Promise<Figures> {
  const scene = await setUp(world);
  const { cluster, slot, entry } = scene;
  const [primary, other] = cluster.primaries;
  const [replica] = cluster.replicas;
  assert.ok(primary && other && replica);
  const written = await fillSlot(cluster, slot, 40);
  const copies = world.product === 'valkey';
  await primary.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', await nodeId(other));
  if (copies) await until('the replica has copied the mark', async () => (await openOn(replica)).includes(slot));
  await replica.call('CLUSTER', 'SAVECONFIG');
  await replica.kill9();
  await closeAlone(scene, primary);
  await replica.restart();
  await until('the replica is in step', async () =>
    String(await replica.call('INFO', 'replication')).includes('master_link_status:up'),
  );
  assert.deepEqual(await openOn(replica), copies ? [slot] : []);
  if (copies) await seen(scene, 'SLOT_OPEN');
  await world.reeve(entry, 'fix');
  assert.equal(await settled(cluster, slot), primary);
  return world.end(cluster.servers, { replicasPerPrimary: 1, written });
}

/** SETSLOT waits for replicas on Valkey and says so when none answers; it is done all the same. */
async function closeAlone({ slot }: Scene, primary: Server): Promise<void> {
  await primary.call('CLUSTER', 'SETSLOT', slot, 'STABLE').catch((error: unknown) => {
    if (!/NOREPLICAS|UNBLOCKED/.test(String(error))) throw error;
  });
  await until('the primary has closed it', async () => (await openOn(primary)).length === 0);
}

async function openOn(server: Server): Promise<readonly number[]> {
  const own = parseNodes(String(await server.call('CLUSTER', 'NODES'))).find((line) => line.myself);
  return (own?.open ?? []).map(({ slot }) => slot);
}

export const brokenMoves: readonly Scenario[] = [
  scenario('fix: half-finished migration, target-told', onlyTheTargetTold, { patienceMs: 120_000 }),
  scenario('fix: an open slot without owner: the source gave it up, the target is still importing', openWithoutOwner),
  scenario('fix: an open slot with several owners', severalOwnersOfAnOpenSlot, { patienceMs: 120_000 }),
  scenario('fix: the target of a move dies in the middle of it', targetDies, { patienceMs: 120_000 }),
  scenario('fix: a mark that only a replica carries', carriedMarks),
];
