/** StatefulSets: reads what is there, asks the plan, carries it out. */
import type { Stored } from '@reeve/kube';
import { asReeveError, requeueAfter, type Verdict, wakeAt } from '@reeve/runtime';
import { Controller, type Parts, type Reconcile, type Reflection } from '@reeve/runtime/manager';
import { type Pod, pods } from '../../kinds/pod.ts';
import { type Revision, revisions } from '../../kinds/revision.ts';
import { type StatefulSet, type StatefulSetSpec, statefulSets } from '../../kinds/statefulset.ts';
import { type VolumeClaim, volumeClaims } from '../../kinds/volumeclaim.ts';
import { claim, controllerOf, ORPHANS, orphanIndex, settleClaims } from '../owned/claim.ts';
import { BUSY, expecting } from '../owned/expected.ts';
import { change, create, createIfAbsent, referenceTo, remove } from '../owned/writes.ts';
import { forgettable, templateOf } from '../revision/history.ts';
import { settleRevisions } from '../revision/settle.ts';
import { newClaims, newPod, ordinalOf, parseName, podNameOf } from './identity.ts';
import { planSet, revisionOf, type SetStep } from './plan.ts';
import { isStale, retentionOwners } from './retention.ts';

type Work = Reconcile<StatefulSet>;
type StoredSet = Stored<StatefulSet>;

interface Revisions {
  readonly current: Stored<Revision>;
  readonly update: Stored<Revision>;
}

const CLAIM_WAIT_MS = 1_000;

export class StatefulSetController extends Controller<StatefulSet> {
  #pods!: Reflection<Pod>;
  #revisions!: Reflection<Revision>;
  #claims!: Reflection<VolumeClaim>;

  constructor() {
    const reconcile = expecting((work: Work) => this.#reconcile(work));
    super({ name: 'statefulset', kind: statefulSets, cancelOn: false, hotLoop: BUSY, reconcile });
  }

  override setUp(parts: Parts): void {
    const sets = this.setUpKind(parts, statefulSets);
    const indexes = { [ORPHANS]: orphanIndex };
    this.#pods = parts.own(pods, sets, { unscoped: true, indexes });
    // A pod without a controller concerns the set that it is named after.
    parts.wake(
      pods,
      sets,
      (pod) => {
        const parent = controllerOf(pod) ? undefined : parseName(pod.metadata.name)?.parent;
        return parent === undefined ? [] : [`${pod.metadata.namespace}/${parent}`];
      },
      { unscoped: true },
    );
    this.#revisions = parts.own(revisions, sets, { unscoped: true, indexes });
    this.#claims = parts.reflect(volumeClaims);
  }

  async #reconcile(work: Work): Promise<Verdict | void> {
    const set = work.object as StoredSet;
    const { spec, metadata } = set;
    if (!spec) return;
    const isBeingDeleted = metadata.deletionTimestamp !== undefined;
    const claimant = { selector: spec.selector, isBeingDeleted };
    const by = { kind: statefulSets, owner: set };
    const orphansOf = <T>(of: { byIndex(index: string, term: string): readonly unknown[] }) =>
      of.byIndex(ORPHANS, metadata.namespace ?? '') as readonly T[];
    const isMember = (one: { readonly metadata: { readonly name?: string } }) =>
      parseName(one.metadata.name ?? '')?.parent === metadata.name;
    const podClaims = claim<Stored<Pod>>(
      { ...claimant, isMember },
      work.children(pods) as Stored<Pod>[],
      orphansOf(this.#pods.cache),
    );
    const owned = await settleClaims(work, this.#pods, by, podClaims);
    const known = await settleClaims(
      work,
      this.#revisions,
      by,
      claim<Stored<Revision>>(
        claimant,
        work.children(revisions) as Stored<Revision>[],
        orphansOf(this.#revisions.cache),
      ),
    );
    const { update, collisionCount } = await settleRevisions(work, this.#revisions, by, {
      template: spec.template,
      known,
      collisionCount: set.status?.collisionCount ?? 0,
      isBeingDeleted,
    });
    if (!update) return; // being deleted and never worked on
    const current = known.find((one) => one.metadata.name === set.status?.currentRevision) ?? update;
    const plan = planSet(
      {
        spec,
        status: set.status,
        generation: metadata.generation ?? 0,
        isBeingDeleted,
        pods: owned,
        currentRevision: current.metadata.name,
        updateRevision: update.metadata.name,
        collisionCount,
      },
      work.now(),
    );
    let isWaiting = false;
    try {
      for (const step of plan.steps) {
        if ((await this.#take(work, set, step, { current, update })) === 'wait') isWaiting = true;
      }
      if (!isBeingDeleted) await this.#retain(work, set, owned);
    } finally {
      await work.status(plan.status);
    }
    await this.#forget(work, spec, [...known, update], owned, [
      plan.status.currentRevision ?? '',
      update.metadata.name,
    ]);
    if (isWaiting) return requeueAfter(CLAIM_WAIT_MS);
    return plan.wakeAt === undefined ? undefined : wakeAt(plan.wakeAt);
  }

  async #take(work: Work, set: StoredSet, step: SetStep, known: Revisions): Promise<'done' | 'wait'> {
    switch (step.type) {
      case 'create':
        return this.#create(work, set, step.ordinal, known[step.revision]);
      case 'claims':
        return this.#createClaims(work, set, ordinalOf(step.pod), step.pod.metadata.uid);
      case 'label':
        await change(work, this.#pods, step.pod, { metadata: { labels: step.labels } });
        return 'done';
      case 'delete':
        await this.#delete(work, set, step);
        return 'done';
    }
  }

  async #create(work: Work, set: StoredSet, ordinal: number, revision: Stored<Revision>): Promise<'done' | 'wait'> {
    const name = podNameOf(set, ordinal);
    if ((await this.#createClaims(work, set, ordinal, undefined)) === 'wait') return 'wait';
    const template = templateOf(revision) ?? set.spec?.template ?? {};
    const wanted = newPod(set, template, revision.metadata.name, ordinal);
    const about = referenceTo(pods, wanted);
    try {
      await create(work, this.#pods, wanted);
    } catch (error) {
      const { message } = asReeveError(error);
      work.events.warning(
        'FailedCreate',
        `Create Pod ${name} in StatefulSet ${set.metadata.name} failed error: ${message}`,
        'Create',
        about,
      );
      throw error;
    }
    const note = `Create Pod ${name} in StatefulSet ${set.metadata.name} successful`;
    work.events.normal('SuccessfulCreate', note, 'Create', about);
    return 'done';
  }

  /** Claims first: a pod without them could not start. One that is on its way out is waited for. */
  async #createClaims(work: Work, set: StoredSet, ordinal: number, podUid?: string): Promise<'done' | 'wait'> {
    const podName = podNameOf(set, ordinal);
    for (const wanted of newClaims(set, ordinal)) {
      const { name = '', namespace } = wanted.metadata;
      const there = this.#claims.cache.get(`${namespace}/${name}`);
      if (there) {
        const isGoing = there.metadata.deletionTimestamp !== undefined || isStale(there, podName, podUid);
        if (isGoing) return 'wait';
        continue;
      }
      const made = await createIfAbsent(work, this.#claims, wanted);
      if (!made) return 'wait'; // the cache is behind: look again at what it is
      const note = `Create Claim ${name} Pod ${podName} in StatefulSet ${set.metadata.name} success`;
      work.events.normal('SuccessfulCreate', note, 'Create', referenceTo(volumeClaims, wanted));
    }
    return 'done';
  }

  async #delete(work: Work, set: StoredSet, { pod, why }: Extract<SetStep, { type: 'delete' }>): Promise<void> {
    const { name } = pod.metadata;
    const { name: setName } = set.metadata;
    const about = referenceTo(pods, pod);
    // Before the pod goes: afterwards nobody would know that its claims should have gone with it.
    if (why === 'scale') await this.#own(work, set, pod, true);
    await remove(work, this.#pods, pod);
    const note = `Delete Pod ${name} in StatefulSet ${setName} successful`;
    work.events.normal('SuccessfulDelete', note, 'Delete', about);
  }

  /** The policy may have changed since the claims were made. */
  async #retain(work: Work, set: StoredSet, owned: readonly Stored<Pod>[]): Promise<void> {
    const first = set.spec?.ordinals?.start ?? 0;
    const end = first + (set.spec?.replicas ?? 1);
    for (const pod of owned) {
      const ordinal = ordinalOf(pod);
      if (pod.metadata.deletionTimestamp !== undefined) continue;
      await this.#own(work, set, pod, ordinal < first || ordinal >= end);
    }
  }

  async #own(work: Work, set: StoredSet, pod: Stored<Pod>, isScaledDown: boolean): Promise<void> {
    for (const { metadata } of newClaims(set, ordinalOf(pod))) {
      const there = this.#claims.cache.get(`${metadata.namespace}/${metadata.name}`) as Stored<VolumeClaim> | undefined;
      const ownerReferences = there && retentionOwners(set, pod, there, isScaledDown);
      if (there && ownerReferences) await change(work, this.#claims, there, { metadata: { ownerReferences } });
    }
  }

  async #forget(
    work: Work,
    spec: StatefulSetSpec,
    known: readonly Stored<Revision>[],
    owned: readonly Stored<Pod>[],
    named: readonly string[],
  ): Promise<void> {
    const used = new Set([...named, ...owned.map((pod) => revisionOf(pod) ?? '')]);
    for (const revision of forgettable(known, used, spec.revisionHistoryLimit ?? 10)) {
      await remove(work, this.#revisions, revision);
    }
  }
}
