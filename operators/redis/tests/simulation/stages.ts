/** The worlds, one for each kind of operation: the cluster before it, what is asked for, and when that is reached. */
import { type Simulation, Violation } from '@reeve/simulation';
import type { ModelServer } from '@reeve/simulation/redis';
import type { Engine, Pace } from '../../src/api/commands.ts';
import { type AddNodeRequest, addNodeOperation } from '../../src/plan/add-node.ts';
import { type CreateRequest, createOperation } from '../../src/plan/create.ts';
import { type DeleteNodeRequest, deleteNodeOperation } from '../../src/plan/delete-node.ts';
import { type FailoverRequest, failoverOperation } from '../../src/plan/failover.ts';
import { fixOperation } from '../../src/plan/fix.ts';
import { type RebalanceRequest, rebalanceOperation } from '../../src/plan/rebalance.ts';
import { type ReshardRequest, reshardOperation } from '../../src/plan/reshard.ts';
import { type SpreadRequest, spreadOperation } from '../../src/plan/spread.ts';
import { type Cluster, endpointOf, evenShares, keysOfSlot, type Shard } from './cluster.ts';
import { conflict, damage } from './damage.ts';
import { damageNodes } from './damage-nodes.ts';
import { allEvents, type EventKind, type ServerEvents, type Victims } from './events.ts';
import type { Kind } from './kinds.ts';
import type { Ledger } from './ledger.ts';
import type { Job } from './tool.ts';

/** What one kind of world is made of. */
export interface Stage {
  readonly shards: readonly Shard[];
  readonly fresh: number;
  /** Slots that get keys. */
  readonly slotsWithKeys: readonly number[];
  readonly events: readonly EventKind[];
  /** Addresses of the servers, in turn; default: one host. */
  readonly hosts?: readonly string[];
  /** Slots may be without an owner before the tool begins, or be given up. */
  readonly isDamaged?: boolean;
  /** The journal is needed to go on after a crash. */
  readonly needsJournal?: boolean;
  begin(scene: Scene): Part;
}

export interface Scene {
  readonly cluster: Cluster;
  readonly settings: Settings;
  readonly simulation: Simulation;
  readonly ledger: Ledger;
  readonly events: ServerEvents;
}

/** What the tool is asked for in this world. */
export interface Part extends Job {
  readonly goal?: Goal;
  /** Whom `kill-source`, `kill-target` and so on strike. */
  readonly victims?: Victims;
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

export interface Settings {
  readonly engine: Engine;
  readonly pace: Pace;
  readonly resumes: boolean;
}

/** Functions are on every primary: one that joins must get them. */
const LIBRARY = '#!lua name=library\n';
const even = evenShares(3).map((slots): Shard => ({ slots, replicas: 1 }));
/** The lowest slots of each of three even shares: those that are moved first. */
const lowSlots = [0, 5461, 10923].flatMap((first) => [0, 1, 2, 3].map((step) => first + step));

/** The primary of a server's shard now. */
function leaderOf(server: ModelServer): string | undefined {
  return server.isPrimary ? server.id : server.self.primary?.id;
}

export const stages: Readonly<Record<Kind, Stage>> = {
  create: {
    shards: [],
    fresh: 6,
    slotsWithKeys: [0, 6000, 12000],
    events: ['kill-server', 'pause-server', 'partition'],
    needsJournal: true, // half-created nodes are not empty: only the journal says that they are ours
    begin({ cluster }) {
      const request: CreateRequest = { endpoints: cluster.fresh.map(endpointOf), replicasPerPrimary: 1, spreadBy: [] };
      const members = () => cluster.fresh;
      const check = () => {
        const primaries = cluster.fresh.filter((server) => server.isPrimary);
        if (primaries.length !== 3) throw new Violation('NOT_CREATED', `${primaries.length} primaries`);
      };
      // Of those that become primaries and those that become replicas, one each.
      const [source, target] = [cluster.fresh[0], cluster.fresh.at(-1)] as [ModelServer, ModelServer];
      return {
        operation: createOperation,
        request: () => request,
        goal: { members, check },
        victims: { source, target },
      };
    },
  },
  reshard: {
    shards: [...even, { slots: '', replicas: 1 }],
    fresh: 0,
    slotsWithKeys: lowSlots,
    events: allEvents,
    begin({ cluster, settings: { engine, pace, resumes }, simulation }) {
      const slots = 4 + simulation.choices.pick(12);
      // First of all one with slots, whose replica takes over when it is lost; an empty one (the third) has nothing to lose.
      const target = cluster.primaries[[2, 3, 1, 0][simulation.choices.pick(4)] ?? 2] as ModelServer;
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
      const source = cluster.primaries.find((server) => server !== target) as ModelServer;
      return { operation: reshardOperation, request, goal: { check }, victims: { source, target } };
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
    begin({ cluster, settings: { engine, pace } }) {
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
    begin({ cluster, settings: { engine, pace }, simulation }) {
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
      const target = others[0] as ModelServer;
      return {
        operation: deleteNodeOperation,
        request,
        canBeAskedAgain: true,
        goal: { members, check },
        victims: { source: victim, target },
      };
    },
  },
  add: {
    shards: even,
    fresh: 1,
    slotsWithKeys: lowSlots.slice(0, 6),
    events: allEvents,
    begin({ cluster, simulation }) {
      const newcomer = cluster.fresh[0] as ModelServer;
      for (const { endpoint } of cluster.primaries) cluster.model.execute(endpoint, ['FUNCTION', 'LOAD', LIBRARY]);
      const as = simulation.choices.pick(2) === 0 ? 'replica' : 'primary';
      const request: AddNodeRequest = { endpoint: endpointOf(newcomer), as, spreadBy: [] };
      const before = [...cluster.primaries, ...cluster.replicas];
      const isMember = () => before.some((server) => server.peers.has(newcomer.id));
      const members = () => (isMember() ? [...before, newcomer] : before);
      const check = () => {
        if (!isMember()) throw new Violation('NOT_ADDED', 'nobody knows the new node');
        if (newcomer.isPrimary !== (as === 'primary')) throw new Violation('WRONG_ROLE', `asked for a ${as}`);
        if (newcomer.functions.length === 0) throw new Violation('NO_FUNCTIONS', 'the new node lacks the functions');
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
    isDamaged: true,
    begin({ cluster, simulation, ledger }) {
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
  'fix-nodes': {
    shards: even,
    fresh: 0,
    slotsWithKeys: lowSlots,
    events: allEvents,
    isDamaged: true,
    begin(scene) {
      const request = damageNodes(scene);
      return { operation: fixOperation, request: () => request };
    },
  },
  failover: {
    shards: even,
    fresh: 0,
    slotsWithKeys: lowSlots,
    events: allEvents,
    begin({ cluster, simulation }) {
      const [primary, replica] = [cluster.primaries[0], cluster.replicas[0]] as [ModelServer, ModelServer];
      const { id } = simulation.choices.pick(2) === 0 ? replica : primary;
      const request = (): FailoverRequest | undefined => (replica.isPrimary ? undefined : { id, mode: 'graceful' });
      const check = () => {
        if (!replica.isPrimary) throw new Violation('NOT_PROMOTED', `${replica.endpoint} is a replica`);
      };
      return { operation: failoverOperation, request, goal: { check } };
    },
  },
  spread: {
    shards: even,
    fresh: 0,
    // Two primaries on one host; a replica of theirs is alone on the third.
    hosts: ['127.0.0.1', '127.0.0.1', '127.0.0.2', '127.0.0.2', '127.0.0.3', '127.0.0.3'],
    slotsWithKeys: lowSlots,
    events: allEvents,
    begin({ cluster }) {
      const request: SpreadRequest = { spreadBy: ['host'] };
      const check = () => {
        const all = [...cluster.primaries, ...cluster.replicas];
        const hosts = new Set(all.filter((server) => server.isPrimary).map((server) => server.host));
        if (hosts.size !== 3) throw new Violation('NOT_SPREAD', `primaries on ${[...hosts].join()}`);
      };
      return { operation: spreadOperation, request: () => request, goal: { check } };
    },
  },
};
