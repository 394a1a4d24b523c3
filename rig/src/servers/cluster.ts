/** A cluster formed by a plain routine of the rig's own, for tests that need one as a starting point. */
import type { ServerOptions } from './config.ts';
import type { Access, Endpoint } from './connection.ts';
import { parseNodes } from './nodes.ts';
import { type Server, startServers } from './server.ts';
import { until } from './until.ts';

export interface ClusterOptions extends Omit<ServerOptions, 'dir' | 'host' | 'port'> {
  readonly primaries: number;
  /** Per primary. Default 0. */
  readonly replicas?: number;
  /** Slots per primary as ranges `[first, last]`; default: even shares. */
  readonly slots?: readonly (readonly [number, number])[];
  /** Address of the server with that index (primaries first). Default 127.0.0.1 for all. */
  readonly hostOf?: (index: number) => string;
}

export interface Cluster {
  readonly servers: readonly Server[];
  /** The roles given at the start; a failover changes them in the cluster, not here. */
  readonly primaries: readonly Server[];
  readonly replicas: readonly Server[];
  readonly endpoints: readonly Endpoint[];
  readonly access: Access;
  stop(): Promise<void>;
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const count = options.primaries * (1 + (options.replicas ?? 0));
  const servers = await startServers(count, (index) => ({
    ...options,
    ...(options.hostOf ? { host: options.hostOf(index) } : {}),
  }));
  const primaries = servers.slice(0, options.primaries);
  const cluster: Cluster = {
    servers,
    primaries,
    replicas: servers.slice(options.primaries),
    get endpoints() {
      return servers.map((server) => server.endpoint);
    },
    access: (servers[0] as Server).access,
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
  try {
    await formCluster(cluster, options.slots ?? evenShares(options.primaries));
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

export function evenShares(primaries: number): readonly (readonly [number, number])[] {
  return Array.from({ length: primaries }, (_, index) => [
    Math.round((16384 * index) / primaries),
    Math.round((16384 * (index + 1)) / primaries) - 1,
  ]);
}

async function formCluster(cluster: Cluster, slots: readonly (readonly [number, number])[]): Promise<void> {
  const { servers, primaries, replicas } = cluster;
  const ids = await Promise.all(servers.map(nodeId));
  await Promise.all(servers.map((server, index) => server.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)));
  await Promise.all(
    slots.map(([first, last], index) => (primaries[index] as Server).call('CLUSTER', 'ADDSLOTSRANGE', first, last)),
  );
  await meetAll(servers);
  await Promise.all(
    replicas.map((server, index) => server.call('CLUSTER', 'REPLICATE', ids[index % primaries.length] as string)),
  );
  try {
    await waitUntilAgreed(servers, GREETED_AGAIN_AFTER_MS);
  } catch {
    // Seen on Valkey on a busy machine: one node went on taking a new replica for a primary. A greeting tells it.
    await meetAll(servers);
    await waitUntilAgreed(servers);
  }
}

const GREETED_AGAIN_AFTER_MS = 20_000;

export async function nodeId(server: Server): Promise<string> {
  return String(await server.call('CLUSTER', 'MYID'));
}

/** MEET from each to each, then until everybody knows everybody out of handshake. */
export async function meetAll(servers: readonly Server[]): Promise<void> {
  for (const from of servers) {
    await Promise.all(
      servers
        .filter((to) => to !== from)
        .map((to) => from.call('CLUSTER', 'MEET', to.endpoint.host, to.endpoint.port, to.busPort)),
    );
  }
  const ids = await Promise.all(servers.map(nodeId));
  await until('every node knows every other', async () => {
    for (const server of servers) {
      const lines = parseNodes(String(await server.call('CLUSTER', 'NODES')));
      if (!ids.every((id) => lines.some((line) => line.id === id && !line.flags.includes('handshake')))) return false;
    }
    return true;
  });
}

/** All servers say: state ok, same members, roles, slots and epochs, and every link is up. */
export async function waitUntilAgreed(servers: readonly Server[], timeoutMs = 60_000): Promise<void> {
  await untilSame(servers, timeoutMs, async (server) => {
    await mustServe(server);
    return pictureOf(server);
  });
}

/** As waitUntilAgreed, but the servers may still hold back: primaries do so for up to 5 s after they learnt of the first slot. */
export async function waitUntilFormed(servers: readonly Server[], timeoutMs = 60_000): Promise<void> {
  await untilSame(servers, timeoutMs, pictureOf);
}

async function untilSame(
  servers: readonly Server[],
  timeoutMs: number,
  picture: (server: Server) => Promise<string>,
): Promise<void> {
  await until(
    'all nodes agree and replication links are up',
    async () => {
      const pictures = new Set<string>();
      for (const server of servers) pictures.add(await picture(server));
      if (pictures.size > 1) throw new Error(`views differ:\n${[...pictures].join('\n--\n')}`);
      return true;
    },
    { timeoutMs, everyMs: 50 },
  );
}

async function mustServe(server: Server): Promise<void> {
  if (String(await server.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) return;
  throw new Error(`cluster_state of ${nameOf(server)} is not ok:\n${String(await server.call('CLUSTER', 'NODES'))}`);
}

function nameOf({ endpoint }: Server): string {
  return `${endpoint.host}:${endpoint.port}`;
}

/** Members, roles, slots and epochs as one node sees them. Throws what is not well, so that a wait that fails can say it. */
async function pictureOf(server: Server): Promise<string> {
  const name = nameOf(server);
  const text = String(await server.call('CLUSTER', 'NODES'));
  const replication = String(await server.call('INFO', 'replication'));
  if (replication.includes('role:slave') && !replication.includes('master_link_status:up')) {
    throw new Error(`the link of ${name} to its primary is down:\n${replication}`);
  }
  const lines = parseNodes(text);
  const unwell = ['handshake', 'fail', 'fail?', 'noaddr'];
  if (lines.some(({ flags, linkUp, myself }) => flags.some((flag) => unwell.includes(flag)) || !(linkUp || myself))) {
    throw new Error(`not all is well for ${name}:\n${text}`);
  }
  const parts = lines.map((line) => `${line.id} ${line.role} ${line.primaryId} ${line.epoch} ${line.slotText}`);
  return parts.sort().join('\n');
}
