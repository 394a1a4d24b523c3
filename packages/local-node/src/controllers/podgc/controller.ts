/**
 * Pods of nodes that are gone. Nobody will ever say how they ended, and what waits for that (a StatefulSet, a job) would wait for ever. A
 * node that is only late to register gets time; that it is gone is read live before anything is done.
 */
import { isKubeError, type Stored } from '@reeve/kube';
import { timestamp } from '@reeve/runtime';
import { Controller, type Parts, type Reconcile, type Reflection } from '@reeve/runtime/manager';
import { type Pod, type PodCondition, pods } from '../../kinds/pod.ts';
import { type Node, nodes } from '../../kinds/node.ts';
import { BY_NODE, nodeIndex } from '../owned/by-node.ts';
import { expecting } from '../owned/expected.ts';
import { isEnded } from '../owned/pod-state.ts';
import { change, readLive } from '../owned/writes.ts';

const QUARANTINE_MS = 40_000;

export class PodCollector extends Controller<Pod> {
  #pods!: Reflection<Pod>;
  #nodes!: Reflection<Node>;

  constructor() {
    super({ name: 'podgc' });
  }

  override setUp(parts: Parts): void {
    const queue = parts.queue('pods');
    const later = (key: string) => ({ queue, key, afterMs: QUARANTINE_MS });
    this.#nodes = parts.reflect(nodes, {
      route: ({ metadata }, { change: what }) => {
        if (what !== 'removed') return undefined;
        const left = this.#pods.cache.byIndex(BY_NODE, metadata.name);
        return left.map((pod) => later(`${pod.metadata.namespace}/${pod.metadata.name}`));
      },
    });
    this.#pods = parts.reflect(pods, {
      unscoped: true,
      indexes: { [BY_NODE]: nodeIndex },
      // Once it has a node, and again when a list finds it: what happened before this process began counts, too.
      route: (pod, { key, previous, change: what }) => {
        const isNews = what === 'added' || previous?.spec?.nodeName !== pod.spec?.nodeName;
        return isNews && what !== 'removed' && this.#isStranded(pod as Pod) ? later(key) : undefined;
      },
    });
    const reconcile = expecting((work: Reconcile<Pod>) => this.#collect(work));
    parts.work({ of: this.#pods, queues: [queue], cancelOn: false, reconcile });
  }

  #isStranded({ spec }: Pick<Pod, 'spec'>): boolean {
    const node = spec?.nodeName ?? '';
    return node !== '' && this.#nodes.cache.get(node) === undefined;
  }

  async #collect(work: Reconcile<Pod>): Promise<void> {
    if (!this.#isStranded(work.object as Pod)) return;
    const pod = await readLive(work, this.#pods, work.object);
    const node = pod?.spec?.nodeName ?? '';
    if (!pod || node === '') return;
    if (await work.api.resource(nodes).find(node, { signal: work.signal })) return;
    const failed = isEnded(pod) ? pod : await this.#fail(work, pod);
    const { name, namespace, uid } = failed.metadata;
    try {
      const options = { uid, gracePeriodSeconds: 0, signal: work.signal };
      await work.api.resource(pods, namespace).delete(name, options);
    } catch (error) {
      if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }

  /** First that it failed and why: whoever counts its outcome must find one. */
  async #fail(work: Reconcile<Pod>, pod: Stored<Pod>): Promise<Stored<Pod>> {
    const disrupted: PodCondition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      lastTransitionTime: timestamp(work.now()),
    };
    const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget');
    const status = { phase: 'Failed', conditions: [...others, disrupted] };
    return change(work, this.#pods, pod, { status }, 'status');
  }
}
