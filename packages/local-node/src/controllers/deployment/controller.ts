/** Deployments: reads the sets, asks the plan, carries it out. */
import type { Stored } from '@reeve/kube';
import { type Verdict, wakeAt } from '@reeve/runtime';
import { Controller, type Parts, type Reconcile, type Reflection } from '@reeve/runtime/manager';
import { type Deployment, deployments, type DeploymentSpec } from '../../kinds/deployment.ts';
import { type Pod, pods } from '../../kinds/pod.ts';
import { type ReplicaSet, replicaSets } from '../../kinds/replicaset.ts';
import { selects } from '../../kinds/selector.ts';
import { claim, controllerOf, ORPHANS, orphanIndex, settleClaims } from '../owned/claim.ts';
import { BUSY, expecting } from '../owned/expected.ts';
import { isEnded } from '../owned/pod-state.ts';
import { change, createIfAbsent, referenceTo, remove } from '../owned/writes.ts';
import { planRollout, type RolloutPlan } from './plan.ts';
import type { Scale } from './rolling.ts';
import {
  annotationsOf,
  DESIRED,
  findNew,
  MAX,
  newSet,
  REVISION,
  REVISION_HISTORY,
  revisionOf,
  sizeOf,
  type StoredSet,
} from './sets.ts';
import { deadlineOf, statusOf } from './status.ts';

type Work = Reconcile<Deployment>;
type StoredDeployment = Stored<Deployment>;

const SECOND = 1_000;

export class DeploymentController extends Controller<Deployment> {
  #deployments!: Reflection<Deployment>;
  #sets!: Reflection<ReplicaSet>;
  #pods!: Reflection<Pod>;

  constructor() {
    const reconcile = expecting((work: Work) => this.#reconcile(work));
    super({ name: 'deployment', kind: deployments, cancelOn: false, hotLoop: BUSY, reconcile });
  }

  override setUp(parts: Parts): void {
    this.#deployments = this.setUpKind(parts, deployments);
    this.#sets = parts.own(replicaSets, this.#deployments, { unscoped: true, indexes: { [ORPHANS]: orphanIndex } });
    parts.wake(replicaSets, this.#deployments, (set) => (controllerOf(set) ? [] : this.#near(set)), { unscoped: true });
    // Recreate waits for the last old pod; no other event says that it is gone.
    const recreating = (pod: Parameters<typeof controllerOf>[0]) =>
      this.#near(pod).filter((key) => this.#isRecreating(key));
    this.#pods = parts.wake(pods, this.#deployments, recreating, { unscoped: true });
  }

  #isRecreating(key: string): boolean {
    return this.#deployments.cache.get(key)?.spec?.strategy?.type === 'Recreate';
  }

  #near({ metadata: { namespace, labels } }: Parameters<typeof controllerOf>[0]): readonly string[] {
    const all = [...this.#deployments.cache.values()].filter(({ metadata }) => metadata.namespace === namespace);
    return all
      .filter(({ spec }) => selects(spec?.selector, labels))
      .map(({ metadata }) => `${namespace}/${metadata.name}`);
  }

  async #reconcile(work: Work): Promise<Verdict | void> {
    const deployment = work.object as StoredDeployment;
    const { spec, metadata } = deployment;
    if (!spec) return;
    const isBeingDeleted = metadata.deletionTimestamp !== undefined;
    const orphans = this.#sets.cache.byIndex(ORPHANS, metadata.namespace ?? '') as readonly StoredSet[];
    const claims = claim(
      { selector: spec.selector, isBeingDeleted },
      work.children(replicaSets) as StoredSet[],
      orphans,
    );
    const sets = await settleClaims(work, this.#sets, { kind: deployments, owner: deployment }, claims);
    const plan = planRollout({ spec, isBeingDeleted, sets, oldPods: this.#oldPods(spec, sets) });
    const { newest, collisionCount, isCreated } = await this.#settleNewest(work, deployment, plan);
    for (const scale of plan.scales) await this.#scale(work, deployment, scale);
    if (!isBeingDeleted && newest && !spec.paused) await this.#tellRevision(work, deployment, plan.revision);
    const before = deployment.status;
    const generation = metadata.generation ?? 0;
    const status = statusOf(
      { name: metadata.name, spec, before, generation, collisionCount, newest, old: plan.old, isCreated },
      work.now(),
    );
    await work.status(status);
    for (const set of plan.forget) await remove(work, this.#sets, set);
    const at = deadlineOf(
      spec,
      status.conditions?.find(({ type }) => type === 'Progressing'),
    );
    return at === undefined || isBeingDeleted ? undefined : wakeAt(Math.max(at, work.now() + SECOND));
  }

  #oldPods(spec: DeploymentSpec, sets: readonly StoredSet[]): number {
    if (spec.strategy?.type !== 'Recreate') return 0;
    const newest = findNew(spec, sets);
    const old = new Set(sets.filter((one) => one !== newest).map(({ metadata }) => metadata.uid));
    return [...this.#pods.cache.values()].filter((pod) => old.has(controllerOf(pod)?.uid ?? '') && !isEnded(pod as Pod))
      .length;
  }

  /** Makes it, or tells the one that is there its revision and what the deployment says of itself. */
  async #settleNewest(work: Work, deployment: StoredDeployment, { newest, create, revision }: RolloutPlan) {
    let collisionCount = deployment.status?.collisionCount ?? 0;
    if (newest && deployment.metadata.deletionTimestamp === undefined) {
      return { newest: await this.#annotate(work, deployment, newest, revision), collisionCount, isCreated: false };
    }
    if (create === undefined) return { newest, collisionCount, isCreated: false };
    for (; ; collisionCount++) {
      const wanted = newSet(deployment, create, revision, collisionCount);
      const made = await createIfAbsent(work, this.#sets, wanted);
      if (made) {
        if (create > 0) this.#tellScale(work, made, 0, create);
        return { newest: made, collisionCount, isCreated: true };
      }
      const api = work.api.resource(replicaSets, deployment.metadata.namespace);
      const there = await api.find(wanted.metadata.name ?? '', { signal: work.signal });
      // Ours, from a turn whose answer was lost; else something that only has the same hash.
      const isOurs = there && controllerOf(there)?.uid === deployment.metadata.uid;
      if (there && isOurs && findNew(deployment.spec as DeploymentSpec, [there]))
        return { newest: there, collisionCount, isCreated: true };
    }
  }

  async #annotate(work: Work, deployment: StoredDeployment, newest: StoredSet, revision: number): Promise<StoredSet> {
    const before = newest.metadata.annotations ?? {};
    const { [DESIRED]: _desired, [MAX]: _max, ...wanted } = annotationsOf(deployment, revision);
    const past = revisionOf(newest);
    const history =
      past > 0 && past !== revision
        ? { [REVISION_HISTORY]: [before[REVISION_HISTORY], past].filter(Boolean).join() }
        : {};
    const annotations = { ...wanted, ...history };
    const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
    const isSame = (newest.spec?.minReadySeconds ?? 0) === minReadySeconds;
    if (isSame && Object.entries(annotations).every(([key, value]) => before[key] === value)) return newest;
    return change(work, this.#sets, newest, { metadata: { annotations }, spec: { minReadySeconds } });
  }

  async #scale(work: Work, deployment: StoredDeployment, { set, replicas }: Scale): Promise<void> {
    // Told the revision a moment ago: that version counts.
    const current = (this.#sets.cache.get(`${set.metadata.namespace}/${set.metadata.name}`) ?? set) as StoredSet;
    const { [DESIRED]: desired = '', [MAX]: max = '' } = annotationsOf(deployment, 0);
    const before = sizeOf(current);
    const told = current.metadata.annotations ?? {};
    if (before === replicas && told[DESIRED] === desired && told[MAX] === max) return;
    await change(work, this.#sets, current, {
      metadata: { annotations: { [DESIRED]: desired, [MAX]: max } },
      spec: { replicas },
    });
    if (before !== replicas) this.#tellScale(work, set, before, replicas);
  }

  #tellScale(work: Work, set: StoredSet, before: number, after: number): void {
    const way = after > before ? 'up' : 'down';
    const about = referenceTo(replicaSets, set);
    const note = `Scaled ${way} replica set ${set.metadata.name} from ${before} to ${after}`;
    work.events.normal('ScalingReplicaSet', note, after > before ? 'ScaleUp' : 'ScaleDown', about);
  }

  async #tellRevision(work: Work, deployment: StoredDeployment, revision: number): Promise<void> {
    if (deployment.metadata.annotations?.[REVISION] === String(revision)) return;
    await change(work, this.#deployments, deployment, { metadata: { annotations: { [REVISION]: String(revision) } } });
  }
}
