/** What a scenario plays in: real servers, traffic that never stops, the command line tool, and the two judges at the end. */
import assert from 'node:assert/strict';
import {
  addressOf,
  type Certificates,
  type Cluster,
  type ClusterOptions,
  type Endpoint,
  invariants,
  keySlot,
  nodeId,
  once,
  type Product,
  parseNodes,
  type ReeveRun,
  reeveRedis,
  type Server,
  serverCheck,
  startCluster,
  startServers,
  startTraffic,
  type Traffic,
  type TrafficResult,
  until,
} from '@reeve/rig';

export interface Ending {
  readonly replicasPerPrimary?: number;
  /** What the scenario itself wrote and must find again. */
  readonly written?: ReadonlyMap<string, string>;
}

/** One line of the proof's table. */
export interface Figures {
  readonly seconds: number;
  readonly writes: number;
  readonly reads: number;
  readonly redirects: number;
  readonly retries: number;
  readonly p99: number;
  readonly max: number;
  /** Acknowledged writes that a killed primary took with it, where asynchronous replication permits that. */
  readonly lost: number;
  readonly judge: string;
}

interface Permit {
  readonly slots: (slot: number) => boolean;
  /** Writes acknowledged from here on (performance.now()) may be lost. */
  readonly since: number;
}

export interface WorldOptions {
  readonly keys?: number;
  /** How long a client tries one operation: longer than any outage of the scenario. */
  readonly patienceMs?: number;
}

export class World {
  readonly product: Product;
  readonly #tls: Certificates | undefined;
  readonly #servers = new Set<Server>();
  readonly #permits: Permit[] = [];
  readonly #options: WorldOptions;
  readonly #began = performance.now();
  #traffic: Traffic | undefined;

  constructor(product: Product, options: WorldOptions = {}, tls?: Certificates) {
    this.product = product;
    this.#options = options;
    this.#tls = tls;
  }

  /** Empty servers, not yet a cluster. Each looks like one of three hosts in turn, if nothing else is said. */
  async servers(count: number, options: Partial<ClusterOptions> = {}): Promise<readonly Server[]> {
    const { hostOf = this.#tls ? undefined : hostInTurn } = options;
    const servers = await startServers(count, (index) => ({
      ...options,
      product: this.product,
      ...(hostOf ? { host: hostOf(index) } : {}),
      ...(this.#tls ? { tls: this.#tls } : {}),
    }));
    for (const server of servers) this.#servers.add(server);
    return servers;
  }

  /**
   * A cluster made by the rig: scenarios about something else do not depend on our `create`. Over three hosts, primaries
   * and replicas apart, if nothing else is said.
   */
  async cluster(options: Omit<ClusterOptions, 'product'>): Promise<Cluster> {
    const { primaries } = options;
    const hostOf = (index: number) => hostInTurn(index < primaries ? index : index - primaries + 1);
    const cluster = await startCluster({ hostOf, ...options, product: this.product });
    for (const server of cluster.servers) this.#servers.add(server);
    return cluster;
  }

  /** From here on clients write and read until the end. `later`: addresses at which servers will be. */
  async startTraffic(servers: readonly Server[], later: readonly Endpoint[] = []): Promise<Traffic> {
    const { keys = 2000, patienceMs = 90_000 } = this.#options;
    const [first] = servers;
    assert.ok(first);
    this.#traffic = await startTraffic([...servers.map(({ endpoint }) => endpoint), ...later], {
      keys,
      patienceMs,
      access: first.access,
    });
    await this.moreTraffic(1000);
    return this.#traffic;
  }

  /** Until that many more writes were acknowledged: the cluster serves. */
  async moreTraffic(writes: number): Promise<void> {
    const { writes: before } = this.#running();
    try {
      await until(`${writes} more writes`, () => this.#running().writes >= before + writes, { timeoutMs: 240_000 });
    } catch (error) {
      throw new Error(`${String(error)}; what the servers see:\n${await this.#picture()}`, { cause: error });
    }
  }

  /** Every running server's own view, for whoever looks into a failure. */
  async #picture(): Promise<string> {
    const views = [...this.#servers]
      .filter((server) => server.running)
      .map(async (server) => {
        const lines = await Promise.all(['INFO', 'NODES'].map((view) => server.call('CLUSTER', view)));
        return `-- ${addressOf(server.endpoint)}\n${lines.map(String).join('\n')}`;
      });
    return (await Promise.all(views)).join('\n');
  }

  #running(): Traffic {
    assert.ok(this.#traffic, 'no traffic runs');
    return this.#traffic;
  }

  /** `reeve redis VERB`, which must succeed. */
  async reeve(server: Server, verb: string, ...args: readonly string[]): Promise<ReeveRun> {
    const run = await this.tryReeve(server, verb, ...args);
    assert.equal(run.code, 0, `reeve redis ${verb} ended with ${run.code}:\n${run.stdout}\n${run.stderr}`);
    return run;
  }

  async tryReeve(server: Server, verb: string, ...args: readonly string[]): Promise<ReeveRun> {
    return reeveRedis([verb, addressOf(server.endpoint), ...args, '--yes', '--json'], this.#access(server));
  }

  /** `check`, `status`: verbs that only look. */
  async look(server: Server, verb: string, ...args: readonly string[]): Promise<ReeveRun> {
    return reeveRedis([verb, addressOf(server.endpoint), ...args, '--json'], this.#access(server));
  }

  #access(server: Server) {
    return { access: server.access, ...(this.#tls ? { tls: this.#tls } : {}) };
  }

  /**
   * Call before killing primaries: waits until their replicas have everything that was acknowledged until now, by
   * comparing offsets. Only what is acknowledged from then on may be lost, and only in their slots.
   */
  async permitLossOf(primaries: readonly Server[]): Promise<void> {
    const since = performance.now();
    for (const primary of primaries) {
      const own = parseNodes(String(await primary.call('CLUSTER', 'NODES'))).find((line) => line.myself);
      assert.ok(own);
      const offset = offsetIn(String(await primary.call('INFO', 'replication')), 'master_repl_offset');
      const replicas: Server[] = [];
      for (const server of this.#servers) {
        if (!server.running || server === primary) continue;
        const line = parseNodes(String(await server.call('CLUSTER', 'NODES'))).find((candidate) => candidate.myself);
        if (line?.primaryId === own.id) replicas.push(server);
      }
      for (const replica of replicas) {
        await until('the replica has what was acknowledged', async () => {
          return offsetIn(String(await replica.call('INFO', 'replication')), 'slave_repl_offset') >= offset;
        });
      }
      this.#permits.push({ since, slots: (slot) => own.slots.some(([first, last]) => first <= slot && slot <= last) });
    }
  }

  /** Call before a primary dies with all its copies: whatever was acknowledged in its slots may be lost. */
  async permitTotalLossOf(primary: Server): Promise<void> {
    const own = parseNodes(String(await primary.call('CLUSTER', 'NODES'))).find((line) => line.myself);
    assert.ok(own);
    const slots = (slot: number) => own.slots.some(([first, last]) => first <= slot && slot <= last);
    this.#permits.push({ since: Number.NEGATIVE_INFINITY, slots });
  }

  /** Traffic stops; both judges must be content with the members given. */
  async end(members: readonly Server[], ending: Ending = {}): Promise<Figures> {
    await this.moreTraffic(500);
    const result = await this.#running().stop();
    this.#traffic = undefined;
    const permitted = (key: string, at: number) =>
      this.#permits.some((permit) => permit.slots(keySlot(key)) && at >= permit.since);
    const strict = new Map(
      [...result.acknowledged].filter(([key]) => !permitted(key, result.acknowledgedAt.get(key) ?? 0)),
    );
    const lenient = new Map([...result.acknowledged].filter(([key]) => !strict.has(key)));
    assert.deepEqual(result.errors, [], 'errors after documented redirect handling');
    const regressions = result.regressions.filter(
      ({ key }) => !this.#permits.some((permit) => permit.slots(keySlot(key))),
    );
    assert.deepEqual(regressions, [], 'a read went back behind an acknowledged write');
    const [first] = members;
    assert.ok(first);
    await this.judge(members, { ...ending, acknowledged: new Map([...strict, ...(ending.written ?? [])]) });
    const check = await serverCheck(this.product, first.endpoint, {
      ...first.access,
      ...(this.#tls ? { files: this.#tls } : {}),
    });
    assert.equal(check.code, 0, check.output);
    const seconds = (performance.now() - this.#began) / 1000;
    return { ...figures(result), seconds, lost: await countLost(members, lenient), judge: check.by };
  }

  /** The invariants, given a moment for gossip: what one node has just told is on its way to the others. */
  async judge(
    members: readonly Server[],
    expected: Ending & { acknowledged?: ReadonlyMap<string, string> } = {},
  ): Promise<void> {
    const [first] = members;
    let violations: readonly string[] = [];
    const endpoints = members.map(({ endpoint }) => endpoint);
    try {
      await until(
        'the invariants hold',
        async () => {
          const hostOf = ({ host }: Endpoint) => host;
          violations = await invariants(endpoints, { ...expected, hostOf, access: first?.access ?? {} });
          return violations.length === 0;
        },
        { timeoutMs: 60_000, everyMs: 250 },
      );
    } catch {
      assert.deepEqual(violations, []);
    }
  }

  async close(): Promise<void> {
    await this.#traffic?.abandon();
    await Promise.all([...this.#servers].map((server) => server.stop()));
  }
}

function hostInTurn(index: number): string {
  return `127.0.3.${10 + (index % 3)}`;
}

function offsetIn(info: string, field: string): number {
  const match = new RegExp(`${field}:(\\d+)`).exec(info);
  assert.ok(match, `${field} is missing`);
  return Number(match[1]);
}

function figures(result: TrafficResult): Omit<Figures, 'seconds' | 'lost' | 'judge'> {
  const { moved, ask, tryAgain, clusterDown, connection } = result.retries;
  return {
    writes: result.writes,
    reads: result.reads,
    redirects: moved + ask,
    retries: tryAgain + clusterDown + connection,
    p99: Math.max(result.latency.writes.p99, result.latency.reads.p99),
    max: Math.max(result.latency.writes.max, result.latency.reads.max),
  };
}

async function countLost(members: readonly Server[], entries: ReadonlyMap<string, string>): Promise<number> {
  if (entries.size === 0) return 0;
  const endpoints = members.map(({ endpoint }) => endpoint);
  const violations = await invariants(endpoints, { acknowledged: entries, access: members[0]?.access ?? {} });
  return violations.filter((line) => line.startsWith('acknowledged write lost')).length;
}

/** A slot of the server's own in which no traffic goes: damage there is not mended by a client's write. */
export async function quietSlots(server: Server, count: number, keys = 2000): Promise<readonly number[]> {
  const busy = new Set(Array.from({ length: keys }, (_, number) => keySlot(`traffic:${number}`)));
  const own = parseNodes(String(await server.call('CLUSTER', 'NODES'))).find((line) => line.myself);
  const quiet: number[] = [];
  for (const [first, last] of own?.slots ?? []) {
    for (let slot = first; slot <= last && quiet.length < count; slot++) if (!busy.has(slot)) quiet.push(slot);
  }
  assert.equal(quiet.length, count);
  return quiet;
}

/** Slots of each server, by its own view. */
export async function slotCounts(servers: readonly Server[]): Promise<readonly number[]> {
  return Promise.all(
    servers.map(async (server) => {
      const own = parseNodes(String(await server.call('CLUSTER', 'NODES'))).find((line) => line.myself);
      return (own?.slots ?? []).reduce((sum, [first, last]) => sum + last - first + 1, 0);
    }),
  );
}

export async function isPrimary(server: Server): Promise<boolean> {
  return String(await once(server.endpoint, server.access, 'INFO', 'replication')).includes('role:master');
}

export { nodeId };
