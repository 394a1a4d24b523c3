/** What all who follow a kind in a benchmark are asked, in whatever language they are written. */
import { answer, serveOrders } from './serve.ts';
import type { Count } from './count.ts';
import { ownCpuMs, ownHeapBytes, type Usage } from './usage.ts';

export interface FollowerOrder {
  /** `open`: lets go what waits for it. `reset`: counts from zero. `await`: answers when so many were handled. */
  readonly do: 'open' | 'reset' | 'await' | 'usage';
  readonly events?: number;
  /** Tells heap and objects, too; not in the middle of a phase. */
  readonly collect?: boolean;
}

interface Followed {
  readonly count: Count;
  objects(): number;
  open(): void;
}

/** The first line: everything is listed. */
export function ready(heapBytesBefore: number): void {
  answer({ cpuMs: ownCpuMs(), heapBytes: heapBytesBefore, events: 0, objects: 0 } satisfies Usage);
}

export function serveFollower({ count, objects, open }: Followed): Promise<never> {
  return serveOrders<FollowerOrder>(async (order) => {
    if (order.do === 'open') open();
    else if (order.do === 'reset') count.reset();
    else if (order.do === 'await') await count.reach(order.events ?? 0);
    const now = { cpuMs: ownCpuMs(), events: count.value, heapBytes: 0, objects: 0 };
    return order.collect ? { ...now, heapBytes: ownHeapBytes(), objects: objects() } : now;
  });
}
