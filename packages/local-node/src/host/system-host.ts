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
