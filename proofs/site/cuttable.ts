/**
 * Pods whose cluster bus can be cut: a relay in front of each, which peers are told of (`cluster-announce-bus-port`) while this lasts.
 * Clients and the operator reach every server all the time.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type Cluster, type Server, until } from '@reeve/rig';
import { PATIENCE_MS } from './site.ts';

type BusProxy = NonNullable<Server['busProxy']>;

const BUS_PORT = 16_379;
/** Nobody is to be called dead for not being heard. */
const NODE_TIMEOUT_MS = '60000';

async function relay(host: string): Promise<BusProxy> {
  const sockets = new Set<Socket>();
  let isOpen = true;
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const listener = createServer((incoming) => {
    if (!isOpen) return void incoming.destroy();
    const outgoing = connect({ host, port: BUS_PORT });
    sockets.add(incoming);
    incoming.setNoDelay(true).on('error', () => outgoing.destroy());
    outgoing.setNoDelay(true).on('error', () => incoming.destroy());
    incoming.on('close', () => outgoing.destroy() && sockets.delete(incoming));
    outgoing.on('close', () => incoming.destroy());
    incoming.pipe(outgoing).pipe(incoming);
  });
  listener.listen({ host, port: 0 });
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    behind: `${host}:${BUS_PORT}`,
    cut: () => {
      isOpen = false;
      breakAll();
    },
    heal: () => {
      isOpen = true;
    },
    close: () => {
      breakAll();
      listener.close();
    },
  };
}

/** Everybody knows everybody at that port of his bus, and hears him there. */
async function untilHeardAt(servers: readonly Server[], busPortOf: (server: Server) => number): Promise<void> {
  const areAll = async () => {
    const tables = await Promise.all(servers.map((server) => server.call('CLUSTER', 'NODES')));
    return tables.every((table) =>
      servers.every((server) => {
        const { host, port } = server.endpoint;
        const line = String(table)
          .split('\n')
          .find((one) => one.includes(` ${host}:${port}@${busPortOf(server)}`));
        return line?.includes(' connected');
      }),
    );
  };
  await until('all hear each other', areAll, { timeoutMs: PATIENCE_MS });
}

async function nodeTimeoutOf(server: Server): Promise<string> {
  const [, value = ''] = (await server.call('CONFIG', 'GET', 'cluster-node-timeout')) as readonly string[];
  return value;
}

/** `stop` puts everything back. */
export async function cuttable(cluster: Cluster): Promise<Cluster> {
  const { servers } = cluster;
  const timeout = await nodeTimeoutOf(servers[0] as Server);
  const relays = new Map<Server, BusProxy>();
  const set = async (server: Server, nodeTimeout: string, busPort: number) => {
    await server.call('CONFIG', 'SET', 'cluster-node-timeout', nodeTimeout, 'cluster-announce-bus-port', busPort);
  };
  for (const server of servers) {
    const proxy = await relay(server.endpoint.host);
    relays.set(server, proxy);
    Object.assign(server, { busProxy: proxy });
    await set(server, NODE_TIMEOUT_MS, proxy.port);
  }
  await untilHeardAt(servers, (server) => relays.get(server)?.port ?? 0);
  return {
    ...cluster,
    stop: async () => {
      for (const [server, proxy] of relays) {
        proxy.heal();
        await set(server, timeout, 0);
      }
      await untilHeardAt(servers, () => BUS_PORT);
      for (const proxy of relays.values()) proxy.close();
      await cluster.stop();
    },
  };
}
