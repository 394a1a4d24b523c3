/**
 * What the control plane of one machine costs: from `reeve up` to ready, from a pod to its process with every driver that works here, a
 * hundred pods at once, and what they take while nothing happens.
 *
 *     npm run bench -- local-node [--starts 7] [--singles 60] [--pods 100] [--idle 60] [--quick]
 *
 * `--idle` is in seconds. It runs the product as its users do, in a process of its own, on a folder of its own.
 */
import { parseArgs } from 'node:util';
import { manyPods } from './local-node/many.ts';
import { DRIVERS, type DriverName, Plane, PlaneRefused } from './local-node/plane.ts';
import { podToProcess } from './local-node/singles.ts';
import { atMost, median } from './report/bars.ts';
import { printBars, printTable, say } from './report/print.ts';

interface Sizes {
  readonly starts: number;
  readonly singles: number;
  readonly pods: number;
  readonly settleMs: number;
  readonly idleMs: number;
}

const QUICK: Sizes = { starts: 2, singles: 10, pods: 20, settleMs: 5_000, idleMs: 10_000 };

export default async function localNode(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      starts: { type: 'string', default: '7' },
      singles: { type: 'string', default: '60' },
      pods: { type: 'string', default: '100' },
      idle: { type: 'string', default: '60' },
      quick: { type: 'boolean', default: false },
    },
  });
  const sizes: Sizes = values.quick
    ? QUICK
    : {
        starts: Number(values.starts),
        singles: Number(values.singles),
        pods: Number(values.pods),
        settleMs: 20_000,
        idleMs: Number(values.idle) * 1_000,
      };
  const latencies = await byDriver(sizes);
  const [best] = latencies.keys();
  if (best === undefined) throw new Error('no driver works here');
  const { firstMs, warmMs } = await starts(sizes.starts);
  const many = await manyPods({ pods: sizes.pods, settleMs: sizes.settleMs, idleMs: sizes.idleMs });
  say(JSON.stringify({ firstMs, warmMs, many }));
  printTable([
    ['driver', 'pod to process, p50', 'p95'],
    ...[...latencies].map(([name, ms]) => [name, `${median(ms).toFixed(1)} ms`, `${quantile(ms, 0.95).toFixed(1)} ms`]),
  ]);
  process.stdout.write('\n');
  printTable([
    ['control plane', 'measured'],
    ['reeve up to ready, the first time', `${firstMs.toFixed()} ms`],
    [`reeve up to ready, warm (median of ${sizes.starts})`, `${median(warmMs).toFixed()} ms`],
    [`${sizes.pods} pods, from the first request until all run (${best})`, `${many.allRunningMs.toFixed()} ms`],
    [`idle with ${sizes.pods} pods, of one core`, `${many.idlePercent.toFixed(2)} %`],
    ['resident, empty', `${many.emptyMb.toFixed()} MB`],
    [`resident, with ${sizes.pods} pods`, `${many.residentMb.toFixed()} MB`],
  ]);
  process.stdout.write(
    `Ready: from the start of the process until the API answers and all three nodes have said anew that they are ready. ` +
      `Pod to process: from the answer to the request that made the pod, bound to a node, until its program runs; ${sizes.singles} pods, one after the other. ` +
      `Idle: user and system time of the whole process, and of those of its pods, over ${sizes.idleMs / 1_000} s.\n`,
  );
  const bars = [
    atMost('reeve up to ready, warm, s', median(warmMs) / 1_000, 1.5),
    atMost(`pod to process, p50, ms (${best})`, median(latencies.get(best) ?? []), 30),
    atMost(`idle with ${sizes.pods} pods, % of a core`, many.idlePercent, 2),
  ];
  printBars('local-node', bars, { quick: values.quick, driver: best });
}

/** In the order in which a node would choose them: the first is the one that it uses here. */
async function byDriver({ singles }: Sizes): Promise<ReadonlyMap<DriverName, readonly number[]>> {
  const found = new Map<DriverName, readonly number[]>();
  for (const driver of DRIVERS) {
    try {
      await using plane = await Plane.create(['--driver', driver]);
      await plane.up();
      const measured = await podToProcess(plane, singles);
      say(`${driver}: ${measured.map((ms) => ms.toFixed(1)).join(' ')}`);
      found.set(driver, measured);
    } catch (error) {
      if (!(error instanceof PlaneRefused)) throw error;
      say(`${driver}: not here: ${error.message}`);
    }
  }
  return found;
}

async function starts(count: number): Promise<{ readonly firstMs: number; readonly warmMs: readonly number[] }> {
  await using plane = await Plane.create();
  const firstMs = await plane.up();
  const warmMs: number[] = [];
  for (let start = 0; start < count; start++) {
    await plane.down();
    warmMs.push(await plane.up());
  }
  say(`starts: ${firstMs.toFixed()}, then ${warmMs.map((ms) => ms.toFixed()).join(' ')} ms`);
  return { firstMs, warmMs };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
