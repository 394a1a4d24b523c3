/** A declared Redis or Valkey cluster on `reeve up`, as proofs see it: through the API, its servers' own words, and the process table. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Machine, readOr } from '@reeve/cli/plane-testing';
import { type KubeClient, type KubeObject, resource, type Stored } from '@reeve/kube';
import { type RedisClusterStatus, redisClusters, type RedisTaskObject, redisTasks } from '@reeve/redis';
import { type Access, connect, type Endpoint, invariants, type Product, serverCheck, until } from '@reeve/rig';

interface SitePod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly podIP?: string;
    readonly phase?: string;
    readonly containerStatuses?: readonly {
      readonly restartCount: number;
      readonly lastState?: { readonly terminated?: { readonly exitCode: number; readonly reason?: string } };
    }[];
  };
}

export type PodOnSite = Stored<SitePod>;

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Event extends KubeObject {
  readonly regarding?: { readonly name?: string };
  readonly reason?: string;
  readonly note?: string;
}

const core = { group: '', version: 'v1' } as const;
const pods = resource<SitePod>({ ...core, plural: 'pods', kind: 'Pod', namespaced: true });
const secrets = resource<Secret>({ ...core, plural: 'secrets', kind: 'Secret', namespaced: true });
const events = resource<Event>({
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
});
export const workerNodes = resource<KubeObject>({ ...core, plural: 'nodes', kind: 'Node', namespaced: false });

const NAMESPACE = 'default';
const CLUSTER_LABEL = 'redis.reeve.dev/cluster';
const PORT = 6379;
export const PATIENCE_MS = 300_000;

/** A program of a pod, and the shim that waits for it: as the shim wrote it down. */
export interface PodProcesses {
  readonly main: number;
  readonly shim: number;
}

export class Site {
  readonly machine = new Machine();
  readonly product: Product;
  readonly #upArgs: readonly string[];

  private constructor(product: Product, upArgs: readonly string[]) {
    this.product = product;
    this.#upArgs = upArgs;
  }

  static async open(product: Product, upArgs: readonly string[] = []): Promise<Site> {
    const site = new Site(product, upArgs);
    await site.up();
    return site;
  }

  /** What the program said. */
  up(): Promise<string> {
    return this.machine.up(...this.#upArgs);
  }

  /** kill -9 of the control plane. */
  async killPlane(): Promise<void> {
    await this.machine.down('SIGKILL');
  }

  async end(): Promise<void> {
    await this.machine.end();
  }

  client(): Promise<KubeClient> {
    return this.machine.client();
  }

  async declare(name: string, spec: object): Promise<void> {
    const client = await this.client();
    await client
      .resource(redisClusters, NAMESPACE)
      .apply({ metadata: { name }, spec: { product: this.product, ...spec } } as never, {
        fieldManager: 'proof',
        force: true,
      });
  }

  /** With its data: it is a proof's own. */
  async remove(name: string): Promise<void> {
    const client = await this.client();
    await client.resource(redisClusters, NAMESPACE).delete(name);
    await until(`${name} is gone`, async () => (await this.podsOf(name)).length === 0, { timeoutMs: PATIENCE_MS });
  }

  async status(name: string): Promise<RedisClusterStatus> {
    const client = await this.client();
    return (await client.resource(redisClusters, NAMESPACE).get(name)).status ?? {};
  }

  /** Until it runs, nothing is being done to it, and it is what is asked for. */
  async settled(
    name: string,
    what: string,
    holds: (status: RedisClusterStatus) => boolean | Promise<boolean>,
    timeoutMs = PATIENCE_MS,
  ): Promise<RedisClusterStatus> {
    let last: RedisClusterStatus = {};
    try {
      await until(
        what,
        async () => {
          last = await this.status(name);
          return last.phase === 'Running' && last.currentOperation === undefined && (await holds(last));
        },
        { timeoutMs, everyMs: 100 },
      );
    } catch (error) {
      throw new Error(`${String(error)}\n${shortened(last)}`, { cause: error });
    }
    return last;
  }

  async task(name: string, spec: object): Promise<void> {
    const client = await this.client();
    await client.resource(redisTasks, NAMESPACE).create({ metadata: { name }, spec } as never);
  }

  async taskStatus(name: string): Promise<NonNullable<RedisTaskObject['status']>> {
    const client = await this.client();
    return (await client.resource(redisTasks, NAMESPACE).get(name)).status ?? {};
  }

  async taskEnded(name: string): Promise<NonNullable<RedisTaskObject['status']>> {
    return until(
      `task ${name} has ended`,
      async () => {
        const status = await this.taskStatus(name);
        return (status.phase === 'Succeeded' || status.phase === 'Failed') && status;
      },
      { timeoutMs: PATIENCE_MS, everyMs: 100 },
    );
  }

  async podsOf(name: string): Promise<readonly PodOnSite[]> {
    const client = await this.client();
    const { items } = await client.resource(pods, NAMESPACE).list({ labelSelector: `${CLUSTER_LABEL}=${name}` });
    return items;
  }

  async allPods(): Promise<readonly PodOnSite[]> {
    const client = await this.client();
    return (await client.resource(pods, NAMESPACE).list()).items;
  }

  async deletePod(name: string): Promise<void> {
    const client = await this.client();
    await client.resource(pods, NAMESPACE).delete(name);
  }

  /** What an event of this reason says of the cluster. */
  async eventOf(name: string, reason: string): Promise<string> {
    return until(
      `${reason} is told of ${name}`,
      async () => {
        const { items } = await (await this.client()).resource(events, NAMESPACE).list();
        const found = items.find((event) => event.regarding?.name === name && event.reason === reason);
        return found && `${reason}: ${found.note ?? ''}`;
      },
      { timeoutMs: PATIENCE_MS },
    );
  }

  async endpoints(name: string): Promise<readonly Endpoint[]> {
    return (await this.podsOf(name)).flatMap(({ status }) => (status?.podIP ? [endpointOf(status.podIP)] : []));
  }

  async access(name: string): Promise<Access> {
    const client = await this.client();
    const { data } = await client.resource(secrets, NAMESPACE).get(`${name}-auth`);
    return { password: Buffer.from(data?.password ?? '', 'base64').toString() };
  }

  /** The processes of servers, whatever pod they belong to. */
  servers(): readonly number[] {
    return this.machine.processes().filter((pid) => /^(?:valkey|redis)-server/.test(readOr(`/proc/${pid}/comm`)));
  }

  /** By the uid of the pod: who its shim says that it started, at the latest attempt. */
  processesOf({ metadata, spec, status }: PodOnSite): PodProcesses | undefined {
    const attempt = status?.containerStatuses?.[0]?.restartCount ?? 0;
    const run = join('containers', 'server', String(attempt));
    const folder = join(this.machine.data, 'nodes', spec?.nodeName ?? '', 'pods', metadata.uid, run);
    try {
      const [main, shim] = readFileSync(join(folder, 'main'), 'utf8')
        .split('\n')
        .map((line) => Number.parseInt(line, 10));
      return main && shim ? { main, shim } : undefined;
    } catch {
      return undefined; // it has not begun
    }
  }

  /** New with each start of a server. */
  async runIds(name: string): Promise<ReadonlyMap<string, string>> {
    const access = await this.access(name);
    const found = new Map<string, string>();
    for (const { metadata, status } of await this.podsOf(name)) {
      const connection = await connect(endpointOf(status?.podIP ?? ''), { ...access, connectTimeoutMs: 3_000 });
      const info = String(await connection.call('INFO', 'server'));
      connection.close();
      found.set(metadata.uid, /run_id:(\w+)/.exec(info)?.[1] ?? '');
    }
    return found;
  }

  /** Both judges; empty: nothing is amiss. Gossip gets a moment to settle. */
  async judge(name: string, acknowledged: ReadonlyMap<string, string>): Promise<readonly string[]> {
    const access = await this.access(name);
    let problems: readonly string[] = [];
    const isClean = async () => {
      const endpoints = await this.endpoints(name);
      problems = await invariants(endpoints, { replicasPerPrimary: 1, acknowledged, access });
      const check = await serverCheck(this.product, endpoints[0] as Endpoint, access);
      if (check.code !== 0) problems = [...problems, `${check.by} --cluster check: ${check.code}\n${check.output}`];
      return problems.length === 0;
    };
    await until('the judges are content', isClean, { timeoutMs: 60_000, everyMs: 500 }).catch((error: unknown) => {
      if (problems.length === 0) problems = [String(error)];
    });
    return problems.map((problem) => problem.slice(0, 4_000));
  }
}

export function endpointOf(host: string): Endpoint {
  return { host, port: PORT };
}

/** What a person would look at first. */
export function shortened(status: RedisClusterStatus): string {
  const { members: _members, ...rest } = status;
  const conditions = status.conditions?.filter(
    ({ type, status: is }) => (is === 'True') !== /Ready|Avail|Valid|Declared/.test(type),
  );
  return JSON.stringify({ ...rest, conditions }, undefined, 1).slice(0, 6_000);
}
