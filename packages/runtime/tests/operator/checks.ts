/** What must hold, judged on every write that the API server took and at every moment of the world. */
import type { TransportRequest } from '@reeve/kube';
import { HISTORY_LIMIT, isEnded, type Member } from '@reeve/runtime';
import { FENCE_EXTRA } from '@reeve/runtime/manager';
import { Violation } from '@reeve/simulation';
import type { ApiWorld, ApiWrite } from '@reeve/simulation/api';
import { CLUSTERS, type Cluster, FINALIZER, MEMBERS, NAMESPACE, TASKS, type Task } from './api.ts';
import { termOf } from './managed.ts';
import type { Through } from './scenario.ts';
import type { PodWorld } from './world.ts';

const MOST_TAKEN = 100;

export class Checks {
  /** Absent until the server is there. */
  api: ApiWorld | undefined;
  readonly #world: PodWorld;
  readonly #through: Through;
  readonly #passes: (landmark: string) => void;
  readonly #statusWrites = new Map<string, number>();
  /** The uids of tasks in the order of their creation: an event of a later one may not have been heard yet. */
  readonly #created: string[] = [];
  /** Every operation that took the lock: `kind trigger`. */
  readonly taken: string[] = [];

  /** @param passes told of what the seeds are to have reached. */
  constructor(world: PodWorld, through: Through, passes: (landmark: string) => void) {
    this.#world = world;
    this.#through = through;
    this.#passes = passes;
  }

  get cluster(): Cluster | undefined {
    return this.api?.find<Cluster>(CLUSTERS, NAMESPACE, 'c');
  }

  get tasks(): readonly Task[] {
    return this.api?.list<Task>(TASKS, NAMESPACE) ?? [];
  }

  get members(): readonly Member[] {
    return this.api?.list<Member>(MEMBERS, NAMESPACE) ?? [];
  }

  onWrite({ resource, verb, before, after }: ApiWrite): void {
    if (resource === CLUSTERS) this.#lock(before as Cluster | undefined, after as Cluster | undefined);
    if (resource === TASKS && verb === 'create') this.#created.push(after?.metadata.uid ?? '');
    if (resource === TASKS && after) this.#report(verb, before as Task | undefined, after as Task);
    if (resource === TASKS && !after) this.#cancelled(before?.metadata.uid ?? '');
    if (resource === MEMBERS && verb === 'status')
      this.#results(before as unknown as Member, after as unknown as Member);
    this.always();
  }

  /** Nobody works on a pod without holding the lock of its cluster; pods are added and removed alone. */
  always(): void {
    const holder = this.cluster?.status?.currentOperation?.trigger.uid;
    for (const { pod, work } of this.#world.live()) {
      if (work.task !== holder) {
        throw new Violation('EXCLUSION', `${pod} works for ${work.task}, and the lock is ${holder ?? 'free'}`);
      }
    }
  }

  resized(): void {
    const current = this.cluster?.status?.currentOperation;
    if (current?.trigger.kind !== 'Cluster')
      throw new Violation('EXCLUSION', `resized while ${current?.kind ?? 'nothing'} runs`);
    const [busy] = this.#world.live();
    if (busy) throw new Violation('EXCLUSION', `resized while ${busy.pod} works`);
  }

  /** Judged by the Lease itself, not by the policy: a write of one term never lands in another. */
  onServed({ method, path, headers }: TransportRequest, status: number): void {
    const said = headers?.[`impersonate-extra-${FENCE_EXTRA}`];
    if (said === undefined || !this.api || path.includes('dryRun=')) return;
    const term = termOf(this.api);
    if (said === term) return;
    if (status >= 300) this.#passes(term.endsWith('/') ? 'refused: nobody leads' : 'refused: another leads');
    else throw new Violation('FENCE', `${method} ${path} of term ${String(said)} landed in ${term}`);
  }

  /** The next one may begin at once: nothing of this process goes on, in the world or in memory. */
  termEnded(process: string, held: number): void {
    const left = this.#world.live().find(({ work }) => work.life.process === process);
    if (left) throw new Violation('LEFT_OVER', `a term of ${process} is over, and ${left.pod} still works for it`);
    if (held !== 0) throw new Violation('LEFT_OVER', `a term of ${process} is over, and ${held} tasks hold something`);
  }

  /** What is not yet as it should be when nothing happens any more. */
  unrest(): string | undefined {
    const { cluster } = this;
    if (!cluster) return 'there is no cluster';
    const { spec, status } = cluster;
    if (status?.currentOperation) return `${status.currentOperation.kind} still runs`;
    if (status?.replicas !== spec.replicas) return `${status?.replicas} of ${spec.replicas} replicas in the status`;
    if (this.#world.pods.size !== spec.replicas) return `${this.#world.pods.size} of ${spec.replicas} pods`;
    for (const task of this.tasks) {
      const { name, finalizers, deletionTimestamp } = task.metadata;
      if (deletionTimestamp !== undefined) return `${name} is still being deleted`;
      if (!isEnded(task.status)) return `${name} has not ended`;
      if (finalizers?.length) return `${name} is still held`;
    }
    if (this.#through === 'managers' && status.seen !== spec.replicas) {
      return `the observer's report says ${status.seen} of ${spec.replicas} pods`;
    }
    const ordered = this.members.find(({ spec: member }) => (member.orders?.length ?? 0) > 0);
    return ordered && `${ordered.metadata.name} has orders left`;
  }

  atEnd(): void {
    const operations = this.cluster?.status?.operations ?? [];
    if (operations.length > HISTORY_LIMIT) throw new Violation('HISTORY', `${operations.length} past operations`);
    for (const { metadata, spec, status } of this.tasks) {
      for (const [name, { uid, phase }] of Object.entries(status?.pods ?? {})) {
        const pod = this.#world.pods.get(name);
        if (phase === 'Waiting') throw new Violation('REPORT', `${metadata.name} ended and ${name} waits`);
        if (phase !== 'Done' || pod?.uid !== uid) continue;
        if (!pod.finished.has(`${spec.verb} ${metadata.uid}`)) {
          throw new Violation('REPORT', `${metadata.name} says that ${name} is done`);
        }
      }
    }
    if (this.#world.live().length > 0) throw new Violation('LEFT_OVER', 'somebody still works');
  }

  /** The lock goes from nobody to somebody and back, never from one to another; first in, first out. */
  #lock(before: Cluster | undefined, after: Cluster | undefined): void {
    const [was, is] = [before?.status?.currentOperation, after?.status?.currentOperation];
    if (was && is && was.id !== is.id) throw new Violation('LOCK', `${is.kind} took the lock from ${was.kind}`);
    if (was || !is) return;
    this.taken.push(`${is.kind} ${is.trigger.name}`);
    // Ten accidents and a handful of wishes: more than this is a loop that an old cache keeps going.
    if (this.taken.length > MOST_TAKEN)
      throw new Violation('HOT_LOOP', `the lock was taken ${this.taken.length} times`);
    if (is.class !== 'task') return;
    const mine = this.tasks.find(({ metadata }) => metadata.uid === is.trigger.uid);
    for (const other of this.tasks) {
      if (!mine || isEnded(other.status) || other.metadata.deletionTimestamp !== undefined || !isKnown(other)) continue;
      if (orderOf(other) < orderOf(mine) && this.#age(other) < this.#age(mine)) {
        throw new Violation('ORDER', `${mine.metadata.name} goes before ${other.metadata.name}, which is older`);
      }
    }
  }

  #age({ metadata }: Task): number {
    return this.#created.indexOf(metadata.uid ?? '');
  }

  /** Members are frozen; what ended stays ended; the status is written as rarely as its class says. */
  #report(verb: string, before: Task | undefined, after: Task): void {
    if (verb !== 'status') return;
    const { name, uid = '', finalizers } = after.metadata;
    const [was, is] = [before?.status, after.status];
    if (isEnded(was)) throw new Violation('REPORT', `the report of ${name} was changed after its end`);
    const ids = (task: Task | undefined) =>
      JSON.stringify(
        Object.entries(task?.status?.pods ?? {})
          .map(([pod, { uid: id }]) => [pod, id])
          .sort(),
      );
    if (was?.pods && ids(before) !== ids(after)) throw new Violation('FROZEN', `the members of ${name} changed`);
    for (const [pod, { phase }] of Object.entries(was?.pods ?? {})) {
      if (phase !== 'Waiting' && is?.pods?.[pod]?.phase !== phase)
        throw new Violation('REPORT', `${pod} went back in ${name}`);
    }
    if (isKnown(after) && !finalizers?.includes(FINALIZER)) throw new Violation('HELD', `${name} runs and is not held`);
    const count = (this.#statusWrites.get(uid) ?? 0) + 1;
    this.#statusWrites.set(uid, count);
    const most = after.spec.verb === 'clean' ? Object.keys(is?.pods ?? {}).length + 2 : 2;
    if (count > most) throw new Violation('CHATTY', `${count} writes of the status of ${name}`);
  }

  /** A task that is gone has nothing running, anywhere. */
  #cancelled(uid: string): void {
    const left = this.#world.live().find(({ work }) => work.task === uid);
    if (left) throw new Violation('CANCEL', `the task is gone, and ${left.pod} still works for it`);
  }

  /** An attempt is begun by one life of an agent, and its end is final. */
  #results(before: Member, after: Member): void {
    for (const was of before.status?.results ?? []) {
      const is = after.status?.results?.find(({ id, attempt }) => id === was.id && attempt === was.attempt);
      if (is && is.by !== was.by) throw new Violation('ONCE', `${is.id} was begun by ${was.by} and by ${is.by}`);
      if (is && was.phase !== 'Started' && is.phase !== was.phase) throw new Violation('ONCE', `${is.id} ended twice`);
    }
  }
}

function isKnown({ spec }: Task): boolean {
  return spec.verb === 'clean' || spec.verb === 'snapshot';
}

function orderOf({ metadata }: Task): string {
  return `${metadata.creationTimestamp} ${metadata.uid}`;
}
