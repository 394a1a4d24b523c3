/** All stages in which the operator dies: those of pods, and those of tasks, of agents in pods and of bare servers. */
import assert from 'node:assert/strict';
import { ExternalWorld } from '@reeve/redis/operator-external';
import { agentsInPods } from '@reeve/redis/operator-pod-agents';
import { OperatorWorld } from '@reeve/redis/operator-world';
import { created, isRunning, LONG_MS, mainStages, NAME, owners, type Stage, VOLUMES } from './deaths.ts';

async function done(world: OperatorWorld, task: string, spec: object): Promise<void> {
  await world.task(task, { cluster: NAME, ...spec });
  const hasEnded = () => /Succeeded|Failed/.test(world.taskStatus(task)?.phase ?? '');
  await world.until(`task ${task} has ended`, hasEnded, LONG_MS);
  assert.equal(world.taskStatus(task)?.phase, 'Succeeded', JSON.stringify(world.taskStatus(task)));
}

const EMPTY = 'd';

/** Of a world, which knows nothing of the servers that are somebody's. */
const externals = new WeakMap<OperatorWorld, ExternalWorld>();

function externalOf(world: OperatorWorld): ExternalWorld {
  const external = externals.get(world);
  assert.ok(external);
  return external;
}

const taskStages: readonly Stage[] = [
  {
    name: 'backup task, and restore',
    async prepare(world) {
      await created(world);
      await world.create(EMPTY, {});
      await world.until('another one runs', () => world.status(EMPTY).phase === 'Running');
    },
    servers: (world) => (world.status(NAME).members ?? []).map(({ pod }) => world.serverOf(pod)),
    async play(world) {
      await done(world, 'save', { backup: {} });
      await done(world, 'load', { cluster: EMPTY, restore: { cluster: NAME, name: 'save' } });
      await world.until('both run', () => isRunning(world) && world.status(EMPTY).phase === 'Running', LONG_MS);
    },
  },
  {
    name: 'upgrade task',
    prepare: (world) => created(world, VOLUMES),
    async play(world) {
      await done(world, 'up', { upgrade: { version: '9.2.0' } });
      await world.until('it runs', () => isRunning(world), LONG_MS);
    },
  },
  {
    name: 'approved creation',
    isNew: true,
    prepare: (world) => world.create(NAME, { creation: 'manual' }),
    async play(world) {
      await world.until('there is a plan', () => world.status(NAME).proposal !== undefined, LONG_MS);
      const digest = world.status(NAME).proposal?.digest ?? '';
      await world.patch(NAME, { metadata: { annotations: { 'redis.reeve.dev/approve': digest } } });
      await world.until('it runs', () => isRunning(world), LONG_MS);
    },
  },
];

const agentStages: readonly Stage[] = [
  {
    name: 'agents in pods: grow and shrink',
    async open(t) {
      const world = await OperatorWorld.start(t);
      agentsInPods(world, t);
      return world;
    },
    prepare: (world) =>
      created(world, { agents: 'sidecar', ...VOLUMES, migration: { engine: 'atomic', pace: 'fast' } }),
    async play(world) {
      for (const primaries of [4, 3]) {
        await world.patch(NAME, { spec: { primaries } });
        const isSized = () => isRunning(world) && owners(world).length === primaries;
        const isWhole = () => isSized() && world.set(NAME)?.spec?.replicas === 2 * primaries;
        await world.until(`it has ${primaries} primaries`, isWhole, LONG_MS);
      }
    },
  },
  {
    name: 'bare servers: one joins and leaves',
    async open(t) {
      const external = await ExternalWorld.start(t);
      externals.set(external.operator, external);
      return external.operator;
    },
    servers: (world) => externalOf(world).servers,
    async prepare(world) {
      await world.create(NAME, { members: 'external', migration: { engine: 'atomic', pace: 'fast' } });
      await externalOf(world).enrollAll(NAME, 6);
      await world.until('the cluster runs', () => isRunning(world), LONG_MS);
      await externalOf(world).enroll(NAME, 'h-7');
      await world.pass(15_000);
    },
    async play(world) {
      await done(world, 'in', { addNode: { member: 'h-7', as: 'primary' } });
      const owning = () => externalOf(world).servers.filter(({ isPrimary }) => isPrimary).length;
      await world.until('it is one of them', () => isRunning(world) && owning() === 4, LONG_MS);
      await done(world, 'out', { deleteNode: { node: 'h-7' } });
      const isOut = () => isRunning(world) && world.status(NAME).members?.length === 6;
      await world.until('it has left', isOut, LONG_MS);
    },
  },
];

export const stages: readonly Stage[] = [...mainStages, ...taskStages, ...agentStages];
