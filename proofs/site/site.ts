/** A declared Redis or Valkey cluster on `reeve up`, as proofs see it: through the API, its servers' own words, and the process table. */
import { readFileSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Machine, readOr } from '@reeve/cli/plane-testing';
import type { KubeClient } from '@reeve/kube';
import { CLUSTER_LABEL, type RedisClusterStatus, redisClusters, type RedisTaskObject, redisTasks } from '@reeve/redis';
import { type Access, connect, type Endpoint, type Product, until } from '@reeve/rig';
import { judge } from './judge.ts';
import { type ContainerOnSite, NAMESPACE, type PodOnSite, pods, secrets, storyOf, toldOf } from './kinds.ts';

const PORT = 6379;
export const PATIENCE_MS = 300_000;
const STORY_LINES = 40;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** A program of a pod, and the shim that waits for it: as the shim wrote it down. */
export interface PodProcesses {
  readonly main: number;
  readonly shim: number;
}

export type TaskStatus = NonNullable<RedisTaskObject['status']>;

export class Site {
  readonly machine = new Machine();
  readonly product: Product;
  readonly #upArgs: readonly string[];
  /** A proof that is stopped must leave no pods behind: they outlive whoever began them. */
  readonly #stopped = (): void => void this.end().finally(() => process.exit(130));

  private constructor(product: Product, upArgs: readonly string[]) {
    this.product = product;
    this.#upArgs = upArgs;
  }

  static async open(product: Product, upArgs: readonly string[] = []): Promise<Site> {
    const site = new Site(product, upArgs);
    for (const signal of SIGNALS) process.once(signal, site.#stopped);
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
    for (const signal of SIGNALS) process.off(signal, this.#stopped);
    await this.machine.end();
  }

  client(): Promise<KubeClient> {
    return this.machine.client();
  }

  async declare(name: string, spec: object): Promise<void> {
    const client = await this.client();
    // What somebody else runs is not ours to choose.
    const product = 'members' in spec ? {} : { product: this.product };
    await client
      .resource(redisClusters, NAMESPACE)
      .apply({ metadata: { name }, spec: { ...product, ...spec } } as never, { fieldManager: 'proof', force: true });
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

  async taskStatus(name: string): Promise<TaskStatus> {
    const client = await this.client();
    return (await client.resource(redisTasks, NAMESPACE).get(name)).status ?? {};
  }

  async taskEnded(name: string): Promise<TaskStatus> {
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
    return toldOf(await this.client(), name, reason, PATIENCE_MS);
  }

  /** For people who want to know how it came to this: what the operator told last, and what it thinks of the cluster. */
  async account(name: string): Promise<string> {
    const story = await storyOf(await this.client(), name);
    return [...story.slice(-STORY_LINES), shortened(await this.status(name))].join('\n');
  }

  async endpoints(name: string): Promise<readonly Endpoint[]> {
    return (await this.podsOf(name)).flatMap(({ status }) => (status?.podIP ? [endpointOf(status.podIP)] : []));
  }

  /** As `default`, by TLS if the cluster has it. */
  async access(name: string): Promise<Access> {
    const { password = '' } = await this.secret(`${name}-auth`);
    const { spec } = await (await this.client()).resource(redisClusters, NAMESPACE).get(name);
    const { mode = 'off', secretName = `${name}-tls` } = spec.tls ?? {};
    if (mode === 'off') return { password };
    const { 'ca.crt': ca = '', 'tls.crt': cert = '', 'tls.key': key = '' } = await this.secret(secretName);
    return { password, tls: { ca, cert, key } };
  }

  /** Its texts. */
  async secret(name: string): Promise<Readonly<Record<string, string>>> {
    const { data = {} } = await (await this.client()).resource(secrets, NAMESPACE).get(name);
    return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]));
  }

  async keepSecret(name: string, texts: Readonly<Record<string, string>>): Promise<void> {
    const data = Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    );
    const api = (await this.client()).resource(secrets, NAMESPACE);
    await api.apply({ metadata: { name }, data }, { fieldManager: 'proof', force: true });
  }

  async deleteSecret(name: string): Promise<void> {
    await (await this.client()).resource(secrets, NAMESPACE).delete(name);
  }

  /** The processes of servers, whatever pod they belong to. Those that bring their own C library are called after its loader. */
  servers(): readonly number[] {
    const isServer = (pid: number) => /^(?:valkey-server|redis-server|ld-linux)/.test(readOr(`/proc/${pid}/comm`));
    return this.machine.processes().filter(isServer);
  }

  /** The processes of agents: whoever started them has the same words in his own line, and is another program. */
  agents(): readonly number[] {
    const isAgent = (pid: number) => readOr(`/proc/${pid}/cmdline`).includes('\0agent\0redis\0');
    return this.machine.processes().filter((pid) => isAgent(pid) && programOf(pid) === basename(process.execPath));
  }

  /** Who its shim says that it started, at the latest attempt. */
  processesOf({ metadata, spec }: PodOnSite, { name, restartCount }: ContainerOnSite): PodProcesses | undefined {
    const run = join('containers', name, String(restartCount));
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

  /** Both judges; empty: nothing is amiss. */
  async judge(
    name: string,
    acknowledged: ReadonlyMap<string, string>,
    replicasPerPrimary = 1,
  ): Promise<readonly string[]> {
    const access = await this.access(name);
    const place = { product: this.product, access, endpoints: () => this.endpoints(name) };
    return judge(place, { acknowledged, replicasPerPrimary });
  }
}

export function endpointOf(host: string): Endpoint {
  return { host, port: PORT };
}

function programOf(pid: number): string {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`));
  } catch {
    return ''; // it has just ended
  }
}

/** What a person would look at first. */
export function shortened(status: RedisClusterStatus): string {
  const { members: _members, ...rest } = status;
  const conditions = status.conditions?.filter(
    ({ type, status: is }) => (is === 'True') !== /Ready|Avail|Valid|Declared/.test(type),
  );
  return JSON.stringify({ ...rest, conditions }, undefined, 1).slice(0, 6_000);
}
