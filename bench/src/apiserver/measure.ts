/** One server, measured from its start to a fan-out. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Load, startLoad } from '../load/start.ts';
import type { LoadOrder, LoadResult } from '../load/orders.ts';
import { cpuMsOf, residentMbOf } from '../process/usage.ts';
import { CONTESTANTS, type Contestant, type ContestantName } from './contestants.ts';

export interface Sizes {
  readonly idleMs: number;
  readonly warmMs: number;
  readonly createMs: number;
  /** In the list. */
  readonly objects: number;
  readonly lists: number;
  readonly watchers: number;
  readonly events: number;
}

/** What one measurement says; all per item. */
export interface Figures {
  readonly readyMs: number;
  readonly idleMb: number;
  readonly create1PerSecond: number;
  readonly create1CpuMicros: number;
  readonly create64PerSecond: number;
  readonly create64CpuMicros: number;
  readonly listMs: number;
  readonly listCpuMs: number;
  readonly deliveriesPerSecond: number;
  readonly deliveryCpuMicros: number;
}

export async function measure(name: ContestantName, sizes: Sizes): Promise<Figures> {
  await using contestant = await CONTESTANTS[name].start();
  await sleep(sizes.idleMs);
  const idleMb = contestant.pids.reduce((sum, pid) => sum + residentMbOf(pid), 0);
  await using load = await startLoad(contestant.access);
  const ask = (order: LoadOrder) => withCpu(contestant, load, order);
  // Until the code that is measured is compiled, and caches have their size.
  await ask({ do: 'create', clients: 64, ms: sizes.warmMs });
  const one = await ask({ do: 'create', clients: 1, ms: sizes.createMs });
  const sixtyFour = await ask({ do: 'create', clients: 64, ms: sizes.createMs });
  await load.ask({ do: 'stock', count: sizes.objects });
  await load.ask({ do: 'list', times: 2 });
  const list = await ask({ do: 'list', times: sizes.lists });
  await load.ask({ do: 'watch', watchers: sizes.watchers });
  const told = await ask({ do: 'fanOut', events: sizes.events });
  return {
    readyMs: contestant.readyMs,
    idleMb,
    create1PerSecond: perSecond(one),
    create1CpuMicros: (one.cpuMs / one.count) * 1_000,
    create64PerSecond: perSecond(sixtyFour),
    create64CpuMicros: (sixtyFour.cpuMs / sixtyFour.count) * 1_000,
    listMs: list.ms / list.count,
    listCpuMs: list.cpuMs / list.count,
    deliveriesPerSecond: perSecond(told),
    deliveryCpuMicros: (told.cpuMs / told.count) * 1_000,
  };
}

const perSecond = ({ count, ms }: LoadResult): number => (count / ms) * 1_000;

/** What the server's processes used meanwhile. */
async function withCpu(contestant: Contestant, load: Load, order: LoadOrder) {
  const used = () => contestant.pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0);
  const before = used();
  const result = await load.ask(order);
  return { ...result, cpuMs: used() - before };
}
