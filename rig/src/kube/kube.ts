/** A real control plane on loopback: etcd, kube-apiserver and, if asked for, kube-controller-manager. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, type Program } from '../binaries/program.ts';
import { run } from '../binaries/run.ts';
import { freePort } from '../servers/ports.ts';
import { giveToServerUser, removeFolder, temporaryFolder } from '../servers/process.ts';
import { ask } from './ask.ts';
import { compactEtcd } from './etcd.ts';
import { apiserverFlags, controllerFlags, type EtcdFlags, etcdFlags } from './flags.ts';
import { Part, PartFailed } from './part.ts';
import { Authority, kubeconfigText, type Subject } from './pki.ts';
import { kubeProgram } from './programs.ts';

export interface KubeOptions {
  /**
   * Run kube-controller-manager too: garbage collection, namespaces, service accounts, Deployments, Jobs … Default false; then pods
   * can be created without a service account.
   */
  readonly controllerManager?: boolean;
  /** etcd syncs to disk before it answers. Default false: tests need no durability beyond a kill; benchmarks do. */
  readonly durable?: boolean;
  /** More flags for kube-apiserver; they come last. */
  readonly apiserverArguments?: readonly string[];
}

export interface Kube extends AsyncDisposable {
  /** `https://127.0.0.1:PORT`. */
  readonly url: string;
  /** Where etcd answers HTTP: metrics, health, JSON. */
  readonly etcdUrl: string;
  /** Of an administrator; 0600. */
  readonly kubeconfig: string;
  /** The certificate of the authority that both sides trust. */
  readonly caFile: string;
  readonly folder: string;
  /** From the call to the first good answer of /readyz (and of the controllers, if there are any). */
  readonly readyMs: number;
  readonly etcd: Part;
  readonly apiserver: Part;
  readonly controllerManager: Part | undefined;
  /** Runs kubectl as the administrator; throws what it complained about. */
  kubectl(
    args: readonly string[],
    options?: { readonly input?: string; readonly kubeconfig?: string },
  ): Promise<string>;
  /** A new user with a certificate of its own. Without groups it has no rights but those that roles give to its name. */
  user(subject: Pick<Subject, 'name' | 'groups' | 'days'>): Promise<KubeUser>;
  /** Forgets etcd's history; returns up to which version. What the API server has in memory it forgets at its next restart. */
  compact(): Promise<string>;
  /** Ends all processes and removes the folder. Once is enough, more do no harm. */
  stop(): Promise<void>;
}

export interface KubeUser {
  /** 0600, with everything in it. */
  readonly kubeconfig: string;
  readonly certFile: string;
  readonly keyFile: string;
}

const ATTEMPTS = 3;

export async function startKube(options: KubeOptions = {}): Promise<Kube> {
  if (!findOnPath('setpriv')) {
    throw new Error('setpriv (of util-linux) is not on PATH: without it servers would outlive a test that is killed');
  }
  const programs = {
    etcd: await kubeProgram('etcd'),
    apiserver: await kubeProgram('kube-apiserver'),
    ...(options.controllerManager ? { controllerManager: await kubeProgram('kube-controller-manager') } : {}),
  };
  for (let attempt = 1; ; attempt++) {
    const kube = new RunningKube(options, programs);
    try {
      await kube.start();
      return kube;
    } catch (error) {
      await kube.stop();
      if (attempt === ATTEMPTS || !(error instanceof PartFailed && error.isPortTaken)) throw error;
    }
  }
}

interface Programs {
  readonly etcd: Program;
  readonly apiserver: Program;
  readonly controllerManager?: Program;
}

class RunningKube implements Kube {
  readonly folder: string;
  readonly kubeconfig: string;
  url = '';
  etcdUrl = '';
  readyMs = 0;
  readonly #options: KubeOptions;
  readonly #programs: Programs;
  readonly #parts: Part[] = [];
  #authority: Authority | undefined;
  #users = 0;

  constructor(options: KubeOptions, programs: Programs) {
    this.#options = options;
    this.#programs = programs;
    this.folder = temporaryFolder('kube');
    this.kubeconfig = join(this.folder, 'admin.kubeconfig');
    giveToServerUser(this.folder);
  }

  get etcd(): Part {
    return this.#part(0);
  }

  get apiserver(): Part {
    return this.#part(1);
  }

  get controllerManager(): Part | undefined {
    return this.#parts[2];
  }

  get caFile(): string {
    return this.#pki.caFile;
  }

  async start(): Promise<void> {
    const started = performance.now();
    const ports = { clientPort: await freePort(), httpPort: await freePort(), peerPort: await freePort() };
    const port = await freePort();
    this.url = `https://127.0.0.1:${port}`;
    this.etcdUrl = `http://127.0.0.1:${ports.httpPort}`;
    // etcd and openssl do not wait for each other.
    const etcd = this.#startEtcd(ports);
    const prepared = this.#prepare(port, ports.clientPort);
    const [etcdEnded, preparedEnded] = await Promise.allSettled([etcd, prepared]);
    for (const ended of [etcdEnded, preparedEnded]) if (ended.status === 'rejected') throw ended.reason;
    const { startApiserver, startControllers } = await prepared;
    await startApiserver();
    // Not earlier: it ends when it finds no roles yet.
    await startControllers();
    this.readyMs = performance.now() - started;
  }

  async kubectl(
    args: readonly string[],
    { input, kubeconfig = this.kubeconfig }: { readonly input?: string; readonly kubeconfig?: string } = {},
  ): Promise<string> {
    const { command, name } = await kubeProgram('kubectl');
    const env = { KUBECONFIG: kubeconfig, KUBECACHEDIR: join(this.folder, 'kubectl') };
    const { code, stdout, stderr } = await run(command, args, { env, timeoutMs: 60_000, input: input ?? '' });
    if (code !== 0) throw new Error(`${name} ${args.join(' ')}: ${stderr.trim()}`);
    return stdout;
  }

  async user(subject: Pick<Subject, 'name' | 'groups' | 'days'>): Promise<KubeUser> {
    const kubeconfig = join(this.folder, `user-${++this.#users}.kubeconfig`);
    const { certFile, keyFile } = await this.#writeKubeconfig(kubeconfig, subject);
    return { kubeconfig, certFile, keyFile };
  }

  compact(): Promise<string> {
    return compactEtcd(this.etcdUrl);
  }

  async stop(): Promise<void> {
    // The last first: nobody complains about a server that is gone.
    for (const part of this.#parts.toReversed()) await part.kill9();
    removeFolder(this.folder);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #startEtcd(ports: Pick<EtcdFlags, 'clientPort' | 'httpPort' | 'peerPort'>): Promise<void> {
    const folder = this.#serverFolder('etcd');
    const args = etcdFlags({ folder, ...ports, isDurable: this.#options.durable ?? false });
    const health = `${this.etcdUrl}/health`;
    const part = this.#add('etcd', this.#programs.etcd, args, async () => {
      const { text } = await ask({ url: health });
      return text.includes('"health":"true"');
    });
    await part.start();
  }

  /** Keys, certificates and kubeconfigs; then what starts the servers with them. */
  async #prepare(port: number, etcdPort: number) {
    const folder = this.#serverFolder('pki');
    const authority = await Authority.make(folder);
    this.#authority = authority;
    const altNames = ['DNS:localhost', 'DNS:kubernetes.default.svc', 'IP:127.0.0.1', 'IP:10.96.0.1'];
    const admin = { name: 'rig-admin', groups: ['system:masters'] };
    const [serviceAccount, server, client] = await Promise.all([
      authority.serviceAccountKeys(),
      authority.sign({ name: 'kube-apiserver', altNames }),
      this.#writeKubeconfig(this.kubeconfig, admin),
    ]);
    const tls = { ca: authority.ca, cert: client.cert, key: client.key };
    const isReady = async () => (await ask({ url: `${this.url}/readyz`, tls })).status === 200;
    const apiserver = apiserverFlags({
      etcdPort,
      port,
      folder,
      caFile: authority.caFile,
      ...server,
      serviceAccount,
      hasControllers: this.#options.controllerManager ?? false,
      more: this.#options.apiserverArguments ?? [],
    });
    return {
      startApiserver: () => this.#add('kube-apiserver', this.#programs.apiserver, apiserver, isReady).start(),
      startControllers: async () => {
        const { controllerManager: program } = this.#programs;
        if (!program) return;
        const file = join(folder, 'controller-manager.kubeconfig');
        await this.#writeKubeconfig(file, { name: 'system:kube-controller-manager' });
        giveToServerUser(file);
        const { caFile, keyFile: caKeyFile } = authority;
        const serviceAccountKeyFile = serviceAccount.privateFile;
        const ownPort = await freePort();
        const args = controllerFlags({
          kubeconfig: file,
          port: ownPort,
          folder,
          caFile,
          caKeyFile,
          serviceAccountKeyFile,
        });
        // Its work is seen where it is done: the first thing that anybody waits for is a service account.
        const url = `${this.url}/api/v1/namespaces/default/serviceaccounts/default`;
        const works = async () => (await ask({ url, tls })).status === 200;
        await this.#add('kube-controller-manager', program, args, works).start();
      },
    };
  }

  #add(name: string, program: Program, args: readonly string[], isReady: () => Promise<boolean>): Part {
    const part = new Part({ program, args, folder: this.folder, logFile: join(this.folder, `${name}.log`), isReady });
    this.#parts.push(part);
    return part;
  }

  async #writeKubeconfig(file: string, subject: Subject) {
    const pair = await this.#pki.sign(subject);
    writeFileSync(file, kubeconfigText(this.url, this.#pki.ca, pair), { mode: 0o600 });
    return pair;
  }

  #serverFolder(name: string): string {
    const folder = join(this.folder, name);
    mkdirSync(folder, { mode: 0o700 });
    giveToServerUser(folder);
    return folder;
  }

  get #pki(): Authority {
    if (!this.#authority) throw new Error('the cluster was not started');
    return this.#authority;
  }

  #part(index: number): Part {
    const part = this.#parts[index];
    if (!part) throw new Error('the cluster was not started');
    return part;
  }
}
