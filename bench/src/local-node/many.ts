/** Many pods at once, and what they take while nothing happens. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@reeve/rig';
import { cpuMsOf, residentMbOf } from '../process/usage.ts';
import { Plane } from './plane.ts';
import { pods, trivialPod } from './pods.ts';

export interface ManyFigures {
  readonly allRunningMs: number;
  readonly idlePercent: number;
  readonly emptyMb: number;
  readonly residentMb: number;
}

interface ManySizes {
  readonly pods: number;
  /** What the start left to be done is no part of being idle. */
  readonly settleMs: number;
  readonly idleMs: number;
}

const AT_ONCE = 10;
const PATIENCE = { timeoutMs: 120_000, everyMs: 50 };

export async function manyPods({ pods: count, settleMs, idleMs }: ManySizes): Promise<ManyFigures> {
  await using plane = await Plane.create();
  await plane.up();
  const emptyMb = residentMbOf(plane.pid);
  const began = performance.now();
  await createAll(plane, count);
  await until(`${count} pods run`, async () => (await running(plane)) === count, PATIENCE);
  const allRunningMs = performance.now() - began;
  await sleep(settleMs);
  const pids = [plane.pid, ...plane.podPids()];
  if (pids.length <= count) throw new Error(`${pids.length} processes are too few for ${count} pods`);
  const usedMs = () => pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0);
  const before = usedMs();
  const idleBegan = performance.now();
  await sleep(idleMs);
  const idlePercent = ((usedMs() - before) / (performance.now() - idleBegan)) * 100;
  if ((await running(plane)) !== count) throw new Error('not all pods run any more');
  return { allRunningMs, idlePercent, emptyMb, residentMb: residentMbOf(plane.pid) };
}

/** Placed by the scheduler, some at a time, as a controller would do it. */
async function createAll(plane: Plane, count: number): Promise<void> {
  const api = plane.client.resource(pods, 'default');
  const names = Array.from({ length: count }, (_, index) => `trivial-${index}`);
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      await api.create(trivialPod(name, ['sleep', '100000']));
    }
  });
  await Promise.all(workers);
}

async function running(plane: Plane): Promise<number> {
  const { items } = await plane.client.resource(pods, 'default').listAll();
  return items.filter(({ status }) => status?.phase === 'Running').length;
}
