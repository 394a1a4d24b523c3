/**
 * The scheduler: gives every pod without a node one that it fits on. One pod after the other, because each takes room that the next one
 * does not have; what fits nowhere says why and waits until nodes, pods or claims change.
 */
import type { Stored } from '@reeve/kube';
import { type DeepReadonly, timestamp, type Verdict } from '@reeve/runtime';
import { Controller, type Parts, type Reconcile, type Reflection } from '@reeve/runtime/manager';
import { expecting } from '../controllers/owned/expected.ts';
import { change } from '../controllers/owned/writes.ts';
import { type Namespace, namespaces } from '../kinds/namespace.ts';
import { type Pod, type PodCondition, type PodSpec, pods } from '../kinds/pod.ts';
import {
  defaultClassName,
  SELECTED_NODE,
  type StorageClass,
  storageClasses,
  type Volume,
  type VolumeClaim,
  volumeClaims,
  volumes,
} from '../kinds/volumeclaim.ts';
import { type Choice, choose } from './choose.ts';
import { type ClaimView, type ClusterView, isPlaced } from './cluster.ts';
import { type Node, nodes } from '../kinds/node.ts';

type SeenPod = DeepReadonly<Stored<Pod>>;

const UNSCHEDULED = 'reeve/unscheduled';
const topology: readonly string[] = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];
const DEFAULT_SCHEDULER = 'default-scheduler';
const GATED = 'Scheduling is blocked due to non-empty scheduling gates';

/** Ours, without a node, and not on its way out. */
function isWaiting({ spec, metadata, status }: SeenPod): boolean {
  if ((spec?.nodeName ?? '') !== '' || metadata.deletionTimestamp !== undefined) return false;
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false;
  return (spec?.schedulerName ?? DEFAULT_SCHEDULER) === DEFAULT_SCHEDULER;
}

function unscheduledIndex(pod: SeenPod): readonly string[] {
  return isWaiting(pod) ? ['all'] : [];
}

export class Scheduler extends Controller<Pod> {
  #pods!: Reflection<Pod>;
  #nodes!: Reflection<Node>;
  #claims!: Reflection<VolumeClaim>;
  #volumes!: Reflection<Volume>;
  #classes!: Reflection<StorageClass>;
  #namespaces!: Reflection<Namespace>;

  constructor() {
    super({ name: 'scheduler' });
  }

  override setUp(parts: Parts): void {
    const queue = parts.queue('default');
    this.#pods = parts.reflect(pods, {
      unscoped: true,
      indexes: { [UNSCHEDULED]: unscheduledIndex },
      route: (pod, { change: what, key, previous }) => {
        const own = isWaiting(pod) || isTold(pod) ? [{ queue, key }] : [];
        // Room that was taken or given back concerns all who wait.
        const isNews = what !== 'changed' || previous === undefined || isPlaced(pod) !== isPlaced(previous);
        const others = isNews && !isWaiting(pod) ? this.#waiting().map((one) => ({ queue, key: one })) : [];
        return [...own, ...others];
      },
    });
    const all = () => this.#waiting();
    this.#nodes = parts.wake(nodes, this.#pods, all);
    this.#claims = parts.wake(volumeClaims, this.#pods, all);
    this.#volumes = parts.wake(volumes, this.#pods, all);
    this.#classes = parts.wake(storageClasses, this.#pods, all);
    this.#namespaces = parts.reflect(namespaces);
    parts.work({
      of: this.#pods,
      queues: [queue],
      reconcile: expecting((work: Reconcile<Pod>) => this.#schedule(work)),
      cancelOn: false,
    });
  }

  #waiting(): readonly string[] {
    return this.#pods.cache.byIndex(UNSCHEDULED, 'all').map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  }

  async #schedule(work: Reconcile<Pod>): Promise<Verdict | void> {
    const pod = work.object as Stored<Pod>;
    if (!isWaiting(pod)) return this.#tellScheduled(work, pod);
    if ((pod.spec?.schedulingGates ?? []).length > 0) {
      await this.#wait(work, pod, 'SchedulingGated', GATED);
      return;
    }
    const cluster = this.#look(pod);
    const choice = choose(pod, cluster);
    if ('unschedulable' in choice) return this.#refuse(work, pod, choice.unschedulable);
    if (choice.bind.length > 0) return this.#prepareClaims(work, choice, cluster);
    const labels = this.#topologyOf(choice.node);
    const bound = await change(work, this.#pods, pod, { metadata: { labels }, spec: { nodeName: choice.node } });
    const { namespace, name } = pod.metadata;
    work.events.normal('Scheduled', `Successfully assigned ${namespace}/${name} to ${choice.node}`, 'Binding');
    await this.#tellScheduled(work, bound);
  }

  #look(pod: Pod): ClusterView {
    const claims = new Map<string, ClaimView>();
    const defaultClass = () => defaultClassName([...this.#classes.cache.values()] as StorageClass[]);
    for (const { persistentVolumeClaim: from } of pod.spec?.volumes ?? []) {
      const claim = from && (this.#claims.cache.get(`${pod.metadata.namespace}/${from.claimName}`) as VolumeClaim);
      if (!claim) continue;
      // One that names no class is given the default one in a moment, and is no reason to refuse its pod until then.
      const className = claim.spec?.storageClassName ?? defaultClass();
      const storageClass = this.#classes.cache.get(className ?? '');
      const waits = storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
      const volume = this.#volumes.cache.get(claim.spec?.volumeName ?? '') as Volume | undefined;
      claims.set(from.claimName, { claim, volume, waits });
    }
    return {
      nodes: [...this.#nodes.cache.values()] as Node[],
      placed: [...([...this.#pods.cache.values()] as Pod[]).filter(isPlaced), ...this.#promised(pod)],
      namespaces: new Map([...this.#namespaces.cache.values()].map(({ metadata }) => [metadata.name, metadata.labels])),
      claims,
    };
  }

  /**
   * Pods that wait for a claim which was told a node will be on that node: who is placed meanwhile must see them there, or all of a
   * StatefulSet's pods would be promised the same one.
   */
  #promised(but: Pod): readonly Pod[] {
    const waiting = this.#pods.cache.byIndex(UNSCHEDULED, 'all') as readonly Pod[];
    return waiting.flatMap((pod) => {
      if (pod.metadata.uid === but.metadata.uid) return [];
      const node = (pod.spec?.volumes ?? [])
        .map(({ persistentVolumeClaim: from }) => from && `${pod.metadata.namespace}/${from.claimName}`)
        .map((key) => key && this.#claims.cache.get(key)?.metadata.annotations?.[SELECTED_NODE])
        .find((name) => name !== undefined);
      return node === undefined ? [] : [{ ...pod, spec: { ...(pod.spec as PodSpec), nodeName: node } }];
    });
  }

  /** As a binding does it: programs learn from their pod in which zone they are. */
  #topologyOf(node: string): Readonly<Record<string, string>> {
    const { labels = {} } = this.#nodes.cache.get(node)?.metadata ?? {};
    return Object.fromEntries(Object.entries(labels).filter(([key]) => topology.includes(key)));
  }

  /** Claims that waited for their first consumer are told the node; the pod follows when they are bound. */
  async #prepareClaims(
    work: Reconcile<Pod>,
    { node, bind }: Extract<Choice, { readonly node: string }>,
    { claims }: ClusterView,
  ): Promise<void> {
    for (const name of bind) {
      const claim = claims.get(name)?.claim as Stored<VolumeClaim> | undefined;
      if (!claim || claim.metadata.annotations?.[SELECTED_NODE] === node) continue;
      await change(work, this.#claims, claim, { metadata: { annotations: { [SELECTED_NODE]: node } } });
    }
  }

  async #refuse(work: Reconcile<Pod>, pod: Stored<Pod>, message: string): Promise<void> {
    if (await this.#wait(work, pod, 'Unschedulable', message))
      work.events.warning('FailedScheduling', message, 'Scheduling');
  }

  /** True if it did not say so before. */
  async #wait(work: Reconcile<Pod>, pod: Stored<Pod>, reason: string, message: string): Promise<boolean> {
    const before = scheduledCondition(pod);
    if (before?.status === 'False' && before.reason === reason && before.message === message) return false;
    await this.#write(work, pod, { type: 'PodScheduled', status: 'False', reason, message });
    return true;
  }

  /** Also after a crash between binding and telling. */
  async #tellScheduled(work: Reconcile<Pod>, pod: Stored<Pod>): Promise<void> {
    const isBound = (pod.spec?.nodeName ?? '') !== '' && pod.metadata.deletionTimestamp === undefined;
    if (!isBound || scheduledCondition(pod)?.status === 'True') return;
    await this.#write(work, pod, { type: 'PodScheduled', status: 'True' });
  }

  async #write(work: Reconcile<Pod>, pod: Stored<Pod>, condition: PodCondition): Promise<void> {
    const before = scheduledCondition(pod);
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : timestamp(work.now());
    const { generation: observedGeneration } = pod.metadata;
    const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
    const told = { ...condition, lastTransitionTime, ...(observedGeneration !== undefined && { observedGeneration }) };
    await change(work, this.#pods, pod, { status: { conditions: [...others, told] } }, 'status');
  }
}

/** Bound, but its status still says that it could not be. */
function isTold(pod: SeenPod): boolean {
  return (pod.spec?.nodeName ?? '') !== '' && scheduledCondition(pod)?.status === 'False';
}

function scheduledCondition({ status }: Pick<SeenPod, 'status'>): PodCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'PodScheduled');
}
