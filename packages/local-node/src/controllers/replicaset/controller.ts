/** ReplicaSets: as many pods as wanted. */
import type { Stored } from '@reeve/kube';
import { asReeveError, timestamp, type Verdict, wakeAt } from '@reeve/runtime';
import { Controller, type Parts, type Reconcile, type Reflection } from '@reeve/runtime/manager';
import { type Pod, type PodSpec, pods } from '../../kinds/pod.ts';
import { type ReplicaSet, replicaSets, type ReplicaSetStatus, type WorkloadCondition } from '../../kinds/replicaset.ts';
import { selects } from '../../kinds/selector.ts';
import { claim, controllerOf, controllerReference, ORPHANS, orphanIndex, settleClaims } from '../owned/claim.ts';
import { BUSY, expecting } from '../owned/expected.ts';
import { create, readLive, referenceTo, remove } from '../owned/writes.ts';
import { planReplicas } from './plan.ts';

type Work = Reconcile<ReplicaSet>;
type StoredSet = Stored<ReplicaSet>;
type StoredPod = Stored<Pod>;

export class ReplicaSetController extends Controller<ReplicaSet> {
  #pods!: Reflection<Pod>;

  constructor() {
    super({
      name: 'replicaset',
      kind: replicaSets,
      unscoped: true,
      cancelOn: false,
      concurrency: 4,
      hotLoop: BUSY,
      reconcile: expecting((work: Work) => this.#reconcile(work)),
    });
  }

  override setUp(parts: Parts): void {
    const sets = this.setUpKind(parts, replicaSets);
    this.#pods = parts.own(pods, sets, { unscoped: true, indexes: { [ORPHANS]: orphanIndex } });
    const nearby = (pod: Parameters<typeof controllerOf>[0]) => {
      if (controllerOf(pod)) return [];
      const { namespace, labels } = pod.metadata;
      const all = [...sets.cache.values()].filter((one) => one.metadata.namespace === namespace);
      return all
        .filter(({ spec }) => selects(spec?.selector, labels))
        .map(({ metadata }) => `${namespace}/${metadata.name}`);
    };
    parts.wake(pods, sets, nearby, { unscoped: true });
  }

  async #reconcile(work: Work): Promise<Verdict | void> {
    const set = work.object as StoredSet;
    const { spec, metadata } = set;
    if (!spec) return;
    const isBeingDeleted = metadata.deletionTimestamp !== undefined;
    const orphans = this.#pods.cache.byIndex(ORPHANS, metadata.namespace ?? '') as readonly StoredPod[];
    const living = orphans.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
    const claims = claim({ selector: spec.selector, isBeingDeleted }, work.children(pods) as StoredPod[], living);
    const owned = await settleClaims(work, this.#pods, { kind: replicaSets, owner: set }, claims);
    const generation = metadata.generation ?? 0;
    const plan = planReplicas({ spec, status: set.status, generation, isBeingDeleted, pods: owned }, work.now());
    try {
      await this.#act(work, set, plan);
    } catch (error) {
      const message = asReeveError(error).message;
      await work.status(withFailure(plan.status, message, work.now()));
      throw error;
    }
    await work.status(withFailure(plan.status, undefined, work.now()));
    return plan.wakeAt === undefined ? undefined : wakeAt(plan.wakeAt);
  }

  async #act(work: Work, set: StoredSet, { create: missing, remove: leaving }: ReturnType<typeof planReplicas>) {
    // A set that was deleted a moment ago must not get pods that nobody would ever end.
    const live = missing > 0 ? await readLive(work, { kind: replicaSets }, set) : undefined;
    const isLive = live !== undefined && live.metadata.deletionTimestamp === undefined;
    for (let made = 0; made < missing && isLive; made++) {
      try {
        const pod = await create(work, this.#pods, newPod(set));
        work.events.normal('SuccessfulCreate', `Created pod: ${pod.metadata.name}`, 'Create', referenceTo(pods, pod));
      } catch (error) {
        work.events.warning('FailedCreate', `Error creating: ${asReeveError(error).message}`, 'Create');
        throw error;
      }
    }
    for (const pod of leaving) {
      await remove(work, this.#pods, pod);
      work.events.normal('SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`, 'Delete', referenceTo(pods, pod));
    }
  }
}

function newPod(set: StoredSet): Pod {
  const { template = {} } = set.spec ?? {};
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    metadata: {
      generateName: `${set.metadata.name}-`,
      ...(set.metadata.namespace !== undefined && { namespace: set.metadata.namespace }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [controllerReference(replicaSets, set)],
    },
    spec: template.spec as PodSpec,
  };
}

function withFailure(status: ReplicaSetStatus, message: string | undefined, now: number): ReplicaSetStatus {
  const { conditions = [], ...rest } = status;
  const others = conditions.filter(({ type }) => type !== 'ReplicaFailure');
  if (message === undefined) return others.length === 0 ? rest : { ...rest, conditions: others };
  const before = conditions.find(({ type }) => type === 'ReplicaFailure');
  const failure: WorkloadCondition = {
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message,
    lastTransitionTime: before?.lastTransitionTime ?? timestamp(now),
  };
  return { ...rest, conditions: [...others, failure] };
}
