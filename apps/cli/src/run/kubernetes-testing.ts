/** A real Kubernetes for `reeve run`: what it is asked is written down, and who asks has the rights of the manifests and no others. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type AnyObject, type Connection, connect, resource, type Resource, systemKubePorts } from '@reeve/kube';
import { type Kube, REEVE, run, startKube, temporaryFolder } from '@reeve/rig';
import { kubeconfigText } from '../up/kubeconfig.ts';

const LIMIT_MS = 90_000;

/** One request as the server wrote it down. */
interface Asked {
  readonly verb: string;
  readonly user?: { readonly username?: string };
  readonly objectRef?: { readonly apiGroup?: string; readonly resource?: string; readonly subresource?: string };
  readonly requestURI?: string;
  readonly responseStatus?: { readonly code?: number };
}

export const core = (plural: string, kind: string): Resource<AnyObject> =>
  resource<AnyObject>({ group: '', version: 'v1', plural, kind, namespaced: true });

export class Cluster implements AsyncDisposable {
  readonly kube: Kube;
  readonly #folder: string;
  readonly #connection: Connection;
  readonly #processes: Running[] = [];

  private constructor(kube: Kube, folder: string, connection: Connection) {
    this.kube = kube;
    this.#folder = folder;
    this.#connection = connection;
  }

  static async start(): Promise<Cluster> {
    const folder = temporaryFolder('audit');
    chmodSync(folder, 0o755);
    const log = join(folder, 'log');
    mkdirSync(log);
    chmodSync(log, 0o777);
    const policy = join(folder, 'policy.json');
    const rules = [{ level: 'Metadata', omitStages: ['RequestReceived'] }];
    writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
    chmodSync(policy, 0o644);
    const kube = await startKube({
      controllerManager: true,
      apiserverArguments: [
        `--audit-policy-file=${policy}`,
        `--audit-log-path=${join(log, 'audit.log')}`,
        '--audit-log-mode=blocking',
        // As some distributions have it: whoever says that an owner must stay needs a right over that owner.
        '--enable-admission-plugins=OwnerReferencesPermissionEnforcement',
      ],
    });
    return new Cluster(kube, folder, await connect(systemKubePorts(), { file: kube.kubeconfig }));
  }

  of(kind: Resource<AnyObject>, namespace?: string) {
    return this.#connection.client.resource(kind, namespace);
  }

  /** A kubeconfig with a token of a service account: it has the rights that roles give it. `pod`: as one of its pods has it. */
  async asAccount(name: string, namespace: string, pod?: string): Promise<string> {
    const bound = pod === undefined ? [] : ['--bound-object-kind', 'Pod', '--bound-object-name', pod];
    const token = (await this.kube.kubectl(['create', 'token', name, '--namespace', namespace, ...bound])).trim();
    const file = join(this.#folder, `${namespace}-${name}-${pod ?? ''}.kubeconfig`);
    const ca = readFileSync(this.kube.caFile, 'utf8');
    writeFileSync(file, kubeconfigText({ url: this.kube.url, token, ca }), { mode: 0o600 });
    return file;
  }

  /** Everything that somebody asked of the server so far. */
  askedBy(username: string): readonly Asked[] {
    const file = join(this.#folder, 'log', 'audit.log');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    return lines.flatMap((line) => {
      if (!line.includes(username)) return [];
      const asked = JSON.parse(line) as Asked;
      return asked.user?.username === username ? [asked] : [];
    });
  }

  reeve(args: readonly string[], input = '') {
    return run(process.execPath, [REEVE, ...args], { timeoutMs: 60_000, input });
  }

  /** `reeve run`, until it is stopped. */
  async operators(kubeconfig: string, ...more: readonly string[]): Promise<Running> {
    const args = [REEVE, 'run', '--kubeconfig', kubeconfig, ...more];
    const running = new Running(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] }));
    this.#processes.push(running);
    await this.until('it listens', async () => running.port !== undefined || running.hasEnded);
    assert.ok(!running.hasEnded, running.text);
    return running;
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + LIMIT_MS;
    while (!(await holds())) {
      const said = this.#processes.map(({ text }) => text).join('\n---\n');
      if (Date.now() > end) assert.fail(`not reached: ${what}\n${said}`);
      await pause(100);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#processes) one.kill();
    this.#connection.close();
    await this.kube.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export class Running {
  text = '';
  hasEnded = false;
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown[]>;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#exit = once(child, 'exit');
    void this.#exit.then(() => {
      this.hasEnded = true;
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.text += text;
      });
    }
  }

  /** Of its health answers. */
  get port(): number | undefined {
    const port = /http:\/\/127\.0\.0\.1:(\d+)\/livez/.exec(this.text)?.[1];
    return port === undefined ? undefined : Number(port);
  }

  async health(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await fetch(`http://127.0.0.1:${this.port}${path}`);
    return { status: answer.status, text: await answer.text() };
  }

  /** In order. @returns its exit code. */
  async stop(): Promise<unknown> {
    this.#child.kill('SIGTERM');
    const [code] = await this.#exit;
    return code;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
