/** Jobs: the status first, then what rests on it. Every write is of the very version that was decided on. */
import { isKubeError, type Stored } from '@reeve/kube';
import { canonicalJson, finished, type Verdict, wakeAt } from '@reeve/runtime';
import { Controller, type Parts, type Reconcile, type Reflection } from '@reeve/runtime/manager';
import { isFinished, type Job, JOB_TRACKING, jobCondition, jobs, type JobStatus } from '../../kinds/job.ts';
import { type Pod, pods } from '../../kinds/pod.ts';
import { selects } from '../../kinds/selector.ts';
import { claim, controllerOf, ORPHANS, orphanIndex, settleClaims } from '../owned/claim.ts';
import { BUSY, expecting } from '../owned/expected.ts';
import { change, create, readLive, referenceTo, remove, type Writing } from '../owned/writes.ts';
import { newPod } from './new-pod.ts';
import { expiryOf, isTracked, type NewPod, planJob } from './plan.ts';

type Work = Reconcile<Job>;
type StoredJob = Stored<Job>;
type StoredPod = Stored<Pod>;

const OWN = 'kubernetes.io/job-controller';

export class JobController extends Controller<Job> {
  #jobs!: Reflection<Job>;
  #pods!: Reflection<Pod>;

  constructor() {
    super({ name: 'job', hotLoop: BUSY });
  }

  override setUp(parts: Parts): void {
    const queue = parts.queue('jobs');
    const strays = parts.queue('strays');
    this.#jobs = parts.reflect(jobs, {
      unscoped: true,
      route: ({ metadata }, { change: what }) => {
        if (what !== 'removed') return queue;
        const left = [...this.#pods.cache.values()].filter((pod) => controllerOf(pod)?.uid === metadata.uid);
        return left.map((pod) => ({ queue: strays, key: `${pod.metadata.namespace}/${pod.metadata.name}` }));
      },
    });
    this.#pods = parts.own(pods, this.#jobs, { unscoped: true, indexes: { [ORPHANS]: orphanIndex } });
    const all = parts.reflect(pods, {
      unscoped: true,
      route: (pod) => (isTracked(pod as StoredPod) && !this.#isOwned(pod as StoredPod) ? strays : undefined),
    });
    parts.wake(
      pods,
      this.#jobs,
      (pod) => {
        if (controllerOf(pod)) return [];
        const near = [...this.#jobs.cache.values()].filter(
          ({ metadata, spec }) =>
            metadata.namespace === pod.metadata.namespace && selects(spec?.selector, pod.metadata.labels),
        );
        return near.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      },
      { unscoped: true },
    );
    parts.work({
      of: this.#jobs,
      queues: [queue],
      concurrency: 4,
      cancelOn: false,
      reconcile: expecting((work: Work) => this.#reconcile(work)),
    });
    parts.work({
      of: all,
      queues: [strays],
      cancelOn: false,
      reconcile: expecting((work: Reconcile<Pod>) => this.#letGo(work)),
    });
  }

  #isOwned(pod: StoredPod): boolean {
    const owner = controllerOf(pod);
    if (owner?.kind !== 'Job') return false;
    return this.#jobs.cache.uidOf(`${pod.metadata.namespace}/${owner.name}`) === owner.uid;
  }

  async #reconcile(work: Work): Promise<Verdict | void> {
    const job = work.object as StoredJob;
    const { spec, metadata } = job;
    if (!spec || (spec.managedBy ?? OWN) !== OWN) return;
    const isBeingDeleted = metadata.deletionTimestamp !== undefined;
    const orphans = this.#pods.cache.byIndex(ORPHANS, metadata.namespace ?? '') as readonly StoredPod[];
    const claims = claim({ selector: spec.selector, isBeingDeleted }, work.children(pods) as StoredPod[], orphans);
    const owned = await settleClaims(work, this.#pods, { kind: jobs, owner: job }, claims, JOB_TRACKING);
    const plan = planJob({ spec, status: job.status, isBeingDeleted, pods: owned }, work.now());
    const written = await this.#write(work, job, plan.status);
    // With the status written, nothing below can lose an outcome.
    for (const pod of plan.release) await release(work, this.#pods, pod);
    for (const { pod, forget } of plan.remove) await this.#remove(work, pod, forget);
    if (plan.start.length > 0) await this.#start(work, written, plan.start);
    if (isFinished(plan.status)) return this.#expire(work, written);
    return plan.wakeAt === undefined ? undefined : wakeAt(Math.max(plan.wakeAt, work.now()));
  }

  /** With the version as precondition: a status that others changed meanwhile is looked at anew. */
  async #write(work: Work, job: StoredJob, status: JobStatus): Promise<StoredJob> {
    if (canonicalJson(clean(status)) === canonicalJson(clean(job.status ?? {}))) return job;
    const api = work.api.resource(jobs, job.metadata.namespace);
    const options = { subresource: 'status', signal: work.signal, dropManagedFields: true } as const;
    const written = await api.update({ ...job, status: clean(status) }, options);
    this.#jobs.cache.wrote(written);
    this.#announce(work, job.status, status);
    return written;
  }

  #announce(work: Work, before: JobStatus | undefined, after: JobStatus): void {
    const began = (type: string) => (jobCondition(before, type) ? undefined : jobCondition(after, type));
    const failed = began('Failed');
    if (failed) work.events.warning(failed.reason ?? 'Failed', failed.message ?? '', 'Finish');
    if (began('Complete')) work.events.normal('Completed', 'Job completed', 'Finish');
    if (began('Suspended')) work.events.normal('Suspended', 'Job suspended', 'Suspend');
    if (jobCondition(before, 'Suspended') && !jobCondition(after, 'Suspended')) {
      work.events.normal('Resumed', 'Job resumed', 'Resume');
    }
  }

  async #remove(work: Work, pod: StoredPod, forget: boolean): Promise<void> {
    // Let go of first, in the version that was seen running: if it ended meanwhile, that counts, and this fails.
    const current = forget ? await release(work, this.#pods, pod) : pod;
    if (!current) return;
    await remove(work, this.#pods, current);
    work.events.normal('SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`, 'Delete', referenceTo(pods, pod));
  }

  async #start(work: Work, job: StoredJob, wanted: readonly NewPod[]): Promise<void> {
    // A job that was deleted a moment ago must not get pods that nobody would ever end.
    const live = await readLive(work, { kind: jobs }, job);
    if (!live || live.metadata.deletionTimestamp !== undefined) return;
    for (const one of wanted) {
      try {
        const pod = await create(work, this.#pods, newPod(job, one));
        const about = referenceTo(pods, pod);
        work.events.normal('SuccessfulCreate', `Created pod: ${pod.metadata.name}`, 'Create', about);
      } catch (error) {
        work.events.warning('FailedCreate', `Error creating: ${String((error as Error).message)}`, 'Create');
        throw error;
      }
    }
  }

  /** A finished job that is old enough goes, with its pods. */
  async #expire(work: Work, job: StoredJob): Promise<Verdict | void> {
    const at = job.spec && expiryOf(job.spec, job.status ?? {});
    if (at === undefined || job.metadata.deletionTimestamp !== undefined) return;
    if (at > work.now()) return wakeAt(at);
    const live = await readLive(work, { kind: jobs }, job);
    const stillAt = live?.spec && expiryOf(live.spec, live.status ?? {});
    if (!live || stillAt === undefined || stillAt > work.now()) return finished;
    const { resourceVersion } = live.metadata;
    await remove(work, this.#jobs, live, { propagationPolicy: 'Foreground', resourceVersion });
  }

  /** A pod that waits to be counted by a job that is gone waits for nobody. */
  async #letGo(work: Reconcile<Pod>): Promise<void> {
    const pod = work.object as StoredPod;
    if (!isTracked(pod)) return;
    const owner = controllerOf(pod);
    if (owner?.kind === 'Job') {
      const live = await work.api.resource(jobs, pod.metadata.namespace).find(owner.name, { signal: work.signal });
      if (live?.metadata.uid === owner.uid) return;
    }
    await release(work, this.#pods, pod);
  }
}

/** Takes the finalizer off; undefined: the pod is gone. */
async function release(writing: Writing, of: Reflection<Pod>, pod: StoredPod): Promise<StoredPod | undefined> {
  if (!isTracked(pod)) return pod;
  const finalizers = (pod.metadata.finalizers ?? []).filter((one) => one !== JOB_TRACKING);
  try {
    return await change(writing, of, pod, { metadata: { finalizers } });
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return undefined;
    throw error;
  }
}

/** Zeros and empty lists are not written, so that equal statuses are equal. */
function clean(status: JobStatus): JobStatus {
  const { uncountedTerminatedPods, active, succeeded, failed, completedIndexes, ...rest } = status;
  const { succeeded: good = [], failed: bad = [] } = uncountedTerminatedPods ?? {};
  return {
    ...rest,
    ...(active && { active }),
    ...(succeeded && { succeeded }),
    ...(failed && { failed }),
    ...((completedIndexes ?? '') !== '' && { completedIndexes: completedIndexes as string }),
    uncountedTerminatedPods: {
      ...(good.length > 0 && { succeeded: good }),
      ...(bad.length > 0 && { failed: bad }),
    },
  };
}
