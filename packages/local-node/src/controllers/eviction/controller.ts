/** Pods go from nodes whose `NoExecute` taints they do not tolerate: at once, or when the time is over for which they do. */
import { isKubeError, type Stored } from '@reeve/kube';
import { timestamp, type Verdict, wakeAt } from '@reeve/runtime';
import { Controller, type Parts, type Reconcile, type Reflection } from '@reeve/runtime/manager';
import { type Node, nodes, type Taint } from '../../kinds/node.ts';
import { type Pod, type PodCondition, pods } from '../../kinds/pod.ts';
import { BY_NODE, nodeIndex } from '../owned/by-node.ts';
import { expecting } from '../owned/expected.ts';
import { change, readLive } from '../owned/writes.ts';
import { expelling, stayOf } from './plan.ts';

const DISRUPTION = 'DisruptionTarget';

export class PodEvictor extends Controller<Pod> {
  #pods!: Reflection<Pod>;
  #nodes!: Reflection<Node>;
  /** By uid: since when it is known to be on a node that expels. Forgotten with the taints, and with the pod. */
  readonly #seen = new Map<string, number>();

  constructor() {
    super({ name: 'eviction' });
  }

  override setUp(parts: Parts): void {
    const queue = parts.queue('pods');
    this.#pods = parts.reflect(pods, {
      unscoped: true,
      indexes: { [BY_NODE]: nodeIndex },
      route: ({ spec, metadata }, { change: what, key }) => {
        if (what === 'removed') this.#seen.delete(metadata.uid);
        return what !== 'removed' && this.#taintsOf(spec?.nodeName).length > 0 ? { queue, key } : undefined;
      },
    });
    this.#nodes = parts.reflect(nodes, {
      route: ({ metadata, spec }, { previous }) => {
        const isOfInterest = [spec, previous?.spec].some((one) => expelling(one?.taints as Taint[]).length > 0);
        if (!isOfInterest) return undefined;
        const all = this.#pods.cache.byIndex(BY_NODE, metadata.name);
        return all.map((pod) => ({ queue, key: `${pod.metadata.namespace}/${pod.metadata.name}` }));
      },
    });
    const reconcile = expecting((work: Reconcile<Pod>) => this.#look(work));
    parts.work({ of: this.#pods, queues: [queue], cancelOn: false, reconcile });
  }

  #taintsOf(node: string | undefined): readonly Taint[] {
    return expelling(this.#nodes.cache.get(node ?? '')?.spec?.taints as Taint[] | undefined);
  }

  async #look(work: Reconcile<Pod>): Promise<Verdict | void> {
    const pod = work.object as Stored<Pod>;
    const { uid, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined) return;
    const goesAt = this.#goesAt(pod, this.#taintsOf(pod.spec?.nodeName), work.now());
    if (goesAt === undefined) return void this.#seen.delete(uid);
    if (goesAt > work.now()) return wakeAt(goesAt);
    const live = await readLive(work, this.#pods, pod);
    if (!live || live.metadata.deletionTimestamp !== undefined) return;
    // That the taint is still there is asked for live, too: it may have been taken away a moment ago.
    const node = await work.api.resource(nodes).find(live.spec?.nodeName ?? '', { signal: work.signal });
    const stillAt = this.#goesAt(live, expelling(node?.spec?.taints), work.now());
    if (stillAt === undefined || stillAt > work.now()) return;
    await this.#evict(work, live);
  }

  #goesAt(pod: Pod & { readonly metadata: { readonly uid: string } }, taints: readonly Taint[], now: number) {
    if (taints.length === 0) return undefined;
    const seenAt = this.#seen.get(pod.metadata.uid) ?? now;
    this.#seen.set(pod.metadata.uid, seenAt);
    const stay = stayOf(pod, taints, seenAt);
    return stay.type === 'stays' ? undefined : stay.at;
  }

  /** First why, for whoever counts how it ended. */
  async #evict(work: Reconcile<Pod>, pod: Stored<Pod>): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    work.events.normal('TaintManagerEviction', `Marking for deletion Pod ${namespace}/${name}`, 'Deleting');
    const disrupted: PodCondition = {
      type: DISRUPTION,
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: timestamp(work.now()),
    };
    const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== DISRUPTION);
    await change(work, this.#pods, pod, { status: { conditions: [...others, disrupted] } }, 'status');
    try {
      await work.api.resource(pods, namespace).delete(name, { uid, signal: work.signal });
    } catch (error) {
      if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }
}
