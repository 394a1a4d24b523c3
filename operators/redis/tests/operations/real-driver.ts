/** The driver of operation cases over real servers. */
import {
  type Connection,
  connect,
  freePort,
  meetAll,
  nodeId,
  type Server,
  startServers,
  until,
  waitUntilAgreed,
} from '@reeve/rig';
import type { Arg, Reply } from '../../src/api/port.ts';
import type { Driver, Line, Node, Product, Shape } from './driver.ts';

const names = ['a', 'b', 'c', 'replica', 'spare'] as const;
const shares: Readonly<Record<string, readonly [number, number]>> = {
  a: [0, 5460],
  b: [5461, 10922],
  c: [10923, 16383],
};
const WAIT_LIMIT_MS = 60_000;

export class RealDriver implements Driver {
  readonly product: Product;
  readonly nodes: Driver['nodes'];
  readonly #shape: Shape;
  readonly #servers = new Map<Node, Server>();
  readonly #open: Connection[] = [];

  static async start(product: Product, shape: Shape): Promise<RealDriver> {
    const servers = await startServers(shape === 'fresh' ? 2 : names.length, {
      product,
      // Only in a cluster of its own somebody is failed; elsewhere a busy machine shall fail nobody.
      nodeTimeoutMs: shape === 'own' ? 3000 : 10_000,
      appendOnly: shape === 'own',
      // By default a busy disk may hold a write up for two seconds: a kill would lose it.
      ...(shape === 'own' ? { extraConfig: ['appendfsync always'] } : {}),
    });
    const driver = new RealDriver(product, shape, servers);
    try {
      if (shape !== 'fresh') await driver.#form();
      return driver;
    } catch (error) {
      await driver.stop();
      throw error;
    }
  }

  constructor(product: Product, shape: Shape, servers: readonly Server[]) {
    this.product = product;
    this.#shape = shape;
    const nodes = servers.map((server, index) => {
      const name = names[index] ?? 'spare';
      const node: Node = {
        name,
        host: server.endpoint.host,
        get port() {
          return server.endpoint.port;
        },
        get busPort() {
          return server.busPort;
        },
      };
      this.#servers.set(node, server);
      return [name, node] as const;
    });
    this.nodes = Object.fromEntries(nodes) as Driver['nodes'];
  }

  async #form(): Promise<void> {
    for (const [index, [node, server]] of [...this.#servers].entries()) {
      await server.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
      const share = shares[node.name];
      if (share) await server.call('CLUSTER', 'ADDSLOTSRANGE', ...share);
    }
    const servers = [...this.#servers.values()];
    await meetAll(servers);
    await this.#server(this.nodes.replica).call('CLUSTER', 'REPLICATE', await nodeId(this.#server(this.nodes.a)));
    await waitUntilAgreed(servers);
  }

  #server(node: Node): Server {
    const server = this.#servers.get(node);
    if (!server) throw new Error(`${node.name} is none of ours`);
    return server;
  }

  /** Before each case: fresh servers forget everything, a shared cluster must have come to rest. */
  async renew(): Promise<void> {
    if (this.#shape === 'fresh') {
      for (const server of this.#servers.values()) {
        await server.call('FLUSHALL');
        await server.call('CLUSTER', 'RESET', 'HARD');
      }
    } else await waitUntilAgreed([...this.#servers.values()]);
  }

  async connect(node: Node): Promise<Line> {
    const connection = await connect(this.#server(node).endpoint, {});
    this.#open.push(connection);
    return {
      call: async (...args) => (await connection.call(...args)) as Reply,
      binary: async (...args) => (await connection.callBinary(...args)) as Reply,
    };
  }

  async call(node: Node, ...args: (Arg | number)[]): Promise<Reply> {
    return (await this.#server(node).call(...args)) as Reply;
  }

  async exec(node: Node, commands: readonly (readonly (Arg | number)[])[]): Promise<readonly (Reply | Error)[]> {
    const line = await this.connect(node);
    await line.call('MULTI');
    for (const args of commands) await line.call(...args);
    return (await line.call('EXEC')) as readonly (Reply | Error)[];
  }

  async wait(what: string, condition: () => Promise<boolean>): Promise<void> {
    await until(what, condition, { timeoutMs: WAIT_LIMIT_MS, everyMs: 50 });
  }

  kill(node: Node): Promise<void> {
    return this.#server(node).kill9();
  }

  async restart(node: Node, where?: 'elsewhere'): Promise<void> {
    await this.#server(node).restart(where ? { port: await freePort() } : {});
  }

  pause(node: Node): void {
    this.#server(node).pause();
  }

  resume(node: Node): void {
    this.#server(node).resume();
  }

  async stop(): Promise<void> {
    for (const connection of this.#open) connection.close();
    await Promise.all([...this.#servers.values()].map((server) => server.stop()));
  }
}
