import { availableParallelism, totalmem } from 'node:os';
import { getegid, geteuid } from 'node:process';
import type { Host } from './host.ts';
import { systemHostFiles } from './system-files.ts';
import { systemProcesses } from './system-processes.ts';

/** This machine. */
export function systemHost(path = '/usr/local/bin:/usr/bin:/bin'): Host {
  return {
    files: systemHostFiles,
    processes: systemProcesses,
    user: { uid: geteuid?.() ?? -1, gid: getegid?.() ?? -1 },
    path,
  };
}

/** What this machine has. Nodes that share it may each say that they have all of it: nothing is limited by it. */
export function systemCapacity(): Readonly<Record<string, string>> {
  return { cpu: String(availableParallelism()), memory: `${Math.floor(totalmem() / 1024)}Ki`, pods: '110' };
}
