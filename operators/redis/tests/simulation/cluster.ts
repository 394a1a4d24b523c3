/** A cluster in the model, formed and settled before a run begins. */
import { EPOCH_MS, type Simulation } from '@reeve/simulation';
import { type Flavour, type ModelServer, RedisClusterModel, slotOfKey } from '@reeve/simulation/redis';
import { parseSlots, SLOT_COUNT, slotsOf } from '../../src/api/slots.ts';
import type { Endpoint } from '../../src/api/view.ts';

export interface Shard {
  readonly slots: string;
  readonly replicas: number;
}

export interface Layout {
  readonly shards: readonly Shard[];
  /** Servers that run and belong to nothing. */
  readonly fresh: number;
  readonly flavour: Flavour;
  /** Addresses of the servers, in turn; default: one host. */
  readonly hosts?: readonly string[];
  readonly allowReplicaMigration: boolean;
}

export interface Cluster {
  readonly model: RedisClusterModel;
  /** Primaries first, in the order of the shards; then their replicas; the fresh ones last. */
  readonly primaries: readonly ModelServer[];
  readonly replicas: readonly ModelServer[];
  readonly fresh: readonly ModelServer[];
  /** Lets some time pass before the run begins, so that replicas have what their primaries have. */
  settle(): void;
}

const HOST = '127.0.0.1';
const FIRST_PORT = 7001;
const SETTLE_LIMIT_MS = 60_000;

export function endpointOf(server: ModelServer): Endpoint {
  return { host: server.host, port: server.port };
}

/** The share of slots that each of `count` primaries gets, as text. */
export function evenShares(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const first = Math.round((index * SLOT_COUNT) / count);
    const last = Math.round(((index + 1) * SLOT_COUNT) / count) - 1;
    return `${first}-${last}`;
  });
}

/** Commands go straight to the servers: what people did long before the run begins. */
export function formCluster(simulation: Simulation, layout: Layout): Cluster {
  let ahead = 0;
  const model = new RedisClusterModel({
    random: simulation.random(),
    now: () => EPOCH_MS + simulation.elapsed + ahead,
    flavour: layout.flavour,
    allowReplicaMigration: layout.allowReplicaMigration,
    persistence: true,
    nodeTimeoutMs: 2_000,
  });
  let port = FIRST_PORT;
  const add = () => {
    const host = layout.hosts?.[(port - FIRST_PORT) % layout.hosts.length] ?? HOST;
    return model.addServer({ host, port: port++ });
  };
  const primaries = layout.shards.map(add);
  const replicas = layout.shards.flatMap((shard, index) =>
    Array.from({ length: shard.replicas }, () => ({ server: add(), of: primaries[index] as ModelServer })),
  );
  const fresh = Array.from({ length: layout.fresh }, add);
  const members = [...primaries, ...replicas.map(({ server }) => server)];
  const settle = (what: string, holds: () => boolean) => {
    const limit = ahead + SETTLE_LIMIT_MS;
    while (!holds()) {
      if (ahead > limit) throw new Error(`the model does not come to: ${what}`);
      ahead += 100;
      model.sync();
    }
  };

  for (const [index, server] of primaries.entries()) {
    const ranges = parseSlots(layout.shards[index]?.slots ?? '') ?? [];
    if (ranges.length > 0) model.execute(server.endpoint, ['CLUSTER', 'ADDSLOTSRANGE', ...ranges.flat().map(String)]);
    model.execute(server.endpoint, ['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)]);
  }
  for (const from of members) {
    for (const to of members) {
      if (from !== to) model.execute(from.endpoint, ['CLUSTER', 'MEET', to.host, String(to.port)]);
    }
  }
  settle('everybody knows everybody', () =>
    members.every(
      (server) =>
        server.peers.size === members.length &&
        [...server.peers.values()].every((peer) => !peer.handshake) &&
        slotsAgree(server, primaries),
    ),
  );
  for (const { server, of } of replicas) model.execute(server.endpoint, ['CLUSTER', 'REPLICATE', of.id]);
  settle('replicas in sync and all is well', () =>
    members.every((server) => server.state === 'ok' && (server.isPrimary || server.replication.link === 'up')),
  );
  settle('all have heard who replicates whom', () =>
    members.every((server) =>
      replicas.every((replica) => server.peers.get(replica.server.id)?.primary?.id === replica.of.id),
    ),
  );
  const letTimePass = () => {
    ahead += 1_000;
    model.sync();
  };
  return { model, primaries, replicas: replicas.map(({ server }) => server), fresh, settle: letTimePass };
}

function slotsAgree(server: ModelServer, primaries: readonly ModelServer[]): boolean {
  return primaries.every((primary) => server.peers.get(primary.id)?.slotCount === primary.self.slotCount);
}

/** For every slot a hash tag that falls into it. */
const tagBySlot: readonly string[] = (() => {
  const tags: string[] = Array.from({ length: SLOT_COUNT }, () => '');
  let missing = SLOT_COUNT;
  for (let n = 0; missing > 0; n++) {
    const tag = n.toString(36);
    const slot = slotOfKey(tag);
    if (tags[slot] !== '') continue;
    tags[slot] = tag;
    missing--;
  }
  return tags;
})();

export function keysOfSlot(slot: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `{${tagBySlot[slot]}}:${index}`);
}

export function slotsFrom(text: string): readonly number[] {
  return [...slotsOf(parseSlots(text) ?? [])];
}
