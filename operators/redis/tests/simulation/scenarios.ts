/** Runs of one operation in its world: a cluster, a client that writes, accidents, and what must hold at the end. */
import { type Scenario, type Simulation, Violation } from '@reeve/simulation';
import type { Flavour, ModelServer } from '@reeve/simulation/redis';
import type { Engine } from '../../src/api/commands.ts';
import { redisHandlers } from '../../src/commands/handlers.ts';
import { fixOperation } from '../../src/plan/fix.ts';
import { type Cluster, endpointOf, formCluster, keysOfSlot } from './cluster.ts';
import { type EventKind, isEventKind, ServerEvents } from './events.ts';
import { hasNoLink, problemOf, problemWhenDone } from './health.ts';
import { allKinds, type Kind } from './kinds.ts';
import { Ledger } from './ledger.ts';
import { Rivals } from './rivals.ts';
import { type Settings, stages } from './stages.ts';
import { type Parts, tool, type ToolWorld } from './tool.ts';
import { writer } from './writer.ts';

export const realParts: Parts = {
  handlers: redisHandlers,
  fix: fixOperation,
  port: (port) => port,
  operation: (operation) => operation,
  readsJournal: true,
};

const KEYS_PER_SLOT = 3;

export interface ScenarioOptions {
  readonly parts?: Parts;
  /** Which accidents servers may have. Default: those of the kind. */
  readonly events?: readonly EventKind[];
  /** How the engine moves slots. Default: chosen. */
  readonly engine?: Engine;
  /** Default: chosen. */
  readonly flavour?: Flavour;
}

const FLAVOURS: readonly Flavour[] = ['redis7', 'valkey9'];
const ENGINES: readonly Engine[] = ['auto', 'atomic', 'windowed'];

/** What a recorded run was a run of: its choices mean the same only with the same events and servers. */
export function scenarioNamed(name: string): Scenario {
  const [first = '', ...rest] = name.split('+');
  const kind = allKinds.find((each) => `redis-${each}` === first);
  if (!kind) throw new Error(`no scenario has the name ${name}`);
  const events = rest.filter(isEventKind);
  const flavour = FLAVOURS.find((each) => rest.includes(each));
  const engine = ENGINES.find((each) => rest.includes(each));
  return redisScenario(kind, {
    ...(events.length > 0 ? { events } : {}),
    ...(flavour ? { flavour } : {}),
    ...(engine ? { engine } : {}),
  });
}

function nameOf(kind: Kind, { flavour, engine, events = [] }: ScenarioOptions): string {
  return [`redis-${kind}`, flavour, engine, ...events].filter((part) => part !== undefined).join('+');
}

export function redisScenario(kind: Kind, options: ScenarioOptions = {}): Scenario {
  const stage = stages[kind];
  return {
    name: nameOf(kind, options),
    effects: 1_500,
    build(simulation) {
      const { choices } = simulation;
      const chosen = FLAVOURS[choices.pick(FLAVOURS.length)] as Flavour;
      const cluster = formCluster(simulation, {
        shards: stage.shards,
        fresh: stage.fresh,
        flavour: options.flavour ?? chosen,
        ...(stage.hosts ? { hosts: stage.hosts } : {}),
        allowReplicaMigration: choices.pick(2) === 1,
      });
      const { model } = cluster;
      const settings: Settings = {
        engine: options.engine ?? (choices.pick(2) === 0 ? 'windowed' : 'auto'),
        pace: choices.pick(2) === 0 ? 'fast' : 'gentle',
        resumes: choices.pick(4) < 3 || stage.needsJournal === true,
      };
      const ledger = fill(cluster, stage.slotsWithKeys);
      cluster.settle();
      const events = new ServerEvents(simulation, model, ledger, options.events ?? stage.events);
      const job = stage.begin({ cluster, settings, simulation, ledger, events });
      events.victims = job.victims;
      cluster.settle();
      const conflict = job.goal?.conflict;
      const rivals = conflict && new Rivals(model, ledger, conflict.key, conflict.values);
      const everybody = [...cluster.primaries, ...cluster.replicas];
      const members = () => job.goal?.members?.() ?? everybody;
      let apart: ReadonlySet<ModelServer> = new Set();
      const world: ToolWorld = {
        model,
        seeds: () => members().map(endpointOf),
        isCluster: () => model.servers.some((server) => server.self.slotCount > 0 && server.peers.size > 1),
        serversSuffered: () => events.happened,
        resumes: settings.resumes,
        inConflict: false,
        onFlush: (command) => simulation.fail('FLUSHED', `the tool sent ${command}`),
        onDecided() {
          apart = new Set(members().filter(hasNoLink));
        },
        onReached() {
          const problem = events.happened ? undefined : problemWhenDone(model, members(), apart);
          if (problem) throw new Violation('SAID_TOO_EARLY', `the tool says that it is done, but ${problem}`);
        },
        reached: false,
        said: [],
      };
      const isCovered = stage.shards.length > 0 && !stage.isDamaged;
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
          if (isCovered && !events.happened) mustHaveOwners(cluster, stage.slotsWithKeys);
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
        ledger.acknowledged(key, 'before', endpointOf(server));
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
