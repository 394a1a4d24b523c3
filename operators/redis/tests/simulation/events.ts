/** What happens to servers while the tool works: each accident is mended by itself some time later. */
import type { Simulation, WorldEvent } from '@reeve/simulation';
import type { Ledger } from './ledger.ts';
import { type ModelServer, type RedisClusterModel, ServerError } from '@reeve/simulation/redis';

const MEND_AFTER_MS = [500, 4_000, 20_000];

/** What the servers of a run may suffer. */
export const allEvents = ['kill-server', 'pause-server', 'isolate', 'partition', 'failover', 'break-migrate'] as const;

/**
 * Accidents of the two servers that an operation is most about, with names of their own so that they can be brought to
 * every effect in turn. `kill-`: restarted before anybody misses it. `lose-`: away for longer than the node timeout, so
 * that its replica takes over.
 */
export const victimEvents = ['kill-source', 'lose-source', 'kill-target', 'lose-target'] as const;

export type VictimEvent = (typeof victimEvents)[number];
export type EventKind = (typeof allEvents)[number] | VictimEvent;

export function isEventKind(text: string): text is EventKind {
  return [...allEvents, ...victimEvents].some((kind) => kind === text);
}

export interface Victims {
  /** Gives something away: slots, or its independence. */
  readonly source: ModelServer;
  readonly target: ModelServer;
}

const KILLED_FOR_MS = 500;
const LOST_FOR_MS = 8_000;
/** A server that comes back is alive for the others while it still reads its file and answers nobody. */
const LOADING_MS = 300;

/** One server or link is broken at a time: two at once may well be more than the cluster can bear. */
export class ServerEvents {
  readonly #simulation: Simulation;
  readonly #model: RedisClusterModel;
  readonly #ledger: Ledger;
  readonly #kinds: readonly EventKind[];
  #isBroken = false;
  /** Whether anything happened to a server in this run. */
  happened = false;
  victims: Victims | undefined;

  constructor(simulation: Simulation, model: RedisClusterModel, ledger: Ledger, kinds: readonly EventKind[]) {
    this.#simulation = simulation;
    this.#model = model;
    this.#ledger = ledger;
    this.#kinds = kinds;
  }

  offered(): readonly WorldEvent[] {
    if (this.#isBroken) return [];
    const anybody = this.#kinds.some((kind) => allEvents.some((each) => each === kind)) ? this.#all() : [];
    return [...anybody, ...this.#ofVictims()].filter((event) => this.#kinds.includes(event.kind as EventKind));
  }

  /** Something is broken when the run begins, and mended after so long. */
  begin(who: readonly ModelServer[], breakIt: () => void, mend: () => void, afterMs: number): void {
    this.#break(who, breakIt, mend, () => afterMs);
  }

  #ofVictims(): readonly WorldEvent[] {
    const { source, target } = this.victims ?? {};
    const accident = (kind: VictimEvent, server: ModelServer | undefined, ms: number): readonly WorldEvent[] => {
      if (server?.process !== 'up') return [];
      const model = this.#model;
      const [breakIt, mend] = [() => model.kill(server), () => model.restart(server, { loadingMs: LOADING_MS })];
      const apply = () => this.#break([server], breakIt, mend, () => ms);
      return [{ kind, detail: server.endpoint, apply }];
    };
    return [
      ...accident('kill-source', source, KILLED_FOR_MS),
      ...accident('lose-source', source, LOST_FOR_MS),
      ...accident('kill-target', target, KILLED_FOR_MS),
      ...accident('lose-target', target, LOST_FOR_MS),
    ];
  }

  #all(): readonly WorldEvent[] {
    const { servers, network } = this.#model;
    const running = servers.filter((server) => server.process === 'up');
    const replicas = running.filter((server) => !server.isPrimary && server.replication.link === 'up');
    const pairs = running.flatMap((a, index) => running.slice(index + 1).map((b) => [a, b] as const));
    return [
      ...running.flatMap((server) => [
        this.#breaking(
          'kill-server',
          [server],
          () => this.#model.kill(server),
          () => this.#model.restart(server, { loadingMs: LOADING_MS }),
        ),
        this.#breaking(
          'pause-server',
          [server],
          () => this.#model.pause(server),
          () => this.#model.resume(server),
        ),
        // From the other servers: clients and the tool still reach it.
        this.#breaking(
          'isolate',
          [server],
          () => {
            for (const other of servers) if (other !== server) network.cut(server, other);
          },
          () => network.heal(),
        ),
      ]),
      ...pairs.map(([a, b]) =>
        this.#breaking(
          'partition',
          [a, b],
          () => network.cut(a, b),
          () => network.heal(),
        ),
      ),
      ...replicas.map((server) => ({ kind: 'failover', detail: server.endpoint, apply: () => this.#failOver(server) })),
      ...running
        .filter((server) => server.isPrimary)
        .map((server) => ({ kind: 'break-migrate', detail: server.endpoint, apply: () => this.#breakMigrate(server) })),
    ];
  }

  #breaking(kind: EventKind, who: readonly ModelServer[], breakIt: () => void, mend: () => void): WorldEvent {
    const chosenMs = () => MEND_AFTER_MS[this.#simulation.choices.pick(MEND_AFTER_MS.length)] ?? 0;
    return { kind, detail: detailOf(who), apply: () => this.#break(who, breakIt, mend, chosenMs) };
  }

  #break(who: readonly ModelServer[], breakIt: () => void, mend: () => void, mendAfterMs: () => number): void {
    for (const server of who) this.#ledger.suffers(server);
    this.#isBroken = true;
    this.happened = true;
    this.#model.sync();
    breakIt();
    void this.#simulation.environment.effect('mend', {
      detail: detailOf(who),
      latencyMs: mendAfterMs(),
      apply: () => {
        this.#model.sync();
        mend();
        this.#isBroken = false;
      },
    });
  }

  /** Another person, or another tool. */
  #failOver(replica: ModelServer): void {
    this.happened = true;
    try {
      this.#model.execute(replica.endpoint, ['CLUSTER', 'FAILOVER']);
    } catch (error) {
      if (!(error instanceof ServerError)) throw error; // refused: nothing happened
    }
  }

  #breakMigrate(source: ModelServer): void {
    const restored = 1 + this.#simulation.choices.pick(3);
    this.#model.breakNextMigrate(source, { restored, acknowledged: this.#simulation.choices.pick(restored + 1) });
  }
}

function detailOf(who: readonly ModelServer[]): string {
  return who.map((server) => server.endpoint).join(' | ');
}
