/** The servers of a declared cluster as the rig's damage knows servers: somebody to send raw commands to. */
import {
  type Access,
  type Cluster,
  type Connection,
  connect,
  type Endpoint,
  type Reply,
  type Server,
} from '@reeve/rig';
import { endpointOf, type Site } from './site.ts';

type Arguments = (string | number | Buffer)[];

/** What damage asks of a server. Starting and stopping is the business of the control plane. */
class PodServer {
  readonly endpoint: Endpoint;
  readonly access: Access;
  readonly running = true;
  #connection: Promise<Connection> | undefined;

  constructor(endpoint: Endpoint, access: Access) {
    this.endpoint = endpoint;
    this.access = access;
  }

  async call(...args: Arguments): Promise<Reply> {
    this.#connection ??= connect(this.endpoint, this.access);
    return (await this.#connection).call(...args);
  }

  async close(): Promise<void> {
    const opened = await this.#connection?.catch(() => undefined);
    opened?.close();
  }
}

/** With the servers of this moment; `stop` closes connections only. */
export async function podCluster(site: Site, name: string): Promise<Cluster> {
  const access = await site.access(name);
  const pods = await site.podsOf(name);
  const own = pods.map(({ status }) => new PodServer(endpointOf(status?.podIP ?? ''), access));
  const servers = own as unknown as readonly Server[];
  const roles = await Promise.all(own.map((server) => server.call('INFO', 'replication')));
  return {
    servers,
    primaries: servers.filter((_, index) => String(roles[index]).includes('role:master')),
    replicas: servers.filter((_, index) => String(roles[index]).includes('role:slave')),
    endpoints: own.map(({ endpoint }) => endpoint),
    access,
    stop: async () => {
      await Promise.all(own.map((server) => server.close()));
    },
  };
}
