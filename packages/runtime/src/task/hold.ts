/** The finalizer on a running task: deleted while nobody was there to see it, it is still there to be cancelled. */
import { type Objects, type Written, written } from '../resource/objects.ts';
import type { TaskResource } from './task.ts';

/** A small port: a controller that has finalizers of its own may pass its own way of writing them. */
export interface TaskHold<T extends TaskResource> {
  isOn(task: T): boolean;
  put(task: T, signal: AbortSignal): Promise<Written<T>>;
  take(task: T, signal: AbortSignal): Promise<Written<T>>;
}

/** By updates that carry the version: the finalizers of others stay as they are. */
export function finalizerHold<T extends TaskResource>(objects: Objects<T>, finalizer: string): TaskHold<T> {
  const update = (task: T, finalizers: readonly string[], signal: AbortSignal) =>
    written(
      objects(task.metadata.namespace).update({ ...task, metadata: { ...task.metadata, finalizers } }, { signal }),
    );
  const of = (task: T) => task.metadata.finalizers ?? [];
  return {
    isOn: (task) => of(task).includes(finalizer),
    put: (task, signal) => update(task, [...of(task), finalizer], signal),
    take: (task, signal) =>
      update(
        task,
        of(task).filter((name) => name !== finalizer),
        signal,
      ),
  };
}
