/** The long-lived cluster of the kill rounds: four primaries with a replica each, data that must never be lost, and its repair between rounds. */
import {
  type Cluster,
  type Endpoint,
  invariants,
  keySlot,
  parseNodes,
  type Product,
  type Server,
  serverCheck,
  startCluster,
  until,
} from '@reeve/rig';
import { address, reeve } from './tool.ts';

export interface Member {
  readonly server: Server;
  readonly id: string;
  readonly role: 'primary' | 'replica';
  readonly primaryId: string | undefined;
  readonly slots: number;
}

const NODE_TIMEOUT_MS = 1500;
const PRELOADED = 40_000;
const VALUE_BYTES = 400;

export class World {
  readonly product: Product;
  readonly cluster: Cluster;
  /** Key → value of everything that was ever acknowledged and not overwritten since. */
  readonly acknowledged = new Map<string, string>();

  private constructor(product: Product, cluster: Cluster) {
    this.product = product;
    this.cluster = cluster;
  }

  static async start(product: Product): Promise<World> {
    const cluster = await startCluster({
      product,
      primaries: 4,
      replicas: 1,
      nodeTimeoutMs: NODE_TIMEOUT_MS,
      appendOnly: true,
    });
    const world = new World(product, cluster);
    await world.#preload();
    return world;
  }

  get endpoints(): readonly Endpoint[] {
    return this.cluster.servers.map((server) => server.endpoint);
  }

  /** Any address that answers. */
  get entry(): string {
    const server = this.cluster.servers.find((candidate) => candidate.running) as Server;
    return address(server.endpoint);
  }

  async #preload(): Promise<void> {
    const members = await this.members();
    const owner = await this.owners();
    const work: Promise<unknown>[] = [];
    for (let number = 0; number < PRELOADED; number++) {
      const key = `kept:${number}`;
      const value = `value of ${number} `.padEnd(VALUE_BYTES + (number % 200), 'x');
      this.acknowledged.set(key, value);
      const server = members.find((member) => member.id === owner[keySlot(key)])?.server as Server;
      work.push(server.call('SET', key, value));
      if (work.length >= 500) await Promise.all(work.splice(0));
    }
    await Promise.all(work);
  }

  /** For each slot the id of its owner, as the first server that runs sees it. */
  async owners(): Promise<readonly string[]> {
    const owner: string[] = [];
    const first = this.cluster.servers.find((server) => server.running);
    for (const line of parseNodes(String(await first?.call('CLUSTER', 'NODES')))) {
      for (const [from, to] of line.slots) for (let slot = from; slot <= to; slot++) owner[slot] = line.id;
    }
    return owner;
  }

  /** Each running server's word about itself. */
  async members(): Promise<readonly Member[]> {
    const running = this.cluster.servers.filter((server) => server.running);
    return Promise.all(
      running.map(async (server) => {
        const lines = parseNodes(String(await server.call('CLUSTER', 'NODES')));
        const self = lines.find((line) => line.myself);
        if (!self) throw new Error(`${address(server.endpoint)} does not say who it is`);
        const slots = self.slots.reduce((sum, [from, to]) => sum + to - from + 1, 0);
        const replica = self.role === 'replica';
        return {
          server,
          id: self.id,
          role: self.role,
          primaryId: replica ? self.primaryId : undefined,
          slots,
        } as const;
      }),
    );
  }

  async isReplica(server: Server): Promise<boolean> {
    return (await this.members()).some((member) => member.server === server && member.role === 'replica');
  }

  /** Brings the cluster back to four primaries with slots and a replica each, by the tool itself. */
  async repair(): Promise<void> {
    for (const server of this.cluster.servers) if (!server.running) await server.restart();
    const alone = await this.#outsiders();
    // A new id: the members refuse the old one for a minute after they forgot it.
    for (const server of alone) await resetHard(server);
    const entry = address((this.cluster.servers.find((server) => !alone.includes(server)) as Server).endpoint);
    const joined: Server[] = [];
    for (const server of alone) {
      const outside = alone.filter((other) => !joined.includes(other));
      const members = (await this.members()).filter((member) => !outside.includes(member.server));
      const primaries = members.filter((member) => member.role === 'primary');
      const bare = primaries.find((primary) => !members.some((member) => member.primaryId === primary.id));
      const as = primaries.length < 4 ? [] : ['--replica', ...(bare ? ['--of', bare.id] : [])];
      await reeve('add-node', entry, '--node', address(server.endpoint), ...as, '--yes', '--json');
      joined.push(server);
    }
    const members = await this.members();
    const empty = members.some((member) => member.role === 'primary' && member.slots === 0);
    if (empty) await reeve('rebalance', entry, '--use-empty', '--fast', '--yes', '--json');
    await this.#moveSpareReplica();
  }

  /** Those that nobody else knows. A node that was dead when it was deleted comes back believing that it is a member. */
  async #outsiders(): Promise<readonly Server[]> {
    const tables = await Promise.all(
      this.cluster.servers.map(async (server) => ({
        server,
        lines: parseNodes(String(await server.call('CLUSTER', 'NODES'))),
      })),
    );
    const isKnown = (server: Server, id: string | undefined) =>
      tables.some((table) => table.server !== server && table.lines.some((line) => line.id === id));
    return tables
      .filter(({ server, lines }) => !isKnown(server, lines.find((line) => line.myself)?.id))
      .map(({ server }) => server);
  }

  async #moveSpareReplica(): Promise<void> {
    const members = await this.members();
    const replicasOf = (id: string) => members.filter((member) => member.primaryId === id);
    const primaries = members.filter((member) => member.role === 'primary');
    const bare = primaries.find((primary) => replicasOf(primary.id).length === 0);
    const rich = primaries.find((primary) => replicasOf(primary.id).length > 1);
    if (!bare || !rich) return;
    const spare = replicasOf(rich.id)[0] as Member;
    await spare.server.call('CLUSTER', 'REPLICATE', bare.id);
    await until('the spare replica is in sync with its new primary', async () =>
      String(await spare.server.call('INFO', 'replication')).includes('master_link_status:up'),
    );
  }

  /** What each server says, for the result file of a failed round. */
  async picture(): Promise<string> {
    const texts = this.cluster.servers.map(async (server) => {
      const nodes = server.running ? String(await server.call('CLUSTER', 'NODES')) : 'not running';
      return `${address(server.endpoint)}\n${nodes}`;
    });
    return (await Promise.all(texts)).join('\n');
  }

  /** Everything that is wrong now; empty = nothing. Gossip gets a moment to settle. */
  async judge(): Promise<readonly string[]> {
    let problems: readonly string[] = [];
    const settled = async () => {
      problems = await invariants(this.endpoints, { acknowledged: this.acknowledged });
      const check = await serverCheck(this.product, this.endpoints[0] as Endpoint);
      if (check.code !== 0)
        problems = [...problems, `${check.by} --cluster check: exit ${check.code}\n${check.output}`];
      return problems.length === 0;
    };
    await until('the cluster is in order', settled, { timeoutMs: 60_000, everyMs: 250 }).catch(() => undefined);
    return problems;
  }
}

/** Also its append-only file, which RESET leaves as it is: add-node is for empty nodes. */
async function resetHard(server: Server): Promise<void> {
  await server.call('CLUSTER', 'RESET', 'HARD');
  const isWriting = async () =>
    /aof_rewrite_(in_progress|scheduled):1/.test(String(await server.call('INFO', 'persistence')));
  await until('a rewrite from before the reset is done', async () => !(await isWriting()));
  await server.call('BGREWRITEAOF');
  await until('the rewrite is done', async () => !(await isWriting()));
}
