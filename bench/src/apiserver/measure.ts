/** One server, measured from its start to a fan-out. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startCreators } from '../load/creators.ts';
import type { Timed } from '../load/orders.ts';
import { startLoad } from '../load/start.ts';
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
  const { one, sixtyFour } = await measureCreates(contestant, sizes);
  await using load = await startLoad(contestant.access);
  await load.ask({ do: 'stock', count: sizes.objects });
  await load.ask({ do: 'list', times: 2 });
  const list = await withCpu(contestant, () => load.ask({ do: 'list', times: sizes.lists }));
  await load.ask({ do: 'watch', watchers: sizes.watchers });
  const told = await withCpu(contestant, () => load.ask({ do: 'fanOut', events: sizes.events }));
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

async function measureCreates(contestant: Contestant, { warmMs, createMs }: Sizes) {
  await using creators = await startCreators(contestant.access);
  // Until the code that is measured is compiled, and caches have their size.
  await creators.create(64, warmMs);
  const one = await withCpu(contestant, () => creators.create(1, createMs));
  const sixtyFour = await withCpu(contestant, () => creators.create(64, createMs));
  return { one, sixtyFour };
}

const perSecond = ({ count, ms }: Timed): number => (count / ms) * 1_000;

/** What the server's processes used meanwhile. */
async function withCpu<T extends Timed>(contestant: Contestant, task: () => Promise<T>) {
  const used = () => contestant.pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0);
  const before = used();
  const result = await task();
  return { ...result, cpuMs: used() - before };
}
