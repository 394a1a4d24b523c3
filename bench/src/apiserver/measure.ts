/** Both servers, measured from their starts to a fan-out: alive at once, working in turns. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Creators, startCreators } from '../load/creators.ts';
import type { Timed } from '../load/orders.ts';
import { type Load, startLoad } from '../load/start.ts';
import { cpuMsOf, residentMbOf } from '../process/usage.ts';
import { median } from '../report/bars.ts';
import { CONTESTANTS, type Contestant, type ContestantName } from './contestants.ts';

export interface Sizes {
  readonly idleMs: number;
  /** Of creates before any are measured. */
  readonly warmTurns: number;
  /** Of everything that is measured by time. */
  readonly turns: number;
  readonly turnMs: number;
  /** In the list. */
  readonly objects: number;
  /** In a turn. */
  readonly lists: number;
  readonly watchers: number;
  /** In a turn. */
  readonly events: number;
}

/** What one round says; all per item. */
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

/** A turn of one server, and what its processes used meanwhile. */
interface Turn extends Timed {
  readonly cpuMs: number;
}

interface Side {
  readonly name: ContestantName;
  readonly contestant: Contestant;
  readonly creators: Creators;
  readonly load: Load;
}

type BySide<T> = ReadonlyMap<ContestantName, T>;

export async function measureRound(
  names: readonly ContestantName[],
  { idleMs, warmTurns, turns, turnMs, objects, lists, watchers, events }: Sizes,
): Promise<BySide<Figures>> {
  await using open = new AsyncDisposableStack();
  const contestants: (readonly [ContestantName, Contestant])[] = [];
  for (const name of names) {
    contestants.push([name, open.use(await CONTESTANTS[name].start())]);
    // Ready is not idle: the next one must not be started while it is still busy with itself.
    await sleep(idleMs);
  }
  const idleMb = new Map(contestants.map(([name, { pids }]) => [name, sum(pids.map(residentMbOf))]));
  const sides: Side[] = [];
  for (const [name, contestant] of contestants) {
    const creators = open.use(await startCreators(contestant.access));
    sides.push({ name, contestant, creators, load: open.use(await startLoad(contestant.access)) });
  }
  // Until the code that is measured is compiled, and caches have their size.
  await inTurns(sides, warmTurns, ({ creators }) => creators.create(64, turnMs));
  const one = await inTurns(sides, turns, ({ creators }) => creators.create(1, turnMs));
  const sixtyFour = await inTurns(sides, turns, ({ creators }) => creators.create(64, turnMs));
  for (const { load } of sides) await load.ask({ do: 'stock', count: objects });
  await inTurns(sides, 1, ({ load }) => load.ask({ do: 'list', times: lists }));
  const list = await inTurns(sides, turns, ({ load }) => load.ask({ do: 'list', times: lists }));
  const prepare = ({ load }: Side) => load.ask({ do: 'watch', watchers });
  const fanOut = ({ load }: Side) => load.ask({ do: 'fanOut', events });
  await inTurns(sides, 1, fanOut, prepare);
  const told = await inTurns(sides, turns, fanOut, prepare);
  const figuresOf = ({ name, contestant }: Side): Figures => {
    const of = (all: BySide<readonly Turn[]>) => all.get(name) ?? [];
    return {
      readyMs: contestant.readyMs,
      idleMb: idleMb.get(name) ?? Number.NaN,
      create1PerSecond: perSecond(of(one)),
      create1CpuMicros: cpuMs(of(one)) * 1_000,
      create64PerSecond: perSecond(of(sixtyFour)),
      create64CpuMicros: cpuMs(of(sixtyFour)) * 1_000,
      listMs: 1_000 / perSecond(of(list)),
      listCpuMs: cpuMs(of(list)),
      deliveriesPerSecond: perSecond(of(told)),
      deliveryCpuMicros: cpuMs(of(told)) * 1_000,
    };
  };
  return new Map(sides.map((side) => [side.name, figuresOf(side)]));
}

/**
 * One server, then the other, and again: a virtual processor is slow for seconds and minutes, and whoever has the bad ones would be slow.
 * @param prepare is not measured.
 */
async function inTurns(
  sides: readonly Side[],
  turns: number,
  task: (side: Side) => Promise<Timed>,
  prepare?: (side: Side) => Promise<unknown>,
): Promise<BySide<readonly Turn[]>> {
  const all = new Map<ContestantName, Turn[]>(sides.map(({ name }) => [name, []]));
  for (let turn = 0; turn < turns; turn++) {
    for (const side of turn % 2 === 0 ? sides : sides.toReversed()) {
      await prepare?.(side);
      const used = () => sum(side.contestant.pids.map(cpuMsOf));
      const before = used();
      const timed = await task(side);
      all.get(side.name)?.push({ ...timed, cpuMs: used() - before });
    }
  }
  return all;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Of all turns together: processor time is counted in ticks of 10 ms, which are much of a short turn. */
const cpuMs = (turns: readonly Turn[]): number =>
  sum(turns.map((turn) => turn.cpuMs)) / sum(turns.map((turn) => turn.count));

const perSecond = (turns: readonly Turn[]): number => median(turns.map(({ count, ms }) => (count / ms) * 1_000));
