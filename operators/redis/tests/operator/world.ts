/**
 * The operator in a world of memory: the embedded API server, modelled servers, a clock that moves when told, and pods whose servers
 * come and go (`kubelet.ts`).
 */
import assert from 'node:assert/strict';
import { type KubeObject, type Resource, type Transport, type TransportRequest } from '@reeve/kube';
import { crdOf, memberKind, memberWritePolicy, ReeveError } from '@reeve/runtime';
import { type KubeEvent, kubeEvents, Manager } from '@reeve/runtime/manager';
import { noFiles, seededRandom, settled, unlimitedRates, VirtualClock } from '@reeve/runtime/testing';
import { ApiWorld, snapshotOf } from '@reeve/simulation/api';
import { type ModelServer, RedisClusterModel } from '@reeve/simulation/redis';
import { type RedisCluster, redisClusterKind, type RedisClusterStatus } from '../../src/api/cluster.ts';
import {
  admissionPolicies,
  admissionPolicyBindings,
  type Pod,
  pods,
  redisClusters,
  redisTasks,
  secrets,
  type RedisTaskObject,
  type StatefulSet,
  workerNodes,
} from '../../src/api/kinds.ts';
import type { RedisPort } from '../../src/api/port.ts';
import { redisTaskKind } from '../../src/api/task.ts';
import { type DryRun, type DryRunPorts, planCluster, planTask } from '../../src/controllers/dry-run/dry-run.ts';
import { redisOperator } from '../../src/controllers/operator.ts';
import { modelPort, type ScheduledCall } from '../model-port.ts';
import { MemoryBackups, modelSnapshots, mortalStore } from './backups.ts';
import { plainCertificates } from './certificates.ts';
import { edited } from './edited-body.ts';
import { LOOKS } from './looks.ts';
import { closable } from './closable.ts';
import { Kubelet, NAMESPACE } from './kubelet.ts';

export { NAMESPACE } from './kubelet.ts';

const snapshot = snapshotOf({
  namespaces: [NAMESPACE],
  definitions: [crdOf(redisClusterKind), crdOf(redisTaskKind), crdOf(memberKind)],
});

export class OperatorWorld {
  readonly clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly lines: string[] = [];
  readonly model: RedisClusterModel;
  /** The operator dies with its next effect but so many: a write to the API, or a call to a server. It is then started anew. */
  diesAfter = Number.POSITIVE_INFINITY;
  /** It dies with the first write to the API of which this holds. */
  diesWith: (request: TransportRequest) => boolean = () => false;
  /** What else happens in the moment in which it dies. */
  died: () => void = () => undefined;
  /** Only what changes something is an effect: whoever dies between two looks has left what he left before them. */
  looksCount = true;
  /** Before it happens, or when it has happened and nobody heard of it. Default: by turns. */
  deathComes: 'before' | 'after' | 'by turns' = 'by turns';
  /** Effects of all operators. */
  effects = 0;
  deaths = 0;
  /** Kinds of calls that operators made to servers themselves. */
  readonly asked = new Set<string>();
  /** As Prometheus reads them. */
  metrics: () => string = () => '';
  readonly kubelet: Kubelet;
  /** Addresses that operators do not reach, whoever else does. */
  readonly hidden = new Set<string>();
  /** Writes to the API that fail. */
  failsOn: (request: TransportRequest) => boolean = () => false;
  /** Kinds of calls that servers deny operators. */
  denies: (label: string) => boolean = () => false;
  /** What operators read of what servers say. */
  disguised: (reply: string) => string = (reply) => reply;
  /** What operators are shown of a cluster in lists and watches, whatever the server has: their caches lag. Undefined: what it has. */
  stale: RedisCluster | undefined;
  /** The fingerprint that the server at an address shows. Undefined: that of what its Secret has. */
  shows: (host: string) => string | undefined = () => undefined;
  readonly backups = new MemoryBackups();
  /** Of the operator of now. */
  connections: ReadonlySet<RedisPort> = new Set();
  readonly #api: ApiWorld;
  #replaced = 0;
  #ids = 0;
  #stop: AbortController | undefined;
  #managed: Promise<void> | undefined;

  private constructor(api: ApiWorld, clock: VirtualClock) {
    this.clock = clock;
    this.#api = api;
    this.model = new RedisClusterModel({
      random: seededRandom(3),
      now: () => clock.now(),
      flavour: 'valkey9',
      persistence: true,
      allowReplicaMigration: false,
      nodeTimeoutMs: 2_000,
    });
    this.kubelet = new Kubelet(api, this.model, clock);
  }

  /** @param t tells when it is to end: a test, or whoever plays one life after the other. */
  static async start(t: { after(ending: () => Promise<void>): void }): Promise<OperatorWorld> {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const errors: unknown[] = [];
    const api = await ApiWorld.open({
      clock,
      random: seededRandom(1),
      snapshot: await snapshot,
      onError: (error) => void errors.push(error),
    });
    const world = new OperatorWorld(api, clock);
    for (const zone of Kubelet.zones) {
      const labels = { 'kubernetes.io/hostname': `node-${zone}`, 'topology.kubernetes.io/zone': zone };
      const name = `node-${zone}`;
      const nodes = api.client.resource(workerNodes);
      await nodes.create({ metadata: { name, labels } });
      const ready = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
      const value = { status: { conditions: [ready] } };
      await nodes.patch(name, { type: 'merge', value }, { subresource: 'status' });
    }
    await world.installAgentPolicy();
    world.startManager();
    t.after(async () => {
      await world.stopManager();
      assert.deepEqual(errors, []);
      assert.deepEqual(
        world.lines.filter((line) => line.includes('"INTERNAL"')),
        [],
      );
    });
    return world;
  }

  /** For whoever else lives in this world: agents. */
  get api(): ApiWorld {
    return this.#api;
  }

  /** As an administrator does. */
  async installAgentPolicy(): Promise<void> {
    const kinds = [admissionPolicies, admissionPolicyBindings];
    for (const manifest of memberWritePolicy()) {
      const kind = kinds.find((one) => one.kind === manifest.kind);
      assert.ok(kind);
      await this.#api.client.resource(kind as Resource<KubeObject>).create(manifest as never);
    }
  }

  startManager(): void {
    const ids = { next: (prefix: string) => `${prefix}-${++this.#ids}` };
    const base = { clock: this.clock, random: seededRandom(2), ids };
    const life = { isDead: false };
    const manager = new Manager(base, {
      name: 'operators',
      transport: this.#mortal(life),
      budget: unlimitedRates,
      log: (message, fields) => void this.lines.push(`${message} ${JSON.stringify(fields)}`),
    });
    let passwords = 0;
    const connections = new Set<RedisPort>();
    this.connections = connections;
    const controllers = redisOperator.controllers(
      {
        ...base,
        files: noFiles,
        newPassword: () => `password-${this.#ids}-${++passwords}`,
        certificates: plainCertificates(ids, (host) => this.shows(host)),
        backups: {
          store: mortalStore(this.backups, () => this.#survives(life, false)),
          snapshotsOf: () => modelSnapshots(this.model),
        },
        connect: ({ password = '' }) =>
          closable(
            modelPort(this.model, async (call) => {
              this.asked.add(call.label);
              this.#letIn(call.detail.split(' ', 1)[0] ?? '', password);
              if (this.denies(call.label)) throw new ReeveError('REDIS_REPLY', `NOPERM no right to ${call.label}`);
              return this.#mortalCall(life, call);
            }),
            connections,
          ),
      },
      { metrics: manager.measures.registry },
    );
    for (const one of controllers) manager.add(one);
    this.metrics = () => manager.metrics();
    this.#stop = new AbortController();
    this.#managed = manager.run(this.#stop.signal);
    // A killed manager ends with an error, and nobody waits for it.
    this.#managed.catch(() => undefined);
  }

  #letIn(address: string, password: string): void {
    if (this.hidden.has(address)) {
      throw new ReeveError('REDIS_UNREACHABLE', `there is no way to ${address}`, { subjects: [address] });
    }
    const expected = this.kubelet.passwordAt(address);
    if (expected === undefined || expected === password) return;
    throw new ReeveError('REDIS_AUTH', `${address} did not let us in`, { subjects: [address] });
  }

  /** Before it happens, or the moment after: nobody hears of it. */
  #survives(life: { isDead: boolean }, isLook: boolean): boolean {
    if (life.isDead) return false;
    if (isLook && !this.looksCount) return true;
    this.effects++;
    if (this.diesAfter-- > 0) return true;
    life.isDead = true;
    this.diesAfter = Number.POSITIVE_INFINITY;
    this.deaths++;
    return false;
  }

  get #happensAtDeath(): boolean {
    return this.deathComes === 'by turns' ? this.deaths % 2 === 0 : this.deathComes === 'after';
  }

  async #mortalCall<T>(life: { isDead: boolean }, call: ScheduledCall<T>): Promise<T> {
    if (life.isDead) return never();
    if (this.#survives(life, LOOKS.has(call.label))) {
      const reply = call.apply();
      return (typeof reply === 'string' ? this.disguised(reply) : reply) as T;
    }
    if (this.#happensAtDeath) {
      try {
        call.apply();
      } catch {
        // Nobody hears of that either.
      }
    }
    this.died();
    return never();
  }

  #mortal(life: { isDead: boolean }): Transport {
    const { transport } = this.#api;
    return async (request) => {
      if (life.isDead) return never();
      const isWrite = request.method !== 'GET';
      if (isWrite && this.diesWith(request)) this.diesAfter = 0;
      if (isWrite && this.failsOn(request)) throw new ReeveError('KUBE_UNREACHABLE', 'the server does not answer');
      if (isWrite && !this.#survives(life, false)) {
        if (this.#happensAtDeath) await transport(request);
        this.died();
        return never();
      }
      const answer = await transport(request);
      if (life.isDead) return never();
      const isOfClusters = request.method === 'GET' && /\/redisclusters(?:\?|$)/.test(request.path);
      return isOfClusters ? { ...answer, body: edited(answer.body, (text) => this.#asOfThen(text)) } : answer;
    };
  }

  /** Of a list or of the events of a watch, a JSON document on each line. */
  #asOfThen(text: string): string {
    const { stale } = this;
    if (!stale) return text;
    const show = (_name: string, value: unknown): unknown => {
      const { metadata, spec } = (value ?? {}) as Partial<RedisCluster>;
      return spec !== undefined && metadata?.uid === stale.metadata?.uid ? stale : value;
    };
    return JSON.stringify(JSON.parse(text, show));
  }

  /** Starts a successor for one that died. */
  #replaceDead(): void {
    if (this.deaths === this.#replaced) return;
    this.#replaced = this.deaths;
    this.#stop?.abort();
    this.startManager();
  }

  /** In good order. */
  async stopManager(): Promise<void> {
    this.#stop?.abort();
    await settled();
    await this.clock.advance(60_000);
    // One that died and has no successor yet never ends.
    if (this.deaths === this.#replaced) await this.#managed?.catch(() => undefined);
  }

  async create(name: string, spec: Partial<RedisCluster['spec']> = {}): Promise<void> {
    await this.#api.client
      .resource(redisClusters, NAMESPACE)
      .create({ metadata: { name }, spec: { primaries: 3, ...spec } } as never);
  }

  async patch(name: string, value: object): Promise<void> {
    await this.#api.client.resource(redisClusters, NAMESPACE).patch(name, { type: 'merge', value });
  }

  async task(name: string, spec: object): Promise<void> {
    await this.#api.client.resource(redisTasks, NAMESPACE).create({ metadata: { name }, spec } as never);
  }

  async deleteTask(name: string): Promise<void> {
    await this.#api.client.resource(redisTasks, NAMESPACE).delete(name);
  }

  taskStatus(name: string): RedisTaskObject['status'] {
    return this.#api.find<RedisTaskObject>('redistasks.redis.reeve.dev', NAMESPACE, name)?.status;
  }

  cluster(name: string): RedisCluster | undefined {
    return this.#api.find<RedisCluster>('redisclusters.redis.reeve.dev', NAMESPACE, name);
  }

  status(name: string): RedisClusterStatus {
    return this.cluster(name)?.status ?? {};
  }

  set(name: string): StatefulSet | undefined {
    return this.#api.find<StatefulSet>('statefulsets.apps', NAMESPACE, name);
  }

  secret(name: string): Readonly<Record<string, string>> | undefined {
    return this.#api.find<{ readonly data?: Readonly<Record<string, string>> }>('secrets', NAMESPACE, name)?.data;
  }

  async deleteSecret(name: string): Promise<void> {
    await this.#api.client.resource(secrets, NAMESPACE).delete(name);
  }

  /** What would be done next, by somebody who only looks; nothing that he sends to a server or to the API may change anything. */
  async plan(name: string): Promise<DryRun> {
    const cluster = await this.#api.client.resource(redisClusters, NAMESPACE).get(name);
    return planCluster(this.#onlooker(), cluster as never);
  }

  /** Of a task that is there, or would be. */
  async planTask(name: string, spec: RedisTaskObject['spec']): Promise<DryRun> {
    const cluster = await this.#api.client.resource(redisClusters, NAMESPACE).get(spec.cluster);
    const task = await this.#api.client.resource(redisTasks, NAMESPACE).find(name);
    const wanted = task ?? { metadata: { name, namespace: NAMESPACE }, spec };
    return planTask(this.#onlooker(), cluster as never, wanted as never);
  }

  #onlooker(): DryRunPorts {
    const ids = { next: () => assert.fail('nothing is begun') };
    return {
      client: this.#api.client,
      ports: { clock: this.clock, random: seededRandom(4), ids, files: noFiles },
      connect: () => modelPort(this.model),
      signal: new AbortController().signal,
    };
  }

  async reasons(): Promise<readonly string[]> {
    return (await this.events()).map(({ reason }) => reason);
  }

  async events(): Promise<readonly KubeEvent[]> {
    return (await this.#api.client.resource(kubeEvents, NAMESPACE).listAll()).items;
  }

  serverOf(pod: string): ModelServer {
    return this.kubelet.serverOf(pod);
  }

  get pods(): readonly Pod[] {
    return this.#api.list<Pod>('pods');
  }

  get podUids(): readonly string[] {
    return this.pods.map(({ metadata }) => metadata?.uid ?? '');
  }

  /** All servers that run in pods. */
  get servers(): readonly ModelServer[] {
    return this.kubelet.servers;
  }

  async delete(name: string): Promise<void> {
    await this.#api.client.resource(redisClusters, NAMESPACE).delete(name);
  }

  async deletePod(name: string): Promise<void> {
    await this.#api.client.resource(pods, NAMESPACE).delete(name, { gracePeriodSeconds: 0 });
  }

  /** Lets everybody run, by turns, until the condition holds. */
  async until(what: string, holds: () => boolean, mostMs = 300_000): Promise<void> {
    const end = this.clock.now() + mostMs;
    while (this.clock.now() <= end) {
      await settled();
      if (holds()) return;
      this.#replaceDead();
      await this.kubelet.round();
      await this.clock.advance(250);
      this.model.sync();
    }
    const seen = this.#api
      .list<RedisCluster>('redisclusters.redis.reeve.dev')
      .map(({ status }) => ({ ...status, members: undefined, operations: status?.operations?.slice(0, 3) }));
    assert.fail(`not reached: ${what}\n${JSON.stringify(seen, undefined, 1)}\n${this.lines.slice(-20).join('\n')}`);
  }

  /** Lets everybody run for so long. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    await this.until(`${ms} ms pass`, () => this.clock.now() >= end);
  }
}

/** What a dead process waits for. */
function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
