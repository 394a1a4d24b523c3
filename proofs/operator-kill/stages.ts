/** All stages in which the operator dies: those of pods, and those of tasks, of agents in pods and of bare servers. */
import assert from 'node:assert/strict';
import { ExternalWorld } from '@reeve/redis/operator-external';
import { type AgentsInPods, agentsInPods } from '@reeve/redis/operator-pod-agents';
import { OperatorWorld } from '@reeve/redis/operator-world';
import { created, isEven, isRunning, LONG_MS, mainStages, NAME, owners, type Stage, VOLUMES } from './deaths.ts';
import { losePod, type ModelServer } from './struck.ts';

const AWAY_MS = 20_000;

/** A task that ends well, or, where it may fail, one that is asked for again when the cluster has recovered. */
async function done(world: OperatorWorld, task: string, spec: () => object, mayFail = false): Promise<void> {
  await world.task(task, { cluster: NAME, ...spec() });
  const hasEnded = () => /Succeeded|Failed/.test(world.taskStatus(task)?.phase ?? '');
  await world.until(`task ${task} has ended`, hasEnded, LONG_MS);
  if (mayFail && world.taskStatus(task)?.phase === 'Failed') {
    await world.pass(AWAY_MS);
    await world.until(`it runs after ${task} failed`, () => isRunning(world), LONG_MS);
    return done(world, `${task}-again`, spec);
  }
  assert.equal(world.taskStatus(task)?.phase, 'Succeeded', JSON.stringify(world.taskStatus(task)));
}

const podOf = (world: OperatorWorld, wanted: string): string =>
  world.status(NAME).members?.find(({ role }) => role === wanted)?.pod ?? '';

const EMPTY = 'd';

const serversOf = (world: OperatorWorld, cluster: string): readonly ModelServer[] =>
  (world.status(cluster).members ?? []).map(({ pod }) => world.serverOf(pod));

const podAgents = new WeakMap<OperatorWorld, AgentsInPods>();

/** Whoever starts again what ended on a machine does so after a while. */
function later(world: OperatorWorld, begin: () => void): void {
  void world.clock.sleep(AWAY_MS).then(begin);
}

/** Of a world, which knows nothing of the servers that are somebody's. */
const externals = new WeakMap<OperatorWorld, ExternalWorld>();

function externalOf(world: OperatorWorld): ExternalWorld {
  const external = externals.get(world);
  assert.ok(external);
  return external;
}

const taskStages: readonly Stage[] = [
  {
    name: 'failover task',
    prepare: (world) => created(world),
    async play(world, mayFail) {
      await done(world, 'over', () => ({ failover: { to: podOf(world, 'replica') } }), mayFail);
      await world.until('it runs', () => isRunning(world), LONG_MS);
      // Whoever spreads primaries over zones may make another one a primary afterwards: that it was done is in the history.
      const did = world.status(NAME).operations?.some((past) => past.kind === 'failover' && past.outcome === 'done');
      assert.ok(did, 'a failover is among what was done');
    },
  },
  {
    name: 'reshard task, then even again',
    prepare: (world) => created(world),
    async play(world, mayFail) {
      await done(world, 'move', () => ({ reshard: { slots: 900, to: podOf(world, 'primary') } }), mayFail);
      await world.until('slots moved there, and back', () => isRunning(world) && isEven(world), LONG_MS);
    },
  },
  {
    name: 'backup task, and restore',
    async prepare(world) {
      await created(world);
      await world.create(EMPTY, {});
      await world.until('another one runs', () => world.status(EMPTY).phase === 'Running');
    },
    servers: (world) => serversOf(world, NAME),
    copies: (world) => serversOf(world, EMPTY),
    async play(world, mayFail) {
      await done(world, 'save', () => ({ backup: { name: 'saved' } }), mayFail);
      await done(world, 'load', () => ({ cluster: EMPTY, restore: { cluster: NAME, name: 'saved' } }), mayFail);
      await world.until('both run', () => isRunning(world) && world.status(EMPTY).phase === 'Running', LONG_MS);
    },
  },
  {
    name: 'upgrade task',
    prepare: (world) => created(world, VOLUMES),
    async play(world) {
      await done(world, 'up', () => ({ upgrade: { version: '9.2.0' } }));
      await world.until('it runs', () => isRunning(world), LONG_MS);
    },
  },
  {
    name: 'approved creation',
    isNew: true,
    prepare: (world) => world.create(NAME, { creation: 'manual' }),
    async play(world) {
      // Whatever is proposed by then is approved, once each: a server that died makes another plan of it.
      for (let last = ''; !isRunning(world); ) {
        const digestNow = () => world.status(NAME).proposal?.digest ?? last;
        await world.until('there is a plan, or it runs', () => isRunning(world) || digestNow() !== last, LONG_MS);
        if (isRunning(world)) break;
        last = digestNow();
        await world.patch(NAME, { metadata: { annotations: { 'redis.reeve.dev/approve': last } } });
      }
    },
  },
];

const agentStages: readonly Stage[] = [
  {
    name: 'agents in pods: grow and shrink',
    async open(t) {
      const world = await OperatorWorld.start(t);
      podAgents.set(world, agentsInPods(world, t));
      return world;
    },
    strike(world, server) {
      const pod = losePod(world, server);
      // Its own, and that of another one, whose server lives.
      const agents = [...(podAgents.get(world)?.agents ?? [])];
      const other = agents.find(([name]) => name !== pod)?.[0] ?? '';
      for (const [name, agent] of agents) if (name === pod || name === other) agent.kill();
      later(world, () => podAgents.get(world)?.startAgentOf(other));
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
    strike(world, server) {
      const external = externalOf(world);
      const name = external.nameOf(server);
      world.model.kill(server);
      external.killAgent(name);
      later(world, () => {
        external.restartServer(name);
        external.startAgent(name);
      });
    },
    async prepare(world) {
      await world.create(NAME, { members: 'external', migration: { engine: 'atomic', pace: 'fast' } });
      await externalOf(world).enrollAll(NAME, 6);
      await world.until('the cluster runs', () => isRunning(world), LONG_MS);
      await externalOf(world).enroll(NAME, 'h-7');
      await world.pass(15_000);
    },
    async play(world, mayFail) {
      await done(world, 'in', () => ({ addNode: { member: 'h-7', as: 'primary' } }), mayFail);
      const owning = () => externalOf(world).servers.filter(({ isPrimary }) => isPrimary).length;
      // A primary without a replica, where each should have one: the cluster is not well until it has left.
      const isIdle = () => world.status(NAME).currentOperation === undefined;
      await world.until('it is one of them', () => isIdle() && owning() === 4, LONG_MS);
      await done(world, 'out', () => ({ deleteNode: { node: 'h-7' } }));
      const isOut = () => isRunning(world) && world.status(NAME).members?.length === 6;
      await world.until('it has left', isOut, LONG_MS);
    },
  },
];

export const stages: readonly Stage[] = [...mainStages, ...taskStages, ...agentStages];
