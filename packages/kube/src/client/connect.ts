/** From a kubeconfig to a client, in one call. */
import { accessOf } from '../auth/access.ts';
import { type LoadOptions, loadContext } from '../kubeconfig/load.ts';
import type { KubePorts } from '../ports/ports.ts';
import { type NetworkOptions, networkTransport } from '../transport/network.ts';
import { type OpenSocket, socketTransport } from '../transport/socket.ts';
import type { Transport } from '../transport/transport.ts';
import { type ClientOptions, KubeClient } from './client.ts';

export interface ConnectOptions
  extends LoadOptions,
    NetworkOptions,
    Omit<ClientOptions, 'transport' | 'clock' | 'random'> {}

export interface Connection extends Disposable {
  readonly client: KubeClient;
  /** What the client speaks through, for others that bring clients of their own: a manager of controllers. */
  readonly transport: Transport;
  /** The namespace of the context. */
  readonly namespace: string;
  /** For subresources that speak both ways: `exec`, `attach`. Such a socket is closed by who opened it. */
  readonly socket: OpenSocket;
  /** Ends all connections, also those in use. */
  close(): void;
}

/** Reads the kubeconfig (or the pod's own identity); nothing is sent before the first call. */
export async function connect(ports: KubePorts, options: ConnectOptions = {}): Promise<Connection> {
  const context = await loadContext(ports, options);
  const access = accessOf(context, ports);
  const { transport, close } = networkTransport(access, ports.clock, options);
  const client = new KubeClient({ ...options, transport, clock: ports.clock, random: ports.random });
  const socket = socketTransport(access);
  return { client, transport, namespace: context.namespace, socket, close, [Symbol.dispose]: close };
}
