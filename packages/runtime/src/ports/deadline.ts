import type { Clock } from './ports.ts';

/** A signal that aborts with `reason()` after `ms` on the given clock, or when `parent` aborts. Dispose it when the work ended. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

/** Without a reason an exception is made for each, and its stack is walked. */
const DISPOSED = 'the work ended before the time was up';

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
      sleeping.abort(DISPOSED);
    },
  };
}

/** Ends with the signal even if the work does not. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
