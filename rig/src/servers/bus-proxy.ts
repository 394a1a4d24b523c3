/**
 * A relay in front of a server's cluster bus. Peers are told the relay's port (cluster-announce-bus-port), so that tests
 * can cut nodes off from each other while clients still reach every one of them. That is the only way to hold states
 * which gossip would otherwise settle within a second: colliding epochs, several owners of a slot.
 */
import { connect as connectSocket, createServer, type Server as TcpServer, type Socket } from 'node:net';

export interface BusProxy {
  readonly port: number;
  /** The bus it leads to. */
  readonly behind: string;
  /** Breaks all connections through it and refuses new ones. */
  cut(): void;
  heal(): void;
  close(): void;
}

export async function startBusProxy(host: string, busPort: number): Promise<BusProxy> {
  const sockets = new Set<Socket>();
  let open = true;
  const server: TcpServer = createServer((incoming) => {
    if (!open) {
      incoming.destroy();
      return;
    }
    const outgoing = connectSocket({ host, port: busPort });
    for (const [socket, peer] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      // Either end breaking ends both, as a real connection would.
      socket.on('error', () => peer.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        peer.destroy();
      });
      socket.pipe(peer);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port: 0 }, resolve);
  });
  server.unref();
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the relay has no port');
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    behind: `${host}:${busPort}`,
    cut: () => {
      open = false;
      breakAll();
    },
    heal: () => {
      open = true;
    },
    close: () => {
      breakAll();
      server.close();
    },
  };
}
