import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ModelServer, slotOfKey } from '@reeve/simulation/redis';
import { redisClusters } from '../../src/api/kinds.ts';
import { NAMESPACE, OperatorWorld } from './world.ts';

const isRunning = (world: OperatorWorld, name: string) => () =>
  world.status(name).phase === 'Running' && world.status(name).currentOperation === undefined;

function ownerOf(world: OperatorWorld, cluster: string, key: string): ModelServer {
  const servers = (world.status(cluster).members ?? []).map(({ pod }) => world.serverOf(pod));
  const owners = servers.filter((server) => server.isPrimary && server.ownerOf(slotOfKey(key)) === server.self);
  assert.equal(owners.length, 1, `${key} has ${owners.length} owners in ${cluster}`);
  return owners[0] as ModelServer;
}

const ENDS_MS = 100 * 86_400_000;

/** Every fourth ends one day. */
async function write(world: OperatorWorld, cluster: string, count: number): Promise<readonly string[]> {
  const keys = Array.from({ length: count }, (_, index) => `key:${index}`);
  for (const [index, key] of keys.entries()) {
    const words = ['SET', key, `value of ${key}`, ...(index % 4 === 0 ? ['PX', String(ENDS_MS)] : [])];
    world.model.execute(ownerOf(world, cluster, key).endpoint, words);
  }
  await world.pass(3_000);
  return keys;
}

/** The same keys with the same values, which end at the same time, and no others. */
function assertSame(world: OperatorWorld, keys: readonly string[], here: string, there: string): void {
  const about = (cluster: string) =>
    keys.map((key) => {
      const entry = ownerOf(world, cluster, key).database(0).get(key, world.clock.now());
      return { key, value: entry?.value, ends: entry?.expireAt };
    });
  assert.deepEqual(about(there), about(here));
  assert.ok(about(there).every(({ key, value }) => value === `value of ${key}`));
  const primaries = (world.status(there).members ?? []).filter(({ role }) => role === 'primary');
  const held = primaries.reduce((sum, { pod }) => sum + world.serverOf(pod).database(0).size, 0);
  assert.equal(held, keys.length);
}

const hasEnded = (world: OperatorWorld, task: string) => () =>
  /Succeeded|Failed/.test(world.taskStatus(task)?.phase ?? '');

async function done(world: OperatorWorld, task: string, spec: object): Promise<void> {
  await world.task(task, spec);
  await world.until(`task ${task} has ended`, hasEnded(world, task), 900_000);
  assert.equal(world.taskStatus(task)?.phase, 'Succeeded', JSON.stringify(world.taskStatus(task)));
}

async function refused(world: OperatorWorld, task: string, spec: object, code: string): Promise<void> {
  await world.task(task, spec);
  await world.until(`task ${task} has ended`, hasEnded(world, task));
  assert.equal(world.taskStatus(task)?.code, code, JSON.stringify(world.taskStatus(task)));
}

async function pair(
  t: TestContext,
  count = 60,
): Promise<{ readonly world: OperatorWorld; readonly keys: readonly string[] }> {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', isRunning(world, 'c'));
  const keys = await write(world, 'c', count);
  await world.create('d', { primaries: 4 });
  await world.until('the other one runs', isRunning(world, 'd'));
  return { world, keys };
}

test('a backup is restored into a cluster of another size, times and all; not twice, and not over anything', async (t) => {
  const { world, keys } = await pair(t);
  await done(world, 'save', { cluster: 'c', backup: {} });
  const manifest = world.backups.sealed.get('ns/c/save');
  assert.equal(manifest?.shards.length, 3);
  assert.equal(
    manifest.shards.reduce((sum, shard) => sum + shard.keys, 0),
    keys.length,
  );
  assert.ok(manifest.shards.every(({ role }) => role === 'replica'));
  await refused(world, 'again', { cluster: 'c', backup: { name: 'save' } }, 'BACKUP_EXISTS');
  await refused(world, 'unknown', { cluster: 'd', restore: { cluster: 'c', name: 'other' } }, 'BACKUP_UNKNOWN');
  await refused(world, 'over', { cluster: 'c', restore: { cluster: 'c', name: 'save' } }, 'RESTORE_NOT_EMPTY');
  await done(world, 'load', { cluster: 'd', restore: { cluster: 'c', name: 'save' } });
  assert.match(world.taskStatus('load')?.message ?? '', /^60 keys restored, 0 were there already/);
  assertSame(world, keys, 'c', 'd');
  await refused(world, 'load-again', { cluster: 'd', restore: { cluster: 'c', name: 'save' } }, 'RESTORE_NOT_EMPTY');
});

test('a backup whose files are not what was written is not restored: not one key of it', async (t) => {
  const { world } = await pair(t);
  await done(world, 'save', { cluster: 'c', backup: {} });
  world.backups.damage('ns/c/save', 'shard-2.rdb');
  await refused(world, 'load', { cluster: 'd', restore: { cluster: 'c', name: 'save' } }, 'BACKUP_DAMAGED');
  const primaries = (world.status('d').members ?? []).filter(({ role }) => role === 'primary');
  assert.ok(primaries.every(({ pod }) => world.serverOf(pod).database(0).size === 0));
});

test('the operator dies at its effects while it backs up, restores and upgrades: each comes to its end', async (t) => {
  const { world, keys } = await pair(t);
  const counted = async (work: () => Promise<void>): Promise<number> => {
    const before = world.effects;
    await work();
    return world.effects - before;
  };
  const restore = async (task: string) => {
    for (const { pod } of world.status('d').members ?? []) world.serverOf(pod).database(0).clear();
    await world.pass(3_000);
    await done(world, task, { cluster: 'd', restore: { cluster: 'c', name: 'calm' } });
    assertSame(world, keys, 'c', 'd');
  };
  const calm = {
    backup: await counted(() => done(world, 'calm', { cluster: 'c', backup: {} })),
    restore: await counted(() => restore('calm-restore')),
    upgrade: await counted(() => done(world, 'calm-upgrade', { cluster: 'c', upgrade: { version: '9.2.0' } })),
  };
  const rounds = async (effects: number, count: number, round: (name: string, index: number) => Promise<void>) => {
    for (let index = 0; index < count; index++) {
      world.diesAfter = Math.floor((effects * index) / count);
      await round(`${count}-${effects}-${index}`, index);
      world.diesAfter = Number.POSITIVE_INFINITY;
    }
  };
  await rounds(calm.backup, 12, async (name) => {
    await done(world, `save-${name}`, { cluster: 'c', backup: {} });
    const manifest = world.backups.sealed.get(`ns/c/save-${name}`);
    assert.equal(
      manifest?.shards.reduce((sum, shard) => sum + shard.keys, 0),
      keys.length,
    );
  });
  await rounds(calm.restore, 12, (name) => restore(`load-${name}`));
  await rounds(calm.upgrade, 6, async (name, index) => {
    await done(world, `upgrade-${name}`, { cluster: 'c', upgrade: { version: `9.2.${index + 1}` } });
    assert.equal(world.cluster('c')?.spec.version, `9.2.${index + 1}`);
    assertSame(world, keys, 'c', 'c');
  });
  t.diagnostic(`${JSON.stringify(calm)} effects, ${world.deaths} deaths`);
  assert.ok(world.deaths >= 25, `${world.deaths} deaths`);
});

test('a draft is swept when its task was deleted while nobody ran, and so is one of a cluster that is gone', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world, 'c'));
  await world.stopManager();
  await world.backups.draft('ns/c/save');
  await world.backups.draft('ns/gone/other');
  // As the operator left it: begun, and killed in the middle.
  const trigger = { kind: 'RedisTask', name: 'save', uid: 'uid-of-a-task-that-was-deleted' };
  const goal = { name: 'ns/c/save', by: trigger.uid, users: [] };
  const startedAt = new Date(world.clock.now()).toISOString();
  const currentOperation = { id: 'backup-1', kind: 'backup', why: 'task save asks for it', trigger, startedAt, goal };
  const status = { ...world.status('c'), currentOperation };
  const asOperator = { subresource: 'status', fieldManager: 'redis', force: true } as const;
  await world.api.client
    .resource(redisClusters, NAMESPACE)
    .apply({ metadata: { name: 'c' }, status } as never, asOperator);
  world.startManager();
  await world.until('it is cancelled', () => world.status('c').operations?.[0]?.outcome === 'cancelled');
  await world.pass(30_000);
  assert.deepEqual(await world.backups.drafts(), []);
  await done(world, 'save', { cluster: 'c', backup: {} });
  assert.ok(world.backups.sealed.has('ns/c/save'));
});

test('a primary that dies while keys are restored takes some with it that it had answered: they are brought again', async (t) => {
  const { world, keys } = await pair(t, 300);
  await done(world, 'save', { cluster: 'c', backup: {} });
  let restores = 0;
  let lost = 0;
  world.denies = (label) => {
    if (label !== 'RESTORE' || ++restores !== 60) return false;
    const members = (world.status('d').members ?? []).map(({ pod }) => ({ pod, server: world.serverOf(pod) }));
    const held = ({ server }: (typeof members)[number]) => (server.isPrimary ? server.database(0).size : -1);
    const [fullest] = members.sort((a, b) => held(b) - held(a));
    assert.ok(fullest);
    lost = held(fullest);
    world.model.kill(fullest.server);
    void world.deletePod(fullest.pod);
    return false;
  };
  await done(world, 'load', { cluster: 'd', restore: { cluster: 'c', name: 'save' } });
  assert.ok(lost > 0);
  await world.until('the cluster runs', isRunning(world, 'd'), 900_000);
  assertSame(world, keys, 'c', 'd');
  const message = world.taskStatus('load')?.message ?? '';
  assert.match(message, /^300 keys restored, 0 were there already, 0 had ended meanwhile; \d+ were lost/);
});

test('whoever is started anew while its replicas are waited for is not waited for any more: its keys are brought again', async (t) => {
  const { world, keys } = await pair(t);
  await done(world, 'save', { cluster: 'c', backup: {} });
  let restores = 0;
  let endedAt = Number.POSITIVE_INFINITY;
  world.denies = (label) => {
    if (label === 'RESTORE' && ++restores === keys.length) endedAt = world.clock.now();
    return false;
  };
  // In the first look after the last key primaries are far ahead; in the next one they are others, which count from the beginning.
  world.disguised = (reply) => {
    const passed = world.clock.now() - endedAt;
    if (passed < 0) return reply;
    if (passed > 300) return reply.replace(/run_id:\w+/, 'run_id:anew');
    return reply.replace(/role:master[^]*master_repl_offset:/, (text) => `${text}9`);
  };
  await done(world, 'load', { cluster: 'd', restore: { cluster: 'c', name: 'save' } });
  assertSame(world, keys, 'c', 'd');
});

test('a restore into servers that are started anew all the time says that keys may be missing', async (t) => {
  const { world } = await pair(t);
  await done(world, 'save', { cluster: 'c', backup: {} });
  let looks = 0;
  world.disguised = (reply) => reply.replace(/run_id:\w+/, () => `run_id:${looks++}`);
  await refused(world, 'load', { cluster: 'd', restore: { cluster: 'c', name: 'save' } }, 'RESTORE_OVERTAKEN');
});

/** Between the word that its task has ended, and the status of its cluster, which still has it for its goal. */
async function diesAtTheEndOf(world: OperatorWorld, task: string, spec: object): Promise<void> {
  world.deathComes = 'after';
  world.diesWith = ({ path, body = '' }) => path.includes(`/${task}/status`) && /"Succeeded"|"Failed"/.test(body);
  await world.task(task, spec);
  await world.until('it dies', () => world.deaths === 1, 900_000);
  world.diesWith = () => false;
}

const restores = (world: OperatorWorld, cluster: string) =>
  world
    .status(cluster)
    .operations?.filter(({ kind }) => kind === 'restore')
    .map(({ id, outcome, message }) => ({ id, outcome, message }));

test('a restore whose task has ended is not run again, although its cluster still names it: what was deleted since stays deleted', async (t) => {
  const { world, keys } = await pair(t);
  await done(world, 'save', { cluster: 'c', backup: {} });
  await diesAtTheEndOf(world, 'load', { cluster: 'd', restore: { cluster: 'c', name: 'save' } });
  const [begun, ended] = [world.status('d').currentOperation, world.taskStatus('load')];
  assert.equal(begun?.kind, 'restore');
  assert.equal(ended?.phase, 'Succeeded');
  assertSame(world, keys, 'c', 'd');
  // Whoever waited for the task goes on with the cluster.
  const [gone = ''] = keys;
  for (const { pod } of world.status('d').members ?? []) world.serverOf(pod).database(0).delete(gone);
  await world.until('the next one has written it down', isRunning(world, 'd'));
  await world.pass(30_000);
  assert.equal(ownerOf(world, 'd', gone).database(0).get(gone, world.clock.now()), undefined);
  assert.deepEqual(world.taskStatus('load'), ended);
  assert.deepEqual(restores(world, 'd'), [{ id: begun.id, outcome: 'done', message: ended.message }]);
});

test('a restore whose task has failed is not run again either, when what it lacked is there', async (t) => {
  const { world, keys } = await pair(t);
  await done(world, 'save', { cluster: 'c', backup: {} });
  const repair = world.backups.damage('ns/c/save', 'shard-2.rdb');
  await diesAtTheEndOf(world, 'load', { cluster: 'd', restore: { cluster: 'c', name: 'save' } });
  const [begun, ended] = [world.status('d').currentOperation, world.taskStatus('load')];
  assert.equal(begun?.kind, 'restore');
  assert.deepEqual([ended?.phase, ended?.code], ['Failed', 'BACKUP_DAMAGED']);
  repair();
  await world.until('the next one has written it down', isRunning(world, 'd'));
  await world.pass(30_000);
  assert.ok(keys.every((key) => !ownerOf(world, 'd', key).database(0).get(key, world.clock.now())));
  assert.deepEqual(world.taskStatus('load'), ended);
  assert.deepEqual(restores(world, 'd'), [{ id: begun.id, outcome: 'failed', message: ended?.message }]);
});

test('an upgrade goes from pod to pod, says how far it is, and refuses what could not be undone', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', isRunning(world, 'c'));
  const keys = await write(world, 'c', 40);
  await refused(world, 'back', { cluster: 'c', upgrade: { version: '8.0' } }, 'UPGRADE_OLDER');
  await refused(world, 'other', { cluster: 'c', upgrade: { image: 'redis:8' } }, 'MIXED_PRODUCTS');
  await world.task('up', { cluster: 'c', upgrade: { version: '9.2.0' } });
  await world.pass(1_500);
  await world.task('later', { cluster: 'c', rebalance: {} });
  await world.until('it is under way', () => /^[1-5] of 6/.test(world.taskStatus('up')?.progress ?? ''));
  assert.match(world.taskStatus('up')?.waitingFor ?? '', /^c-\d/);
  assert.equal(world.taskStatus('later')?.phase, 'Waiting', 'what was asked for later waits');
  assert.match(world.taskStatus('later')?.message ?? '', /its turn after task up/);
  await world.until('it has ended', hasEnded(world, 'up'), 900_000);
  assert.equal(world.taskStatus('up')?.message, '6 pods run valkey:9.2.0');
  await world.until('the next one has ended', hasEnded(world, 'later'));
  assertSame(world, keys, 'c', 'c');
});

test('without volumes each pod comes back as another node, and nothing is lost either', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world, 'c'));
  const keys = await write(world, 'c', 40);
  const before = new Set(world.status('c').members?.map(({ id }) => id));
  await done(world, 'up', { cluster: 'c', upgrade: { version: '9.2.0' } });
  await world.until('the cluster runs', isRunning(world, 'c'));
  assert.ok(world.status('c').members?.every(({ id }) => !before.has(id)));
  assertSame(world, keys, 'c', 'c');
});

test('an upgrade that a person overtakes ends, and does not fight', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world, 'c'));
  await world.task('up', { cluster: 'c', upgrade: { version: '9.2.0' } });
  await world.until('it is under way', () => /^\d of 6/.test(world.taskStatus('up')?.progress ?? ''));
  await world.patch('c', { spec: { version: '9.3.0' } });
  await world.until('it has ended', hasEnded(world, 'up'));
  assert.equal(world.taskStatus('up')?.code, 'UPGRADE_SUPERSEDED');
  assert.equal(world.cluster('c')?.spec.version, '9.3.0');
});
