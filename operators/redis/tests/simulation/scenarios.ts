/** One world for each operation of the tool: a cluster, a client that writes, accidents, and what must hold at the end. */
import { type Scenario, type Simulation, Violation } from '@reeve/simulation';
import type { ModelServer } from '@reeve/simulation/redis';
import type { Engine, Pace } from '../../src/api/commands.ts';
import { redisHandlers } from '../../src/commands/handlers.ts';
import { type AddNodeRequest, addNodeOperation } from '../../src/plan/add-node.ts';
import { type CreateRequest, createOperation } from '../../src/plan/create.ts';
import { type DeleteNodeRequest, deleteNodeOperation } from '../../src/plan/delete-node.ts';
import { fixOperation } from '../../src/plan/fix.ts';
import { type RebalanceRequest, rebalanceOperation } from '../../src/plan/rebalance.ts';
import { type ReshardRequest, reshardOperation } from '../../src/plan/reshard.ts';
import { type Cluster, endpointOf, evenShares, formCluster, keysOfSlot, type Shard } from './cluster.ts';
import { conflict, damage } from './damage.ts';
import { allEvents, type EventKind, ServerEvents } from './events.ts';
import { problemOf } from './health.ts';
import type { Kind } from './kinds.ts';
import { Ledger } from './ledger.ts';
import { Rivals } from './rivals.ts';
import { type Job, type Parts, tool, type ToolWorld } from './tool.ts';
import { writer } from './writer.ts';

export const realParts: Parts = {
  handlers: redisHandlers,
  fix: fixOperation,
  port: (port) => port,
  operation: (operation) => operation,
  readsJournal: true,
};

/** What one kind of world is made of. */
interface Stage {
  readonly shards: readonly Shard[];
  readonly fresh: number;
  /** Slots that get keys. */
  readonly slotsWithKeys: readonly number[];
  readonly events: readonly EventKind[];
  begin(cluster: Cluster, settings: Settings, simulation: Simulation, ledger: Ledger): Job & { readonly goal?: Goal };
}

/** What must be true when the operation said that it reached its goal. */
interface Goal {
  /** Who belongs to the cluster now; default: all that did before. */
  members?(): readonly ModelServer[];
  /** Values of a key that must all survive somewhere, because nobody can say which is right. */
  readonly conflict?: { readonly key: string; readonly values: readonly string[] };
  /** Throws if it was not reached. Not asked when servers suffered: a failover may have changed who is who. */
  check?(): void;
}

interface Settings {
  readonly engine: Engine;
  readonly pace: Pace;
  readonly resumes: boolean;
}

const KEYS_PER_SLOT = 3;
const even = evenShares(3).map((slots): Shard => ({ slots, replicas: 1 }));
/** The lowest slots of each of three even shares: those that are moved first. */
const lowSlots = [0, 5461, 10923].flatMap((first) => [0, 1, 2, 3].map((step) => first + step));

/** The primary of a server's shard now. */
function leaderOf(server: ModelServer): string | undefined {
  return server.isPrimary ? server.id : server.self.primary?.id;
}

const stages: Readonly<Record<Kind, Stage>> = {
  create: {
    shards: [],
    fresh: 6,
    slotsWithKeys: [0, 6000, 12000],
    events: ['kill-server', 'pause-server', 'partition'],
    begin(cluster) {
      const request: CreateRequest = { endpoints: cluster.fresh.map(endpointOf), replicasPerPrimary: 1, spreadBy: [] };
      const members = () => cluster.fresh;
      const check = () => {
        const primaries = cluster.fresh.filter((server) => server.isPrimary);
        if (primaries.length !== 3) throw new Violation('NOT_CREATED', `${primaries.length} primaries`);
      };
      return { operation: createOperation, request: () => request, goal: { members, check } };
    },
  },
  reshard: {
    shards: [...even, { slots: '', replicas: 1 }],
    fresh: 0,
    slotsWithKeys: lowSlots,
    events: allEvents,
    begin(cluster, { engine, pace, resumes }, simulation) {
      const slots = 4 + simulation.choices.pick(12);
      const target = cluster.primaries[3 - simulation.choices.pick(4)] as ModelServer;
      const before = target.self.slotCount;
      const request = (): ReshardRequest | undefined => {
        const to = leaderOf(target);
        return to === undefined ? undefined : { slots, to, from: 'all', engine, pace };
      };
      const check = () => {
        const moved = target.self.slotCount - before;
        // Run again without its journal it moves as many once more.
        if (resumes ? moved !== slots : moved < slots) {
          throw new Violation('NOT_MOVED', `${moved} of ${slots} slots moved`);
        }
      };
      return { operation: reshardOperation, request, goal: { check } };
    },
  },
  rebalance: {
    shards: [
      { slots: '0-5468', replicas: 1 },
      { slots: '5469-10922', replicas: 1 },
      { slots: '10923-16383', replicas: 1 },
    ],
    fresh: 0,
    slotsWithKeys: [0, 1, 2, 3, 5466, 5467, 5468, 5469, 10923, 16383],
    events: allEvents,
    begin(cluster, { engine, pace }) {
      const request: RebalanceRequest = { by: 'slots', weights: {}, threshold: 0, useEmpty: false, engine, pace };
      const check = () => {
        const counts = cluster.primaries.map((server) => server.self.slotCount);
        if (Math.max(...counts) - Math.min(...counts) > 1) throw new Violation('NOT_BALANCED', counts.join());
      };
      return { operation: rebalanceOperation, request: () => request, goal: { check } };
    },
  },
  delete: {
    shards: [
      { slots: '0-5460', replicas: 1 },
      { slots: '5461-10922', replicas: 1 },
      { slots: '10923-16377', replicas: 1 },
      { slots: '16378-16383', replicas: 1 },
    ],
    fresh: 0,
    slotsWithKeys: [0, 5461, 16378, 16379, 16380, 16383],
    events: allEvents,
    begin(cluster, { engine, pace }, simulation) {
      const victim = (simulation.choices.pick(3) === 2 ? cluster.replicas[3] : cluster.primaries[3]) as ModelServer;
      const { id } = victim;
      const others = [...cluster.primaries, ...cluster.replicas].filter((server) => server !== victim);
      const request = (): DeleteNodeRequest | undefined =>
        others.some((server) => server.peers.has(id)) ? { id, engine, pace, drain: true, reset: true } : undefined;
      const all = [...others, victim];
      const members = () => (others.some((server) => server.peers.has(id)) ? all : others);
      const check = () => {
        if (members() === all) throw new Violation('NOT_DELETED', `${victim.endpoint} is still known`);
      };
      return { operation: deleteNodeOperation, request, canBeAskedAgain: true, goal: { members, check } };
    },
  },
  add: {
    shards: even,
    fresh: 1,
    slotsWithKeys: lowSlots.slice(0, 6),
    events: allEvents,
    begin(cluster, _settings, simulation) {
      const newcomer = cluster.fresh[0] as ModelServer;
      const as = simulation.choices.pick(2) === 0 ? 'replica' : 'primary';
      const request: AddNodeRequest = { endpoint: endpointOf(newcomer), as, spreadBy: [] };
      const before = [...cluster.primaries, ...cluster.replicas];
      const isMember = () => before.some((server) => server.peers.has(newcomer.id));
      const members = () => (isMember() ? [...before, newcomer] : before);
      const check = () => {
        if (!isMember()) throw new Violation('NOT_ADDED', 'nobody knows the new node');
        if (newcomer.isPrimary !== (as === 'primary')) throw new Violation('WRONG_ROLE', `asked for a ${as}`);
      };
      // Run again without its journal it is refused: the node is a member already.
      return {
        operation: addNodeOperation,
        request: () => (isMember() && newcomer.isPrimary === (as === 'primary') ? undefined : request),
        goal: { members, check },
      };
    },
  },
  fix: {
    shards: even,
    fresh: 0,
    slotsWithKeys: lowSlots,
    events: allEvents,
    begin(cluster, _settings, simulation, ledger) {
      const job: Job = { operation: fixOperation, request: () => ({}) };
      if (simulation.choices.pick(4) < 3) {
        damage(simulation, cluster, lowSlots);
        return job;
      }
      const [slot = 0] = lowSlots;
      const [key = ''] = keysOfSlot(slot, 1);
      const values = conflict(cluster, slot, key);
      ledger.forget(key); // both values are checked instead, and nobody may write a third
      return { ...job, goal: { conflict: { key, values } } };
    },
  },
};

export interface ScenarioOptions {
  readonly parts?: Parts;
  /** Which accidents servers may have. Default: those of the kind. */
  readonly events?: readonly EventKind[];
  /** How the engine moves slots. Default: chosen. */
  readonly engine?: Engine;
}

export function redisScenario(kind: Kind, options: ScenarioOptions = {}): Scenario {
  const stage = stages[kind];
  return {
    name: `redis-${kind}`,
    effects: 1_500,
    build(simulation) {
      const { choices } = simulation;
      const flavour = choices.pick(2) === 0 ? 'redis7' : 'valkey9';
      const cluster = formCluster(simulation, {
        shards: stage.shards,
        fresh: stage.fresh,
        flavour,
        allowReplicaMigration: choices.pick(2) === 1,
      });
      const { model } = cluster;
      const settings: Settings = {
        engine: options.engine ?? (choices.pick(2) === 0 ? 'windowed' : 'auto'),
        pace: choices.pick(2) === 0 ? 'fast' : 'gentle',
        // Half-created nodes are not empty: only the journal says that they are ours.
        resumes: choices.pick(4) < 3 || kind === 'create',
      };
      const ledger = fill(cluster, stage.slotsWithKeys);
      cluster.settle();
      const job = stage.begin(cluster, settings, simulation, ledger);
      cluster.settle();
      const conflict = job.goal?.conflict;
      const rivals = conflict && new Rivals(model, ledger, conflict.key, conflict.values);
      const events = new ServerEvents(simulation, model, ledger, options.events ?? stage.events);
      const everybody = [...cluster.primaries, ...cluster.replicas];
      const members = () => job.goal?.members?.() ?? everybody;
      const world: ToolWorld = {
        model,
        seeds: () => members().map(endpointOf),
        isCluster: () => model.servers.some((server) => server.self.slotCount > 0 && server.peers.size > 1),
        serversSuffered: () => events.happened,
        resumes: settings.resumes,
        inConflict: false,
        onFlush: (command) => simulation.fail('FLUSHED', `the tool sent ${command}`),
        onReached() {
          const problem = events.happened ? undefined : problemOf(model, members());
          if (problem) throw new Violation('SAID_TOO_EARLY', `the tool says that it is done, but ${problem}`);
        },
        reached: false,
        said: [],
      };
      const isWatched = kind !== 'create' && kind !== 'fix';
      keepTime(simulation, cluster);
      const unrest = () => {
        const problem = problemOf(model, members());
        // A conflict stays until a person has chosen.
        if (world.inConflict && (problem?.startsWith('STRAY_KEY') || problem?.startsWith('OPEN_SLOT')))
          return undefined;
        return problem === undefined ? undefined : `${problem}; ${world.said.slice(-4).join(' | ')}`;
      };
      return {
        processes: [tool(world, job, options.parts ?? realParts), writer(model, ledger, world.seeds())],
        faults: { horizonMs: 40_000, most: 5 },
        convergeMs: 300_000,
        maxSteps: 60_000,
        events: () => events.offered(),
        always() {
          ledger.watch();
          rivals?.watch();
          if (isWatched && !events.happened) mustHaveOwners(cluster, stage.slotsWithKeys);
        },
        unrest,
        atEnd() {
          ledger.check(world.inConflict);
          if (world.reached && !events.happened) job.goal?.check?.();
        },
      };
    },
  };
}

/** While all servers are well, moving a slot never leaves it without an owner, not for a moment. */
function mustHaveOwners({ model }: Cluster, slots: readonly number[]): void {
  for (const slot of slots) {
    const isOwned = model.servers.some((server) => server.isPrimary && server.owners[slot] === server.self.mark);
    if (!isOwned) throw new Violation('WITHOUT_OWNER', `nobody owns slot ${slot}`);
  }
}

/** Keys that were there before. */
function fill(cluster: Cluster, slots: readonly number[]): Ledger {
  const ledger = new Ledger(cluster.model);
  for (const key of slots.flatMap((slot) => keysOfSlot(slot, KEYS_PER_SLOT))) {
    ledger.trying(key, 'before');
    for (const server of cluster.primaries) {
      try {
        cluster.model.execute(server.endpoint, ['SET', key, 'before']);
        ledger.acknowledged(key, 'before');
      } catch {
        continue; // another primary owns it
      }
    }
  }
  return ledger;
}

/** The servers live on when nobody talks to them. */
function keepTime(simulation: Simulation, cluster: Cluster): void {
  const { clock } = simulation.environment.ports;
  const tick = async () => {
    for (;;) {
      await clock.sleep(500);
      cluster.model.sync();
    }
  };
  void tick();
}
