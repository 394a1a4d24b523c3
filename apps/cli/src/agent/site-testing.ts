/** A site for the real tests: an API server over TLS in this process, servers and agents as processes of their own. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AccessControl, ApiServer, listen, memoryJournal, signingKey, Store } from '@reeve/embedded';
import {
  type AnyObject,
  connect,
  type Connection,
  type KubeClient,
  type KubeObject,
  resource,
  systemKubePorts,
} from '@reeve/kube';
import { type Finished, makeCertificates, REEVE, run, temporaryFolder, until } from '@reeve/rig';
import { crdOf, type Member, memberKind } from '@reeve/runtime';

const ROOT = 'the-token-of-an-administrator';
export const NAMESPACE = 'shop';
/** Of the servers. */
export const PASSWORD = 'a-password-that-nobody-may-see';

const core = (plural: string, kind: string) =>
  resource<AnyObject>({ group: '', version: 'v1', plural, kind, namespaced: false });
const definitions = resource<AnyObject>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});
export const members = resource<Member & KubeObject>(memberKind);

/** Everything below a folder that is gone afterwards. */
export class Site implements AsyncDisposable {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly admin: KubeClient;
  readonly #address: Address;
  readonly #closing: AsyncDisposableStack;

  private constructor(folder: string, address: Address, admin: KubeClient, closing: AsyncDisposableStack) {
    this.folder = folder;
    this.kubeconfig = join(folder, 'admin');
    this.#address = address;
    this.admin = admin;
    this.#closing = closing;
  }

  static async open(): Promise<Site> {
    await using closing = new AsyncDisposableStack();
    const { clock, random } = systemKubePorts();
    const key = signingKey(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey);
    assert.ok(key);
    const store = await Store.open({ journal: memoryJournal(), clock });
    closing.defer(() => store.close());
    const tokens = [{ token: ROOT, user: { name: 'root', groups: ['system:masters'] } }];
    const access = closing.use(new AccessControl({ store, clock, random, keys: [key], tokens }));
    const server = await ApiServer.open({ store, clock, random, access });
    closing.defer(() => server.close());
    await access.install(server.transport());
    const { ca, cert, key: secret } = await makeCertificates();
    const handle: Parameters<typeof listen>[0]['handle'] = (request, certificate) =>
      server.handle(request, certificate);
    const listener = closing.use(await listen({ handle, tls: { cert, key: secret } }));

    const folder = temporaryFolder('reeve-agent');
    const kubeconfig = join(folder, 'admin');
    const address: Address = { server: listener.url.origin, ca };
    writeFileSync(kubeconfig, configText(address, ROOT), { mode: 0o600 });
    const connection = closing.use(await connect(systemKubePorts(), { file: kubeconfig }));
    const { client } = connection;
    await client.resource(core('namespaces', 'Namespace')).create({ metadata: { name: NAMESPACE } });
    await client.resource(definitions).create(crdOf(memberKind) as unknown as AnyObject);
    await until('members are served', () => client.resource(members, NAMESPACE).list());
    return new Site(folder, address, client, closing.move());
  }

  get members() {
    return this.admin.resource(members, NAMESPACE);
  }

  identity(member: string): string {
    return join(this.folder, member);
  }

  /** The client of somebody who has nothing but an identity. */
  async as(member: string): Promise<Connection> {
    return this.#closing.use(
      await connect(systemKubePorts(), { file: join(this.identity(member), 'kubeconfig'), retries: 0 }),
    );
  }

  /** `reeve agent enroll …`, as an administrator runs it. */
  enroll(...args: readonly string[]): Promise<Finished> {
    const line = ['agent', 'enroll', ...args, '--namespace', NAMESPACE, '--kubeconfig', this.kubeconfig];
    return run(process.execPath, [REEVE, ...line], { timeoutMs: 60_000 });
  }

  /** The agent of an enrolled member. */
  startAgent(member: string, ...args: readonly string[]): AgentProcess {
    return this.start(['--identity', this.identity(member), ...args]);
  }

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): AgentProcess {
    return this.#closing.use(new AgentProcess(args, env));
  }

  /** A kubeconfig with this token and nothing else. */
  configFor(token: string): string {
    const file = join(this.folder, 'of-a-pod');
    writeFileSync(file, configText(this.#address, token), { mode: 0o600 });
    return file;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closing.disposeAsync();
  }
}

/** `reeve agent redis …`. */
export class AgentProcess implements AsyncDisposable {
  said = '';
  readonly #process: ChildProcess;

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    this.#process = spawn(process.execPath, [REEVE, 'agent', 'redis', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, REEVE_REDIS_PASSWORD: PASSWORD, ...env },
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.said += text));
    }
  }

  /** Its exit code; null when a signal ended it. */
  async end(signal?: NodeJS.Signals): Promise<number | null> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return exitCode;
    const ended = once(this.#process, 'exit') as Promise<[number | null]>;
    if (signal) this.#process.kill(signal);
    return (await ended)[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL');
  }
}

interface Address {
  readonly server: string;
  readonly ca: string;
}

function configText({ server, ca }: Address, token: string): string {
  const authority = Buffer.from(ca).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'site', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: 'somebody', user: { token } }],
    contexts: [{ name: 'site', context: { cluster: 'site', user: 'somebody' } }],
    'current-context': 'site',
  });
}
