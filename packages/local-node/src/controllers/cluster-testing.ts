/**
 * A cluster in memory for tests of controllers: the embedded API server, a manager, a clock that moves when told, and a kubelet that
 * does no more than write statuses as the test says.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import {
  type AnyObject,
  type KubeClient,
  type KubeObject,
  type Resource,
  resource,
  type Stored,
  type Transport,
} from '@reeve/kube';
import { timestamp } from '@reeve/runtime';
import { Manager, type Runnable } from '@reeve/runtime/manager';
import { countingIds, seededRandom, settled, unlimitedRates, VirtualClock } from '@reeve/runtime/testing';
import { ApiWorld, type Snapshot, snapshotOf } from '@reeve/simulation/api';
import { type Pod, pods } from '../kinds/pod.ts';
import { kubeletTurn, ready, type Says } from './kubelet-testing.ts';

export { ended, ready } from './kubelet-testing.ts';

const nodes = resource<AnyObject>({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false });
const events = resource<AnyObject>({
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
});

type Controllers = readonly Runnable[] | ((manager: Manager, cluster: Cluster) => readonly Runnable[] | void);

export interface ClusterOptions {
  readonly controllers: Controllers;
  readonly snapshot?: Snapshot;
  /** Status of a pod that has a node, as the kubelet sees it; undefined: it says nothing yet. Default: running and ready. */
  readonly kubelet?: Says;
  /** Without a scheduler, pods get a node by the kubelet. Default true. */
  readonly places?: boolean;
}

export const START_MS = Date.parse('2026-01-01T00:00:00Z');

export class Cluster {
  readonly clock = new VirtualClock(START_MS);
  readonly lines: string[] = [];
  /** What the kubelet says of pods; a test may change it at any time. */
  kubelet: Says;
  /** Around all requests of the manager that is started next. */
  wire: (transport: Transport) => Transport = (transport) => transport;
  /** Pods that ignore that they are being deleted, by name. */
  readonly stubborn = new Set<string>();
  readonly #options: ClusterOptions;
  #api: ApiWorld | undefined;
  #stop: AbortController | undefined;
  #running: Promise<void> | undefined;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.kubelet = options.kubelet ?? ready;
  }

  static async start(t: TestContext, options: ClusterOptions): Promise<Cluster> {
    const cluster = new Cluster(options);
    await cluster.open();
    t.after(() => cluster.end());
    return cluster;
  }

  async open(): Promise<void> {
    const snapshot = this.#options.snapshot ?? (await snapshotOf({ namespaces: ['ns'] }));
    const onError = (error: unknown) => void this.lines.push(`SERVER ${String(error)}`);
    this.#api = await ApiWorld.open({ clock: this.clock, random: seededRandom(1), snapshot, onError });
    this.startManager();
  }

  get api(): ApiWorld {
    assert.ok(this.#api);
    return this.#api;
  }

  startManager(controllers: Controllers = this.#options.controllers): void {
    const manager = new Manager(
      { clock: this.clock, random: seededRandom(2), ids: countingIds() },
      {
        name: 'controllers',
        transport: this.wire(this.api.transport),
        budget: unlimitedRates,
        log: (message, fields) => void this.lines.push(`${message} ${JSON.stringify(fields)}`),
      },
    );
    const all = typeof controllers === 'function' ? controllers(manager, this) : controllers;
    for (const one of all ?? []) manager.add(one);
    this.#stop = new AbortController();
    this.#running = manager.run(this.#stop.signal);
  }

  async stopManager(): Promise<void> {
    this.#stop?.abort();
    await settle();
    await this.clock.advance(40_000);
    await this.#running;
  }

  async end(): Promise<void> {
    await this.stopManager();
    const bugs = this.lines.filter((line) => line.includes('"INTERNAL"') || line.startsWith('SERVER'));
    assert.deepEqual(bugs, []);
  }

  of<T extends KubeObject>(kind: Resource<T>, namespace = 'ns') {
    return this.api.client.resource(kind, kind.namespaced ? namespace : undefined);
  }

  async pods(): Promise<readonly Stored<Pod>[]> {
    return (await this.of(pods).listAll()).items;
  }

  async addNode(name: string, more: object = {}, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    const metadata = { name, labels: { 'kubernetes.io/hostname': name, ...labels } };
    const status = { allocatable: { cpu: '4', memory: '8Gi', pods: '110' } };
    const node = { metadata, ...more } as AnyObject;
    await this.of(nodes).create(node);
    await this.of(nodes).patch(name, { type: 'merge', value: { status } }, { subresource: 'status' });
  }

  async events(): Promise<readonly { readonly reason: string; readonly note: string }[]> {
    return (await this.of(events).listAll()).items as unknown as { reason: string; note: string }[];
  }

  /** Lets controllers and kubelet run, by turns, until the condition holds. */
  async until(what: string, holds: () => Promise<boolean> | boolean, mostMs = 60_000): Promise<void> {
    const end = this.clock.now() + mostMs;
    for (let step = 50; this.clock.now() <= end; step = Math.min(step * 1.02, 1_000)) {
      await settle();
      if (await holds()) return;
      await this.turn();
      await this.clock.advance(Math.round(step));
    }
    assert.fail(`not reached: ${what}\n${this.lines.slice(-30).join('\n')}`);
  }

  /** Lets everything run for so long. */
  async run(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    const step = Math.max(50, Math.floor(ms / 40));
    while (this.clock.now() < end) {
      await settle();
      await this.turn();
      await this.clock.advance(step);
    }
    await settle();
  }

  /** One turn of the kubelet over all pods. */
  turn(): Promise<void> {
    const { stubborn, kubelet: says } = this;
    const place = this.#options.places === false ? undefined : byUpdate;
    return kubeletTurn(this.api.client, timestamp(this.clock.now()), { says, stubborn, place });
  }
}

/** As the embedded server has it: there are no bindings. */
function byUpdate(client: KubeClient, { metadata: { name, namespace = '' } }: Stored<Pod>): Promise<unknown> {
  const value = { spec: { nodeName: 'node-a' } };
  return client.resource(pods, namespace).patch(name, { type: 'merge', value });
}

/** The process dies at its n-th write: before it arrives, or before its answer does. */
export function dyingAt(count: number, isDone: boolean) {
  let writes = 0;
  const wire =
    (transport: Transport): Transport =>
    async (request) => {
      const isWrite = request.method !== 'GET' && !request.path.includes('/events');
      if (isWrite) writes++;
      if (writes < count) return transport(request);
      if (writes === count && isWrite && isDone) await transport(request);
      throw new Error('dead');
    };
  return { wire, isDead: () => writes >= count };
}

export async function settle(): Promise<void> {
  for (let i = 0; i < 12; i++) await settled();
}
