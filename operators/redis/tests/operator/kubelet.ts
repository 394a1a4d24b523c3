/**
 * As much of a StatefulSet controller, a scheduler, a kubelet and a garbage collector as it takes to give each pod a modelled server. A pod that is deleted
 * comes back at another address; with a volume it is the same node again, without one a new one.
 */
import assert from 'node:assert/strict';
import { digest } from '@reeve/runtime';
import type { VirtualClock } from '@reeve/runtime/testing';
import type { ApiWorld } from '@reeve/simulation/api';
import type { ModelServer, RedisClusterModel } from '@reeve/simulation/redis';
import { type MemberObject, members, type Pod, pods, type StatefulSet, statefulSets } from '../../src/api/kinds.ts';
import { CLIENT_PORT } from '../../src/plan/children.ts';

export const NAMESPACE = 'ns';

interface Template {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: { readonly containers?: readonly { readonly image?: string }[] };
}

type PodStatus = NonNullable<Pod['status']>;

export class Kubelet {
  static readonly zones = ['a', 'b', 'c'];
  /** Told of each server that is started in a pod. */
  started: (pod: Pod, server: ModelServer) => void = () => undefined;
  /** Pods that are not started, by name; nothing is told of them. */
  readonly held = new Set<string>();
  /** The status of a pod whose containers do not start; undefined: they do. */
  ails: (pod: Pod) => PodStatus | undefined = () => undefined;
  /** What is told of a pod whose server runs: of other containers of it, too. */
  told: (pod: Pod, status: PodStatus) => PodStatus = (_pod, status) => status;
  readonly #api: ApiWorld;
  readonly #model: RedisClusterModel;
  readonly #clock: VirtualClock;
  /** By pod name: what its volume holds. */
  readonly #volumes = new Map<string, ModelServer>();
  readonly #running = new Map<string, { readonly uid: string; readonly server: ModelServer }>();
  /** By address: the password with which its server was started. Servers that nobody gave one let everybody in. */
  readonly #passwords = new Map<string, string>();
  #addresses = 0;

  constructor(api: ApiWorld, model: RedisClusterModel, clock: VirtualClock) {
    this.#api = api;
    this.#model = model;
    this.#clock = clock;
  }

  serverOf(pod: string): ModelServer {
    const running = this.#running.get(pod);
    assert.ok(running, `no server runs in ${pod}`);
    return running.server;
  }

  podOf(server: ModelServer): string | undefined {
    return [...this.#running].find(([, running]) => running.server === server)?.[0];
  }

  /** All servers that run in pods. */
  get servers(): readonly ModelServer[] {
    return [...this.#running.values()].map(({ server }) => server);
  }

  passwordAt(address: string): string | undefined {
    return this.#passwords.get(address);
  }

  /** Pods of every set, by their number, and a server in each. */
  async round(): Promise<void> {
    for (const set of this.#api.list<StatefulSet>('statefulsets.apps')) await this.#reconcile(set);
    for (const { metadata } of this.#api.list<Pod>('pods')) {
      if (!metadata?.deletionTimestamp) continue;
      await this.#api.client.resource(pods, NAMESPACE).delete(metadata.name ?? '', { gracePeriodSeconds: 0 });
    }
    const living = new Set(this.#api.list<Pod>('pods').map(({ metadata }) => metadata?.uid));
    for (const [name, { uid, server }] of [...this.#running]) {
      if (living.has(uid)) continue;
      this.#model.kill(server);
      this.#running.delete(name);
    }
    for (const { metadata } of this.#api.list<MemberObject>('members.agents.reeve.dev')) {
      const isGarbage = metadata.ownerReferences?.some(({ uid }) => !living.has(uid));
      if (isGarbage) await this.#api.client.resource(members, NAMESPACE).delete(metadata.name);
    }
    for (const pod of this.#api.list<Pod>('pods')) await this.#start(pod);
  }

  async #reconcile(set: StatefulSet): Promise<void> {
    const { name = '', uid = '', generation = 0 } = set.metadata ?? {};
    const api = this.#api.client.resource(pods, NAMESPACE);
    const revision = `${name}-${digest(set.spec?.template).slice(3)}`;
    const template = (set.spec?.template ?? {}) as Template;
    const own = this.#api
      .list<Pod>('pods')
      .filter(({ metadata }) => metadata?.ownerReferences?.some((owner) => owner.uid === uid));
    const wanted = set.spec?.replicas ?? 1;
    for (let ordinal = 0; ordinal < wanted; ordinal++) {
      if (own.some(({ metadata }) => metadata?.name === `${name}-${ordinal}`)) continue;
      const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true };
      const metadata = {
        name: `${name}-${ordinal}`,
        labels: { ...set.spec?.selector.matchLabels, 'controller-revision-hash': revision },
        annotations: template.metadata?.annotations ?? {},
        ownerReferences: [owner],
      };
      const spec = {
        containers: [
          { name: 'server', image: template.spec?.containers?.[0]?.image ?? 'valkey' },
          ...(template.spec?.containers ?? []).slice(1).map(({ image }) => ({ name: 'agent', image })),
        ],
        nodeName: `node-${Kubelet.zones[ordinal % Kubelet.zones.length]}`,
      };
      await api.create({ metadata, spec } as never);
    }
    for (const { metadata } of own) {
      const ordinal = Number(metadata?.name?.slice(name.length + 1));
      if (ordinal >= wanted) await api.delete(metadata?.name ?? '', { gracePeriodSeconds: 0 });
    }
    if (set.status?.updateRevision !== revision || set.status.observedGeneration !== generation) {
      const status = { replicas: wanted, updateRevision: revision, observedGeneration: generation };
      await this.#api.client
        .resource(statefulSets, NAMESPACE)
        .patch(name, { type: 'merge', value: { status } }, { subresource: 'status' });
    }
  }

  async #start(pod: Pod): Promise<void> {
    const { name = '', uid = '' } = pod.metadata ?? {};
    if (this.#running.has(name) || this.held.has(name)) return;
    const ailing = this.ails(pod);
    if (ailing) return this.tell(name, ailing);
    const host = `10.0.0.${++this.#addresses}`;
    const cluster = name.slice(0, name.lastIndexOf('-'));
    const set = this.#api.find<StatefulSet>('statefulsets.apps', NAMESPACE, cluster);
    const before = set?.spec?.volumeClaimTemplates === undefined ? undefined : this.#volumes.get(name);
    let server: ModelServer;
    if (before) {
      this.#model.network.move(before, host, CLIENT_PORT);
      before.restart(this.#clock.now());
      server = before;
    } else server = this.#model.addServer({ host, port: CLIENT_PORT });
    this.#volumes.set(name, server);
    this.#running.set(name, { uid, server });
    const secret = this.#api.find<{ readonly data?: Readonly<Record<string, string>> }>(
      'secrets',
      NAMESPACE,
      `${cluster}-auth`,
    )?.data?.['admin-password'];
    if (secret !== undefined) this.#passwords.set(`${host}:${CLIENT_PORT}`, Buffer.from(secret, 'base64').toString());
    this.started(pod, server);
    const status: PodStatus = {
      phase: 'Running',
      podIP: host,
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [{ name: 'server', restartCount: 0, state: { running: {} } }],
    };
    await this.tell(name, this.told(pod, status));
  }

  /** Changes the status of a pod. */
  async tell(pod: string, status: PodStatus): Promise<void> {
    await this.#api.client
      .resource(pods, NAMESPACE)
      .patch(pod, { type: 'merge', value: { status } }, { subresource: 'status' });
  }
}
