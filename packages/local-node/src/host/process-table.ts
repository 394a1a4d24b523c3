/** Reading what the kernel says about processes. Pure. */
import type { ProcessRow } from './host.ts';

/** A line of `/proc/PID/stat`. The name stands in brackets and may hold anything, brackets too: what counts comes after the last one. */
export function parseStat(line: string): ProcessRow | undefined {
  const open = line.indexOf(' (');
  const close = line.lastIndexOf(') ');
  if (open < 0 || close < 0) return undefined;
  const rest = line.slice(close + 2).split(' ');
  const [state, parent, , session] = rest;
  const startTime = rest[19];
  if (state === undefined || startTime === undefined) return undefined;
  return {
    pid: Number(line.slice(0, open)),
    parent: Number(parent),
    session: Number(session),
    startTime,
    isZombie: state === 'Z' || state === 'X',
  };
}

/** Entries of `/proc/PID/environ`. */
export function parseEnvironment(text: string): Readonly<Record<string, string>> {
  const environment = Object.create(null) as Record<string, string>;
  for (const entry of text.split('\0')) {
    const at = entry.indexOf('=');
    if (at > 0) environment[entry.slice(0, at)] = entry.slice(at + 1);
  }
  return environment;
}

/** The children of a process, the oldest first. */
export function childrenOf(pid: number, table: readonly ProcessRow[]): readonly ProcessRow[] {
  return table
    .filter(({ parent }) => parent === pid)
    .sort((a, b) => Number(a.startTime) - Number(b.startTime) || a.pid - b.pid);
}

/** All below these processes, without themselves. */
export function descendants(roots: readonly number[], table: readonly ProcessRow[]): readonly ProcessRow[] {
  const found = new Set<number>(roots);
  const below: ProcessRow[] = [];
  for (let grew = true; grew; ) {
    grew = false;
    for (const row of table) {
      if (found.has(row.pid) || !found.has(row.parent)) continue;
      found.add(row.pid);
      below.push(row);
      grew = true;
    }
  }
  return below;
}
