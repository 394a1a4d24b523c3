/** Servers that somebody runs, with agents, and a control plane that manages them: what docs/adopt-redis.md tells. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type KubeObject, resource } from '@reeve/kube';
import { type RedisClusterStatus, redisClusters, type RedisTaskObject, redisTasks } from '@reeve/redis';
import { type Finished, REEVE, run, type Server, until } from '@reeve/rig';
import { AgentProcess, PASSWORD } from '../src/agent/site-testing.ts';
import { Machine } from '../src/up/plane-testing.ts';

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const secrets = resource<Secret>({ group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true });
const PATIENCE = { timeoutMs: 240_000 };
const NAMESPACE = 'default';
const NAME = 'cache';
const APPLY = { fieldManager: 'test', force: true };

export class ExternalSite {
  readonly machine: Machine;
  readonly servers = new Map<string, Server>();
  readonly #agents = new Map<string, AgentProcess>();

  private constructor(machine: Machine) {
    this.machine = machine;
  }

  static of(t: TestContext): ExternalSite {
    const site = new ExternalSite(Machine.start(t));
    t.after(() => site.end());
    return site;
  }

  /** Everything of this test that is no pod. */
  async end(): Promise<void> {
    for (const agent of this.#agents.values()) await agent.end('SIGKILL');
    for (const server of this.servers.values()) await server.stop();
  }

  async secret(name: string, texts: Readonly<Record<string, string>>): Promise<void> {
    const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')] as const);
    const client = await this.machine.client();
    const wanted = { metadata: { name }, data: Object.fromEntries(data) };
    await client.resource(secrets, NAMESPACE).apply(wanted as never, APPLY);
  }

  /** With the Secret `access`, which has the password. */
  async declare(spec: object): Promise<void> {
    await this.secret('access', { password: PASSWORD });
    const client = await this.machine.client();
    await client.resource(redisClusters, NAMESPACE).apply({ metadata: { name: NAME }, spec } as never, APPLY);
  }

  async patch(spec: object): Promise<void> {
    const client = await this.machine.client();
    await client.resource(redisClusters, NAMESPACE).patch(NAME, { type: 'merge', value: { spec } });
  }

  /** Makes the member of a server that runs. */
  async enroll(name: string, server: Server): Promise<void> {
    this.servers.set(name, server);
    const { host, port } = server.endpoint;
    const enrolled = await this.reeve(
      ...['agent', 'enroll', name, '--cluster', NAME, '--endpoint', `${host}:${port}`],
      ...['--out', this.#identity(name), '--namespace', NAMESPACE],
    );
    assert.equal(enrolled.code, 0, enrolled.stderr);
  }

  startAgent(name: string, ...args: readonly string[]): void {
    this.#agents.set(name, new AgentProcess(['--identity', this.#identity(name), ...args], {}));
  }

  async killAgent(name: string): Promise<void> {
    await this.#agents.get(name)?.end('SIGKILL');
  }

  get said(): string {
    return [...this.#agents].map(([name, { said }]) => `${name}: ${said}`).join('\n');
  }

  async status(): Promise<RedisClusterStatus> {
    const client = await this.machine.client();
    return (await client.resource(redisClusters, NAMESPACE).get(NAME)).status ?? {};
  }

  async until(what: string, holds: (status: RedisClusterStatus) => boolean): Promise<RedisClusterStatus> {
    let last: RedisClusterStatus = {};
    try {
      await until(
        what,
        async () => {
          last = await this.status();
          return holds(last);
        },
        { ...PATIENCE, everyMs: 250 },
      );
    } catch (error) {
      const seen = { ...last, conditions: last.conditions?.filter(({ status }) => status === 'True') };
      throw new Error(`${String(error)}\n${JSON.stringify(seen, undefined, 1)}\n${this.said}`, { cause: error });
    }
    return last;
  }

  async task(name: string, spec: object): Promise<void> {
    const client = await this.machine.client();
    const tasks = client.resource(redisTasks, NAMESPACE);
    await tasks.create({ metadata: { name }, spec: { cluster: NAME, ...spec } } as never);
    const ended = await until(
      `${name} has ended`,
      async () => {
        const { status } = (await tasks.get(name)) as RedisTaskObject;
        return /Succeeded|Failed/.test(status?.phase ?? '') && status;
      },
      { ...PATIENCE, everyMs: 250 },
    );
    assert.equal(ended.phase, 'Succeeded', JSON.stringify(ended));
  }

  endpoints(...without: readonly string[]) {
    return [...this.servers].filter(([name]) => !without.includes(name)).map(([, { endpoint }]) => endpoint);
  }

  /** A command line as the administrator has it. */
  reeve(...args: readonly string[]): Promise<Finished> {
    const line = [REEVE, ...args, '--kubeconfig', join(this.machine.data, 'kubeconfig')];
    return run(process.execPath, line, { timeoutMs: 60_000 });
  }

  #identity(name: string): string {
    return join(this.machine.data, '..', 'identities', name);
  }
}

export function isRunning({ phase, currentOperation }: RedisClusterStatus): boolean {
  return phase === 'Running' && currentOperation === undefined;
}
