/**
 * The Redis operator as it runs in the manager, on the embedded API server in memory and simulated nodes, on a clock that moves when
 * told. What goes to the API server and comes from it is counted on the way.
 */
import { type KubeObject, resource } from '@reeve/kube';
import { redisClusterKind, type RedisClusterObject, redisOperator } from '@reeve/redis';
import { crdOf } from '@reeve/runtime';
import { Manager } from '@reeve/runtime/manager';
import { countingIds, noFiles, seededRandom, settled, unlimitedRates, VirtualClock } from '@reeve/runtime/testing';
import { ApiWorld, snapshotOf } from '@reeve/simulation/api';
import { type Counted, counting } from './count.ts';
import { hostOf, type SimulatedNodes, workerOf } from './nodes.ts';

const NAMESPACE = 'default';
const NAME = 'c';
const ZONES = 3;
/** Pods of one worker node. */
const PER_WORKER = 10;
const REVISION = 'c-1';
const MOST_STEPS = 600;

interface StatefulSet extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly generation?: number; readonly uid?: string };
  readonly spec?: { readonly selector: { readonly matchLabels: Readonly<Record<string, string>> } };
}

const core = { group: '', version: 'v1' } as const;
const pods = resource({ ...core, plural: 'pods', kind: 'Pod', namespaced: true });
const workers = resource({ ...core, plural: 'nodes', kind: 'Node', namespaced: false });
const sets = resource<StatefulSet>({
  group: 'apps',
  version: 'v1',
  plural: 'statefulsets',
  kind: 'StatefulSet',
  namespaced: true,
});
const clusters = resource<RedisClusterObject>(redisClusterKind);

export class ScalePlane implements AsyncDisposable {
  readonly counted: Counted = { requests: 0, sentBytes: 0, receivedBytes: 0 };
  readonly #clock: VirtualClock;
  readonly #api: ApiWorld;
  readonly #nodes: SimulatedNodes;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  private constructor(clock: VirtualClock, api: ApiWorld, nodes: SimulatedNodes) {
    this.#clock = clock;
    this.#api = api;
    this.#nodes = nodes;
  }

  /** Declares the cluster, gives each node a pod, and starts the operator. */
  static async open(nodes: SimulatedNodes): Promise<ScalePlane> {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const snapshot = await snapshotOf({ definitions: redisOperator.kinds.map((kind) => crdOf(kind as never)) });
    const api = await ApiWorld.open({ clock, random: seededRandom(1), snapshot });
    const plane = new ScalePlane(clock, api, nodes);
    await plane.#declare();
    plane.#start();
    await plane.until('the set is declared', () => plane.#set() !== undefined);
    // Who looks on while a thousand pods come looks a thousand times.
    await plane.#end();
    await plane.#givePods();
    plane.#start();
    return plane;
  }

  get #workers(): number {
    return ZONES * Math.ceil(this.#nodes.count / PER_WORKER / ZONES);
  }

  async #declare(): Promise<void> {
    const { client } = this.#api;
    for (let index = 0; index < this.#workers; index++) {
      const name = `worker-${index}`;
      const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': `zone-${index % ZONES}` };
      await client.resource(workers).create({ metadata: { name, labels } });
    }
    const spec = { primaries: this.#nodes.count / 2, replicasPerPrimary: 1 };
    await client.resource(clusters, NAMESPACE).create({ metadata: { name: NAME }, spec } as never);
  }

  #start(): void {
    this.#stop = new AbortController();
    const ports = { clock: this.#clock, random: seededRandom(2), ids: countingIds() };
    const manager = new Manager(ports, {
      name: 'operators',
      transport: counting(this.#api.transport, this.counted),
      budget: unlimitedRates,
    });
    const controllers = redisOperator.controllers(
      {
        ...ports,
        files: noFiles,
        newPassword: () => 'password',
        connect: () => this.#nodes.port,
      },
      {},
    );
    for (const one of controllers) manager.add(one);
    const { signal } = this.#stop;
    this.#running = manager.run(signal);
    this.#running.catch((error: unknown) => {
      // What it says about being ended in the middle of an operation is no news here.
      if (!signal.aborted) process.stderr.write(`${String(error)}\n`);
    });
  }

  /** As a StatefulSet controller and kubelets would have left them. */
  async #givePods(): Promise<void> {
    const { client } = this.#api;
    const set = this.#set();
    const { uid = '', generation = 1 } = set?.metadata ?? {};
    const labels = { ...set?.spec?.selector.matchLabels, 'controller-revision-hash': REVISION };
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: NAME, uid, controller: true };
    const api = client.resource(pods, NAMESPACE);
    const places = { count: this.#nodes.count, zones: ZONES, workers: this.#workers };
    for (let index = 0; index < this.#nodes.count; index++) {
      const name = `${NAME}-${index}`;
      const spec = {
        containers: [{ name: 'server', image: 'valkey' }],
        nodeName: `worker-${workerOf(index, places)}`,
      };
      await api.create({ metadata: { name, labels, ownerReferences: [owner] }, spec } as never);
      const status = { phase: 'Running', podIP: hostOf(index), conditions: [{ type: 'Ready', status: 'True' }] };
      await api.patch(name, { type: 'merge', value: { status } }, { subresource: 'status' });
    }
    const status = { replicas: this.#nodes.count, updateRevision: REVISION, observedGeneration: generation };
    await client.resource(sets, NAMESPACE).patch(NAME, { type: 'merge', value: { status } }, { subresource: 'status' });
  }

  #set(): StatefulSet | undefined {
    return this.#api.find<StatefulSet>('statefulsets.apps', NAMESPACE, NAME);
  }

  get cluster(): RedisClusterObject | undefined {
    return this.#api.find<RedisClusterObject>('redisclusters.redis.reeve.dev', NAMESPACE, NAME);
  }

  /** Virtual time passes, and everybody does what is due. */
  async pass(ms: number): Promise<void> {
    await this.#clock.advance(ms);
    await settled();
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    for (let step = 0; step < MOST_STEPS; step++) {
      if (holds()) return;
      await this.pass(1_000);
    }
    const { members: _members, currentOperation: _current, ...status } = this.cluster?.status ?? {};
    throw new Error(`not reached: ${what}: ${JSON.stringify(status).slice(0, 4_000)}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#end();
  }

  async #end(): Promise<void> {
    this.#stop.abort();
    await settled();
    await this.#clock.advance(60_000);
    await this.#running.catch(() => undefined);
  }
}
