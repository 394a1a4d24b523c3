/** The pure decisions of the sample operator: which pods there should be, and what is wanted of a cluster. */
import { type Candidate, isDeleting, isEnded, type Knowledge, type Plan, reached, waitFor } from '@reeve/runtime';
import type { Cluster, Resize, Task } from './api.ts';

export interface SeenPod {
  readonly name: string;
  readonly uid: string;
}

/** One pod at a time. Nothing follows from a world that was not seen. */
export function planTopology(replicas: number, observed: Knowledge<readonly SeenPod[]>, now: number): Plan<Resize> {
  if (!observed.known) {
    return waitFor(now + 5_000, { reason: 'NotObserved', message: observed.why, subjects: [] });
  }
  const there = new Map(observed.value.map((pod) => [pod.name, pod]));
  for (let i = 0; i < replicas; i++) {
    if (!there.has(`pod-${i}`)) return { commands: [{ type: 'resize', pod: `pod-${i}`, why: 'it is missing' }] };
  }
  const surplus = observed.value.find(({ name }) => Number(name.slice(4)) >= replicas);
  if (!surplus) return reached;
  const { name: pod, uid } = surplus;
  return { commands: [{ type: 'resize', pod, removes: { uid }, why: 'it is one too many' }] };
}

/** What could be done now. A lost pod is a matter of safety; a new size is an order; tasks come after. */
export function candidatesOf(
  cluster: Cluster,
  tasks: readonly Task[],
  observed: Knowledge<readonly SeenPod[]>,
): readonly Candidate[] {
  const { metadata, spec, status } = cluster;
  const { name, uid = '', creationTimestamp } = metadata;
  const candidates: Candidate[] = [];
  const had = Math.min(status?.replicas ?? 0, spec.replicas);
  const isLost = observed.known && observed.value.filter((pod) => Number(pod.name.slice(4)) < had).length < had;
  const isOrdered = status?.replicas !== spec.replicas;
  if (isLost || isOrdered) {
    const trigger = { kind: 'Cluster', name, uid };
    candidates.push({ kind: 'resize', class: isLost ? 'safety' : 'p1', trigger, creationTimestamp });
  }
  for (const task of tasks) {
    if (isEnded(task.status) || isDeleting(task)) continue;
    candidates.push({
      kind: task.spec.verb,
      class: 'task',
      trigger: { kind: 'Task', name: task.metadata.name, uid: task.metadata.uid ?? '' },
      creationTimestamp: task.metadata.creationTimestamp,
      interruptible: task.spec.verb === 'clean',
    });
  }
  return candidates;
}
