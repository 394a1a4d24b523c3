/** What a process has used, seen from inside and from outside. */
import { readFileSync } from 'node:fs';

export interface Usage {
  readonly cpuMs: number;
  /** Only where it was asked for: garbage is collected first. */
  readonly heapBytes: number;
  readonly events: number;
  readonly objects: number;
}

/** User and system time of all threads of this process. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** What is reachable, buffers included. Needs `--expose-gc`. */
export function ownHeapBytes(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/**
 * Lists once before anything is counted: what the first list loads and compiles, and the buffers that it leaves behind, are not a part of
 * any object. What it brought is let go of before this returns.
 */
export async function heapBeforeList(list: () => Promise<unknown>): Promise<number> {
  await list().then(() => undefined);
  for (let turn = 0; turn < 10; turn++) await new Promise((next) => setImmediate(next));
  return ownHeapBytes();
}

/** Linux counts in ticks of 10 ms: measure seconds, not moments. */
const TICK_MS = 10;

/** User and system time of all threads of another process. */
export function cpuMsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name is in brackets and may hold anything; counted from behind it, the times are the 12th and 13th field.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

export function residentMbOf(pid: number): number {
  const [, kb] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1_024;
}
