/** A local node on an API server in this process, on this machine. Whatever it started is ended with the test. */
import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { AccessControl, ApiServer, listen, memoryJournal, type SigningKey, signingKey, Store } from '@reeve/embedded';
import { KubeClient, type Stored, type Transport } from '@reeve/kube';
import { systemPorts } from '@reeve/runtime';
import { kubeEvents, Manager } from '@reeve/runtime/manager';
import { addControlPlane, controlPlaneBudget, PROVISIONER, systemDirectories } from '../controllers/index.ts';
import { detectDrivers } from '../driver/detect.ts';
import type { Driver } from '../driver/driver.ts';
import { plainDriver } from '../driver/plain.ts';
import { systemHost } from '../host/system-host.ts';
import { hostImages } from '../image/images.ts';
import { type Pod, type PodSpec, pods } from '../kinds/pod.ts';
import { storageClasses } from '../kinds/volumeclaim.ts';
import { COOKIE } from '../shim/runs.ts';
import { AddressPool } from './addresses.ts';
import type { NodeFacts } from './facts.ts';
import { LocalNode, type LocalNodeOptions } from './local-node.ts';

/** Of whoever may do everything on the scene's server. */
export const TOKEN = 'token-of-root';

export const PATIENCE_MS = 20_000;
const POLL_MS = 10;

/** The first value that is not undefined or false. No event is relied upon. */
export async function eventually<T>(
  look: () => Promise<T> | T,
  what: string,
  patienceMs = PATIENCE_MS,
): Promise<NonNullable<T>> {
  const { clock } = systemPorts;
  const until = clock.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== null && seen !== false) return seen;
    assert.ok(clock.now() < until, `not within ${patienceMs} ms: ${what}`);
    await clock.sleep(POLL_MS);
  }
}

/** What a node does for real, by name: the part of the scenario suite that needs a node. */
export type NodeScenarios = Readonly<Record<string, (t: TestContext) => Promise<void>>>;

export interface RunningNode {
  readonly node: LocalNode;
  /** Ends the node, not its pods. */
  stop(): Promise<void>;
}

export class NodeScene {
  readonly client: KubeClient;
  readonly transport: Transport;
  readonly folder: string;
  readonly host = systemHost(process.env.PATH);
  readonly lines: string[] = [];
  readonly #server: ApiServer;
  readonly #running = new Set<RunningNode>();
  readonly #endings: (() => Promise<unknown>)[] = [];

  private constructor(server: ApiServer, folder: string) {
    const transport = server.transport();
    this.#server = server;
    this.transport = transport;
    this.folder = folder;
    this.client = new KubeClient({ ...systemPorts, transport });
  }

  static async open(t: TestContext): Promise<NodeScene> {
    const { clock, random } = systemPorts;
    const folder = await mkdtemp(join(tmpdir(), 'reeve-node-'));
    const store = await Store.open({ journal: memoryJournal(), clock });
    const root = { token: TOKEN, user: { name: 'root', groups: ['system:masters'] } };
    const access = new AccessControl({ store, clock, random, keys: [newKey()], tokens: [root] });
    const server = await ApiServer.open({ store, clock, random, access });
    const scene = new NodeScene(server, folder);
    t.after(async () => {
      await scene.#close();
      server.close();
      access[Symbol.dispose]();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    });
    return scene;
  }

  async start(
    options: Partial<LocalNodeOptions> = {},
    facts: Partial<NodeFacts> = {},
    clock = systemPorts.clock,
  ): Promise<RunningNode> {
    const node = await this.openNode(options, facts, clock);
    const manager = new Manager({ ...systemPorts, clock }, this.#managed('test')).add(node);
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    const scene = this.#running;
    const one: RunningNode = {
      node,
      async stop() {
        scene.delete(one);
        stop.abort();
        await running;
      },
    };
    scene.add(one);
    return one;
  }

  /** A node that no manager runs. */
  openNode(
    options: Partial<LocalNodeOptions> = {},
    facts: Partial<NodeFacts> = {},
    clock = systemPorts.clock,
  ): Promise<LocalNode> {
    const name = facts.name ?? 'here';
    return LocalNode.open(
      { ...systemPorts, clock, host: this.host },
      {
        folder: join(this.folder, name),
        transport: this.transport,
        addresses: new AddressPool(this.host.files, systemPorts.random, join(this.folder, 'addresses')),
        images: hostImages,
        drivers: [plainDriver] as [Driver],
        sandboxRemedy: 'install bubblewrap',
        ...options,
        facts: {
          name,
          labels: {},
          taints: [],
          capacity: { cpu: '4', memory: '4Gi', pods: '110' },
          address: '127.0.0.1',
          apiServer: undefined,
          hostPathRoots: [],
          ...facts,
        },
      },
    );
  }

  /** The best driver that works on this machine, then the others. */
  async drivers(): Promise<readonly [Driver, ...Driver[]]> {
    const ports = { clock: systemPorts.clock, host: this.host };
    return (await detectDrivers(ports, join(this.folder, 'try'))).drivers;
  }

  /** Where claims of the class `local` have their folders. */
  get volumes(): string {
    return join(this.folder, 'volumes');
  }

  /** Controllers and scheduler, and a class of storage, beside the node. */
  async startControlPlane(): Promise<void> {
    const { clock } = systemPorts;
    const manager = new Manager(systemPorts, { ...this.#managed('control-plane'), budget: controlPlaneBudget });
    addControlPlane(manager, { clock, client: this.client, directories: systemDirectories(this.volumes) });
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    await this.client.resource(storageClasses).create({
      metadata: { name: 'local', annotations },
      provisioner: PROVISIONER,
      volumeBindingMode: 'WaitForFirstConsumer',
      reclaimPolicy: 'Retain',
    });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    this.atEnd(async () => {
      stop.abort();
      await running;
    });
  }

  #managed(name: string) {
    const log = (message: string, fields: object) => void this.lines.push(`${message} ${JSON.stringify(fields)}`);
    return { name, transport: this.transport, log };
  }

  create(name: string, spec: Partial<PodSpec>, metadata: Pod['metadata'] = {}): Promise<Stored<Pod>> {
    const containers = (spec.containers ?? []).map((one) => ({ image: 'host', ...one }));
    const inits = spec.initContainers?.map((one) => ({ image: 'host', ...one }));
    return this.client.resource(pods, 'default').create({
      metadata: { ...metadata, name },
      spec: { nodeName: 'here', ...spec, containers, ...(inits && { initContainers: inits }) },
    });
  }

  find(name: string): Promise<Stored<Pod> | undefined> {
    return this.client.resource(pods, 'default').find(name);
  }

  /** What was said about the objects of the scene: reason and note. */
  async events(): Promise<readonly string[]> {
    const { items } = await this.client.resource(kubeEvents, 'default').list();
    return items.map(({ reason, note }) => `${reason}: ${note}`);
  }

  async logOf(node: LocalNode, pod: string, container?: string): Promise<string> {
    const chunks: Uint8Array[] = [];
    const { signal } = new AbortController();
    for await (const chunk of node.logs({ namespace: 'default', pod, ...(container && { container }) }, { signal }))
      chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  async delete(name: string, gracePeriodSeconds?: number): Promise<void> {
    await this.client
      .resource(pods, 'default')
      .delete(name, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds });
  }

  /** The pod once it is as wanted; what it was like instead is told when it never is. */
  async until(
    name: string,
    is: (pod: Stored<Pod>) => boolean,
    what: string,
    patienceMs?: number,
  ): Promise<Stored<Pod>> {
    let last: Stored<Pod> | undefined;
    try {
      return await eventually(
        async () => {
          last = await this.find(name);
          return last && is(last) ? last : undefined;
        },
        what,
        patienceMs,
      );
    } catch (error) {
      throw new Error(`${what}\n${JSON.stringify(last?.status, undefined, 1)}\n${this.lines.join('\n')}`, {
        cause: error,
      });
    }
  }

  ready(name: string, patienceMs?: number): Promise<Stored<Pod>> {
    return this.until(name, isReady, `${name} is ready`, patienceMs);
  }

  async gone(name: string): Promise<void> {
    await eventually(async () => (await this.find(name)) === undefined, `${name} is gone`);
  }

  /** Processes of this scene's pods, shims included. Programs that give themselves a title write over their environment. */
  processes(): readonly number[] {
    const { processes } = this.host;
    const isOurs = (pid: number) =>
      processes.environment(pid)?.[COOKIE]?.startsWith(this.folder) === true ||
      folderOf(pid).startsWith(`${this.folder}/`);
    return processes
      .all()
      .filter(({ pid, isZombie }) => !isZombie && isOurs(pid))
      .map(({ pid }) => pid);
  }

  /** All of them at once, as far as they are still there. */
  killAll(): void {
    for (const pid of this.processes()) {
      const row = this.host.processes.find(pid);
      if (row) this.host.processes.signal(row, 'SIGKILL');
    }
  }

  /** For nodes in processes of their own. */
  async serve(): Promise<URL> {
    const listener = await listen({ handle: (request) => this.#server.handle(request) });
    this.#endings.push(() => listener.close());
    return listener.url;
  }

  /** Done when the test is over, before processes are looked for. */
  atEnd(ending: () => Promise<unknown>): void {
    this.#endings.push(ending);
  }

  async #close(): Promise<void> {
    for (const ending of this.#endings.reverse()) await ending();
    for (const one of this.#running) await one.stop();
    await eventually(() => {
      this.killAll();
      return this.processes().length === 0;
    }, 'no process is left');
  }
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return ''; // it has just ended, or is not ours
  }
}

function newKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return signingKey(createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }))) as SigningKey;
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
}
