/** Servers that somebody runs on hosts of his own, each with an agent beside it, as the members of a declared cluster. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { AgentProcess, PASSWORD } from '@reeve/cli/agent-testing';
import { type Access, type Cluster, type Endpoint, REEVE, run, type Server, startServer, until } from '@reeve/rig';
import { judge } from '../site/judge.ts';
import { NAMESPACE } from '../site/kinds.ts';
import { PATIENCE_MS } from '../site/site.ts';
import { Subject } from './subject.ts';

const ZONES = ['a', 'b', 'c'];
export const ACCESS_SECRET = 'access-of-bare-servers';

export class ExternalSubject extends Subject {
  readonly #servers = new Map<string, Server>();
  readonly #agents = new Map<string, AgentProcess>();

  /** So that the operator is let in. */
  async keepAccess(): Promise<void> {
    await this.site.keepSecret(ACCESS_SECRET, { password: PASSWORD });
  }

  /** A server, its member and its agent, as docs/adopt-redis.md tells it. */
  async add(name: string): Promise<void> {
    const server = await startServer({ product: this.site.product, password: PASSWORD, appendOnly: true });
    this.#servers.set(name, server);
    const { host, port } = server.endpoint;
    const where = ['--endpoint', `${host}:${port}`, '--out', this.#identity(name)];
    await this.#enroll(name, '--cluster', this.name, ...where);
    this.startAgent(name);
  }

  /** It belongs to no cluster any more. */
  async giveUp(name: string): Promise<void> {
    await this.killAgent(name);
    await this.#enroll(name, '--revoke', '--yes');
    await this.#servers.get(name)?.stop();
    this.#servers.delete(name);
  }

  startAgent(name: string): void {
    const zone = ZONES[Number(name.split('-').at(-1)) % ZONES.length] ?? '';
    const where = ['--annotate', `zone=${zone}`, '--annotate', `host=${name}`];
    this.#agents.set(name, new AgentProcess(['--identity', this.#identity(name), ...where], {}));
  }

  async killAgent(name: string): Promise<void> {
    await this.#agents.get(name)?.end('SIGKILL');
    this.#agents.delete(name);
  }

  /** Everything on it dies. */
  async loseHost(name: string): Promise<void> {
    await Promise.all([this.#servers.get(name)?.kill9(), this.killAgent(name)]);
  }

  async bringHostBack(name: string): Promise<void> {
    await this.#servers.get(name)?.restart();
    this.startAgent(name);
  }

  /** `True`: of some agent nothing is heard any more. */
  async untilAgentLost(wanted: 'True' | 'False'): Promise<void> {
    const isSo = async () => {
      const { conditions = [], phase } = await this.site.status(this.name);
      return phase === 'Running' && conditions.some(({ type, status }) => type === 'AgentLost' && status === wanted);
    };
    await until(`AgentLost is ${wanted}`, isSo, { timeoutMs: PATIENCE_MS, everyMs: 250 });
  }

  override async whole(primaries = 3, what = 'the cluster is whole'): Promise<void> {
    await this.site.settled(this.name, what, (status) => {
      const isRight = status.primaries === primaries && status.replicas === primaries && status.slots === 16_384;
      return isRight && status.members?.length === 2 * primaries;
    });
  }

  override endpoints(): Promise<readonly Endpoint[]> {
    return Promise.resolve([...this.#servers.values()].map(({ endpoint }) => endpoint));
  }

  override access(): Promise<Access> {
    return Promise.resolve({ password: PASSWORD });
  }

  override async cluster(): Promise<Cluster> {
    const servers = [...this.#servers.values()];
    const roles = await Promise.all(servers.map((server) => server.call('INFO', 'replication')));
    return {
      servers,
      primaries: servers.filter((_, index) => String(roles[index]).includes('role:master')),
      replicas: servers.filter((_, index) => String(roles[index]).includes('role:slave')),
      endpoints: await this.endpoints(),
      access: await this.access(),
      stop: () => Promise.resolve(),
    };
  }

  override async judge(): Promise<readonly string[]> {
    const place = { product: this.site.product, access: await this.access(), endpoints: () => this.endpoints() };
    return judge(place, { acknowledged: this.journal.expected, replicasPerPrimary: 1 });
  }

  override async end(): Promise<void> {
    for (const name of [...this.#agents.keys()]) await this.killAgent(name);
    for (const server of this.#servers.values()) await server.stop();
    this.#servers.clear();
  }

  #identity(name: string): string {
    return join(this.site.machine.data, '..', 'identities', name);
  }

  async #enroll(name: string, ...args: readonly string[]): Promise<void> {
    const kubeconfig = ['--kubeconfig', join(this.site.machine.data, 'kubeconfig')];
    const line = ['agent', 'enroll', name, ...args, '--namespace', NAMESPACE, ...kubeconfig];
    const { code, stderr } = await run(process.execPath, [REEVE, ...line], { timeoutMs: 60_000 });
    assert.equal(code, 0, stderr);
  }
}
