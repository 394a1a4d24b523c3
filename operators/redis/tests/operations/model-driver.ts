/** The driver of operation cases over the model. Time is virtual: waiting costs nothing. */
import { prng } from '@reeve/simulation';
import {
  type Flavour,
  type ModelReply,
  type ModelServer,
  RedisClusterModel,
  ServerError,
} from '@reeve/simulation/redis';
import type { Arg, Reply } from '../../src/api/port.ts';
import type { Driver, Line, Node, Product, Shape } from './driver.ts';

const names = ['a', 'b', 'c', 'replica', 'spare'] as const;
const shares: Readonly<Record<string, readonly [number, number]>> = {
  a: [0, 5460],
  b: [5461, 10922],
  c: [10923, 16383],
};
const WAIT_LIMIT_MS = 120_000;
const STEP_MS = 100;

function words(args: readonly (Arg | number)[]): Arg[] {
  return args.map((arg) => (typeof arg === 'number' ? String(arg) : arg));
}

const flavours: Readonly<Record<Product, Flavour>> = { valkey: 'valkey9', redis: 'redis7' };

export class ModelDriver implements Driver {
  readonly product: Product;
  readonly nodes: Driver['nodes'];
  readonly #model: RedisClusterModel;
  readonly #servers = new Map<Node, ModelServer>();

  constructor(product: Product, seed: number, flavour: Flavour = flavours[product]) {
    this.product = product;
    this.#model = new RedisClusterModel({
      random: prng(seed),
      flavour,
      nodeTimeoutMs: 3000,
      allowReplicaMigration: false,
      persistence: true,
    });
    const nodes = names.map((name, index) => {
      const server = this.#model.addServer({ host: '127.0.0.1', port: 7001 + index });
      const node: Node = {
        name,
        host: server.host,
        get port() {
          return server.port;
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

  #server(node: Node): ModelServer {
    const server = this.#servers.get(node);
    if (!server) throw new Error(`${node.name} is none of ours`);
    return server;
  }

  async connect(node: Node): Promise<Line> {
    const { endpoint } = this.#server(node);
    const session = this.#model.connect();
    return {
      call: async (...args) => this.#model.execute(endpoint, words(args), { session }),
      binary: async (...args) => this.#model.execute(endpoint, words(args), { session, binary: true }),
    };
  }

  async call(node: Node, ...args: (Arg | number)[]): Promise<Reply> {
    return this.#model.execute(this.#server(node).endpoint, words(args));
  }

  async exec(node: Node, commands: readonly (readonly (Arg | number)[])[]): Promise<readonly (Reply | Error)[]> {
    const { endpoint } = this.#server(node);
    return this.#model.transactionReplies(endpoint, commands.map(words)) as readonly (ModelReply | ServerError)[];
  }

  async wait(what: string, condition: () => Promise<boolean>): Promise<void> {
    for (let waited = 0; !(await condition()); waited += STEP_MS) {
      if (waited > WAIT_LIMIT_MS) throw new Error(`not within ${WAIT_LIMIT_MS} ms: ${what}`);
      this.#model.advance(STEP_MS);
    }
  }

  async kill(node: Node): Promise<void> {
    this.#model.kill(this.#server(node));
  }

  async restart(node: Node, where?: 'elsewhere'): Promise<void> {
    this.#model.restart(this.#server(node), where ? { port: node.port + 100 } : {});
  }

  pause(node: Node): void {
    this.#model.pause(this.#server(node));
  }

  resume(node: Node): void {
    this.#model.resume(this.#server(node));
  }

  /** Forms the cluster that the shape asks for. */
  async prepare(shape: Shape): Promise<void> {
    if (shape === 'fresh') return;
    const nodes = Object.values(this.nodes);
    for (const [index, node] of nodes.entries()) {
      await this.call(node, 'CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
      const share = shares[node.name];
      if (share) await this.call(node, 'CLUSTER', 'ADDSLOTSRANGE', ...share);
      for (const other of nodes) if (other !== node) await this.call(node, 'CLUSTER', 'MEET', other.host, other.port);
    }
    const settled = (server: ModelServer) => server.state === 'ok' && server.peers.size === nodes.length;
    await this.wait('all know all', async () => [...this.#servers.values()].every(settled));
    await this.call(this.nodes.replica, 'CLUSTER', 'REPLICATE', this.#server(this.nodes.a).id);
    const replica = this.#server(this.nodes.replica);
    await this.wait('all see the replica', async () =>
      [...this.#servers.values()].every((server) => {
        const line = server.peers.get(replica.id);
        return server.state === 'ok' && line?.role === 'replica' && line.primary !== undefined;
      }),
    );
    await this.wait('the replica is in sync', async () => replica.replication.link === 'up');
  }
}
