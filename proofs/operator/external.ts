/** Servers that somebody runs on hosts of his own, each with an agent beside it, as the members of a declared cluster. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { AgentProcess, PASSWORD } from '@reeve/cli/agent-testing';
import {
  type Access,
  type Certificates,
  type Cluster,
  type Endpoint,
  makeCertificates,
  REEVE,
  run,
  type Server,
  type ServerOptions,
  startServer,
  until,
} from '@reeve/rig';
import { judge } from '../site/judge.ts';
import { NAMESPACE } from '../site/kinds.ts';
import { PATIENCE_MS, type Site } from '../site/site.ts';
import { mainSpec, type Stage } from './stage.ts';
import { type Declaration, Subject } from './subject.ts';

const ZONES = ['a', 'b', 'c'];
export const ACCESS_SECRET = 'access-of-bare-servers';
export const TLS_SECRET = 'certificates-of-bare-servers';
/** As whom operator and agents come where nobody is let in without a name. */
export const OPERATOR = 'reeve';

/** How somebody runs his servers. */
export interface Manner {
  /** By TLS only, with a certificate; the user `default` is off. */
  readonly guarded?: boolean;
  /** Lines of an ACL file: who is let in beside the operator. */
  readonly users?: readonly string[];
  /** What servers tell each other can be cut off; nobody is called dead for it. */
  readonly cuttable?: boolean;
}

export class ExternalSubject extends Subject {
  readonly #manner: Manner;
  readonly #servers = new Map<string, Server>();
  readonly #agents = new Map<string, AgentProcess>();
  #certificates: Certificates | undefined;

  constructor(site: Site, declaration: Declaration, manner: Manner = {}) {
    super(site, declaration);
    this.#manner = manner;
  }

  /** So that the operator is let in. */
  async keepAccess(): Promise<void> {
    await this.site.keepSecret(ACCESS_SECRET, { password: PASSWORD });
    if (!this.#manner.guarded) return;
    const made = await makeCertificates();
    this.#certificates = made;
    await this.site.keepSecret(TLS_SECRET, { 'ca.crt': made.ca, 'tls.crt': made.cert, 'tls.key': made.key });
  }

  /** A server, its member and its agent, as docs/adopt-redis.md tells it. */
  async add(name: string): Promise<void> {
    const server = await startServer(this.#serverOptions());
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
    const where = ['--annotate', `zone=${zoneOf(name)}`, '--annotate', `host=${name}`];
    const args = ['--identity', this.#identity(name), ...where, ...this.#agentAccess()];
    this.#agents.set(name, new AgentProcess(args, {}));
  }

  async killAgent(name: string): Promise<void> {
    await this.#agents.get(name)?.end('SIGKILL');
    this.#agents.delete(name);
  }

  server(name: string): Server {
    const server = this.#servers.get(name);
    assert.ok(server, `${name} is there`);
    return server;
  }

  override get copySpec(): object {
    return mainSpec;
  }

  override async hostOfAPrimary(): Promise<string> {
    const { members = [] } = await this.site.status(this.name);
    return members.find(({ role }) => role === 'primary')?.pod ?? '';
  }

  override hostsOfZone(zone: string): Promise<readonly string[]> {
    return Promise.resolve([...this.#servers.keys()].filter((name) => zoneOf(name) === zone));
  }

  override async loseHosts(hosts: readonly string[]): Promise<number> {
    await Promise.all(hosts.flatMap((name) => [this.server(name).kill9(), this.killAgent(name)]));
    return hosts.length;
  }

  override async bringHostsBack(hosts: readonly string[]): Promise<void> {
    await Promise.all(hosts.map((name) => this.server(name).restart()));
    for (const name of hosts) this.startAgent(name);
  }

  /** Nobody starts them anew before it was noticed. */
  override async crash(members: readonly string[]): Promise<void> {
    await Promise.all(members.map((name) => this.server(name).kill9()));
    const isNoticed = async () => {
      const { conditions = [] } = await this.site.status(this.name);
      return conditions.some(({ type, status }) => type === 'Available' && status === 'False');
    };
    await until('it is noticed', isNoticed, { timeoutMs: PATIENCE_MS, everyMs: 100 });
    await Promise.all(members.map((name) => this.server(name).restart()));
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
    const { ca = '', cert = '', key = '' } = this.#certificates ?? {};
    const tls = this.#certificates && { tls: { ca, cert, key } };
    return Promise.resolve({ password: PASSWORD, ...tls, ...this.declaration.user });
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

  override cuttable(): Promise<Cluster> {
    assert.ok(this.#manner.cuttable);
    return this.cluster();
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

  #serverOptions(): ServerOptions {
    const { guarded, users = [], cuttable } = this.#manner;
    const own = [`user default off`, `user ${OPERATOR} on >${PASSWORD} ~* &* +@all`, ...users];
    return {
      product: this.site.product,
      password: PASSWORD,
      appendOnly: true,
      ...(guarded && { username: OPERATOR, users: own }),
      ...(this.#certificates && { tls: this.#certificates }),
      ...(cuttable && { busProxy: true, nodeTimeoutMs: 60_000 }),
    };
  }

  #agentAccess(): readonly string[] {
    if (!this.#certificates) return [];
    const { caFile, certFile, keyFile } = this.#certificates;
    return ['--user', OPERATOR, '--tls', '--cacert', caFile, '--cert', certFile, '--key', keyFile];
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

/** By its number, one after the other. */
export function zoneOf(name: string): string {
  return ZONES[Number(name.split('-').at(-1)) % ZONES.length] ?? '';
}

export function subjectOf({ subject }: Stage): ExternalSubject {
  assert.ok(subject instanceof ExternalSubject);
  return subject;
}
