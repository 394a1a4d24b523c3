/** A control plane with a healthy pod on it, which is looked at all the time while others misbehave. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Machine } from '@reeve/cli/plane-testing';
import type { KubeClient } from '@reeve/kube';
import { until } from '@reeve/rig';
import { configMaps, NAMESPACE, type PodOnSite, pods, toldOf } from '../site/kinds.ts';

export const PATIENCE = { timeoutMs: 60_000 };
const HEALTHY = 'healthy';
const LOOK_EVERY_MS = 250;
/** An answer that takes longer is none: whoever asked has given up. */
const MOST_LOOK_MS = 10_000;

/** How the others fared meanwhile. */
export interface Looks {
  readonly count: number;
  /** The longest that a list of pods took. */
  readonly slowestMs: number;
  readonly problems: readonly string[];
}

export class Place {
  readonly machine: Machine;
  readonly #client: () => Promise<KubeClient>;
  #healthy = '';

  constructor(machine: Machine, client: () => Promise<KubeClient> = () => machine.client()) {
    this.machine = machine;
    this.#client = client;
  }

  client(): Promise<KubeClient> {
    return this.#client();
  }

  /** `more`: of the spec. */
  async create(name: string, command: readonly string[], more: object = {}, container: object = {}): Promise<void> {
    const api = (await this.client()).resource(pods, NAMESPACE);
    const containers = [{ name: 'main', image: 'host', command, ...container }];
    await api.create({ metadata: { name }, spec: { terminationGracePeriodSeconds: 2, containers, ...more } });
  }

  async pod(name: string): Promise<PodOnSite> {
    return (await this.client()).resource(pods, NAMESPACE).get(name);
  }

  async running(name: string): Promise<PodOnSite> {
    return until(
      `${name} runs`,
      async () => {
        const pod = await this.pod(name);
        return pod.status?.phase === 'Running' && pod;
      },
      PATIENCE,
    );
  }

  /** How long it took, in ms. */
  async remove(name: string): Promise<number> {
    const api = (await this.client()).resource(pods, NAMESPACE);
    const began = performance.now();
    await api.delete(name);
    await until(`${name} is gone`, async () => (await api.find(name)) === undefined, PATIENCE);
    return performance.now() - began;
  }

  /** The event of this reason about the pod, as people read it. */
  async event(name: string, reason: string): Promise<string> {
    return toldOf(await this.client(), name, reason, PATIENCE.timeoutMs);
  }

  /** A write, and whether it is there. */
  async write(name: string): Promise<void> {
    const api = (await this.client()).resource(configMaps, NAMESPACE);
    await api.create({ metadata: { name } });
    await api.get(name);
  }

  async isThere(name: string): Promise<boolean> {
    return (await (await this.client()).resource(configMaps, NAMESPACE).find(name)) !== undefined;
  }

  async startHealthy(): Promise<void> {
    await this.create(HEALTHY, ['sh', '-c', 'while :; do sleep 0.1; done']);
    this.#healthy = runOf(await this.running(HEALTHY));
  }

  /** The same run of the same pod, and the API answers. */
  async lookAround(): Promise<readonly string[]> {
    const pod = await this.pod(HEALTHY);
    if (pod.status?.phase !== 'Running' || runOf(pod) !== this.#healthy) {
      return [`the healthy pod was ${this.#healthy} and is ${runOf(pod)}, ${pod.status?.phase}`];
    }
    return [];
  }

  /** Looks at the others while something happens. */
  async during<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly looks: Looks }> {
    const problems: string[] = [];
    let count = 0;
    let slowestMs = 0;
    let isOver = false;
    const look = async () => {
      const began = performance.now();
      const seen = await this.lookAround().catch((error: unknown) => [`the API does not answer: ${String(error)}`]);
      const ms = performance.now() - began;
      problems.push(...seen, ...(ms > MOST_LOOK_MS ? [`the API took ${ms.toFixed(0)} ms to answer`] : []));
      slowestMs = Math.max(slowestMs, ms);
      count++;
    };
    const looking = (async () => {
      while (!isOver) {
        await look();
        await sleep(LOOK_EVERY_MS);
      }
    })();
    let value: T;
    try {
      value = await work();
    } finally {
      isOver = true;
      await looking;
    }
    await look(); // what it left behind
    return { value, looks: { count, slowestMs, problems } };
  }
}

function runOf({ metadata, status }: PodOnSite): string {
  const [container] = status?.containerStatuses ?? [];
  return `${metadata.uid} ${container?.containerID ?? ''} ${container?.restartCount ?? ''}`;
}
