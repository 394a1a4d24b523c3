/** What happens to servers while the tool works: each accident is mended by itself some time later. */
import type { Simulation, WorldEvent } from '@reeve/simulation';
import type { Ledger } from './ledger.ts';
import { type ModelServer, type RedisClusterModel, ServerError } from '@reeve/simulation/redis';

const MEND_AFTER_MS = [500, 4_000, 20_000];

export type EventKind = 'kill-server' | 'pause-server' | 'partition' | 'failover' | 'break-migrate';

export const allEvents: readonly EventKind[] = [
  'kill-server',
  'pause-server',
  'partition',
  'failover',
  'break-migrate',
];

/** One server or link is broken at a time: two at once may well be more than the cluster can bear. */
export class ServerEvents {
  readonly #simulation: Simulation;
  readonly #model: RedisClusterModel;
  readonly #ledger: Ledger;
  readonly #kinds: readonly EventKind[];
  #isBroken = false;
  /** Whether anything happened to a server in this run. */
  happened = false;

  constructor(simulation: Simulation, model: RedisClusterModel, ledger: Ledger, kinds: readonly EventKind[]) {
    this.#simulation = simulation;
    this.#model = model;
    this.#ledger = ledger;
    this.#kinds = kinds;
  }

  offered(): readonly WorldEvent[] {
    if (this.#isBroken) return [];
    return this.#all().filter((event) => this.#kinds.includes(event.kind as EventKind));
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
          () => this.#model.restart(server),
        ),
        this.#breaking(
          'pause-server',
          [server],
          () => this.#model.pause(server),
          () => this.#model.resume(server),
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
    const detail = who.map((server) => server.endpoint).join(' | ');
    return {
      kind,
      detail,
      apply: () => {
        for (const server of who) this.#ledger.suffers(server);
        this.#isBroken = true;
        this.happened = true;
        this.#model.sync();
        breakIt();
        const latencyMs = MEND_AFTER_MS[this.#simulation.choices.pick(MEND_AFTER_MS.length)] ?? 0;
        void this.#simulation.environment.effect('mend', {
          detail,
          latencyMs,
          apply: () => {
            this.#model.sync();
            mend();
            this.#isBroken = false;
          },
        });
      },
    };
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
