import type { Clock } from '@reeve/runtime';
import type { Owner, Scheduler } from './scheduler.ts';

/** Virtual time starts here in every run (a zero would hide mistakes with absent times). */
export const EPOCH_MS = Date.UTC(2030, 0, 1);

/** A clock that moves only when nothing else can happen. The sleeps of a dead process never end, not even by abort. */
export function virtualClock(scheduler: Scheduler, owner: Owner): Clock {
  return {
    now: () => EPOCH_MS + scheduler.elapsed,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (!owner.alive) return;
        if (signal?.aborted) return reject(signal.reason);
        const onAbort = () => {
          scheduler.cancel(timer);
          if (owner.alive) reject(signal?.reason);
        };
        const timer = scheduler.timer(owner, 'sleep', ms, () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        });
        signal?.addEventListener('abort', onAbort, { once: true });
      });
    },
  };
}
