/** `reeve up` as a user has it: a process, a folder, a kubeconfig. Whatever its pods left is ended with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AnyObject, connect, type Connection, type KubeClient, resource, systemKubePorts } from '@reeve/kube';
import { freePort, pathWithBubblewrap, REEVE, temporaryFolder, until } from '@reeve/rig';
import { leaseKind } from '@reeve/runtime';

/** The best first, as a node chooses. */
export const DRIVERS = ['bwrap', 'unshare', 'plain'] as const;
export type DriverName = (typeof DRIVERS)[number];

export const NODES = 3;

/** It does not work on this machine, and said why. */
export class PlaneRefused extends Error {}

interface Node extends AnyObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

interface Lease extends AnyObject {
  readonly spec?: { readonly renewTime?: string };
}

const nodes = resource<Node>({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false });
const leases = resource<Lease>(leaseKind);

const PATIENCE = { timeoutMs: 60_000, everyMs: 5 };
const REFUSAL = 'NODE_OPTIONS';

export class Plane implements AsyncDisposable {
  readonly #folder: string;
  readonly #port: number;
  readonly #more: readonly string[];
  readonly #environment: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;
  #connection: Connection | undefined;
  #said = '';

  private constructor(folder: string, port: number, more: readonly string[], environment: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#port = port;
    this.#more = more;
    this.#environment = environment;
  }

  /** The port stays the same, so that the kubeconfig of one start is good for the next. */
  static async create(more: readonly string[] = []): Promise<Plane> {
    const environment = { ...process.env, PATH: await pathWithBubblewrap() };
    return new Plane(temporaryFolder('bench'), await freePort(), more, environment);
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get client(): KubeClient {
    if (!this.#connection) throw new Error('the control plane is not up');
    return this.#connection.client;
  }

  /** Of its pods: whatever has a cookie of this folder in its environment. */
  podPids(): readonly number[] {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && isOurs(pid, this.#data));
  }

  /** A place for files of pods, beside the data. */
  get scratch(): string {
    return join(this.#folder, 'scratch');
  }

  /** Milliseconds until it serves and all nodes have said that they are ready: anew, for the store remembers the last time. */
  async up(): Promise<number> {
    const began = performance.now();
    const beganAt = Date.now();
    this.#said = '';
    const args = ['up', '--data', this.#data, '--port', String(this.#port), '--nodes', String(NODES), ...this.#more];
    const child = spawn(process.execPath, [REEVE, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: this.#environment,
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
    }
    await Promise.race([
      until('the control plane is ready', () => this.#isReady(beganAt), PATIENCE),
      once(child, 'exit').then(() => Promise.reject(this.#ended())),
    ]);
    return performance.now() - began;
  }

  async down(): Promise<void> {
    this.#connection?.close();
    this.#connection = undefined;
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
    await until('nothing of its pods is left', () => this.#endPods() === 0, PATIENCE);
    // Its folder is removed when the bench ends: ext4 passes over inodes that were freed within the last minutes, one by one, and each
    // file that the next plane makes would cost ten times as much.
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  async #isReady(since: number): Promise<boolean> {
    this.#connection ??= await connect(systemKubePorts(), { file: join(this.#data, 'kubeconfig') });
    const all = (await this.client.resource(nodes).list()).items;
    const isEachReady = all.every(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    );
    if (all.length < NODES || !isEachReady) return false;
    const held = (await this.client.resource(leases, 'kube-node-lease').list()).items;
    return held.filter(({ spec }) => Date.parse(spec?.renewTime ?? '') >= since).length >= NODES;
  }

  #ended(): Error {
    const said = this.#said.trim();
    return said.includes(REFUSAL) ? new PlaneRefused(said.split('\n')[0]) : new Error(`reeve up ended:\n${said}`);
  }

  /** Kills what its pods are. Returns how many processes there were. */
  #endPods(): number {
    const ours = this.podPids();
    for (const pid of ours) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // it has just ended
      }
    }
    return ours.length;
  }
}

function isOurs(pid: number, data: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`REEVE_COOKIE=${data}/`);
  } catch {
    return false; // it has just ended, or is somebody else's
  }
}
