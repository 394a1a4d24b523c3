import type { Clock } from './ports.ts';

/** A signal that aborts with `reason()` after `ms` on the given clock, or when `parent` aborts. Dispose it when the work ended. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

export function deadline(clock: Clock, ms: number, reason: () => Error, parent?: AbortSignal): Deadline {
  const controller = new AbortController();
  const sleeping = new AbortController();
  const onParent = () => controller.abort(parent?.reason);
  if (parent?.aborted) onParent();
  parent?.addEventListener('abort', onParent, { once: true });
  clock.sleep(ms, sleeping.signal).then(
    () => controller.abort(reason()),
    () => undefined, // disposed before the time was up
  );
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      parent?.removeEventListener('abort', onParent);
      sleeping.abort();
    },
  };
}
