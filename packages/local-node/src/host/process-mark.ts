/** Who a process is, written down for others who come later and must know whether it is still there. */
import type { Host, ProcessId } from './host.ts';

export interface ProcessMark extends ProcessId {
  readonly bootId: string;
}

type Processes = Pick<Host['processes'], 'bootId' | 'self' | 'find'>;

/** Of the process that this runs in. */
export async function ownMark(processes: Pick<Processes, 'bootId' | 'self'>): Promise<ProcessMark> {
  return { ...processes.self(), bootId: await processes.bootId() };
}

/**
 * Whether that very process runs. One that has ended, and whose parent has not asked for its exit code, does not: its parent may never
 * ask (in a container without an init, or below a script that waits for something else).
 */
export async function isMarkedThere(
  processes: Pick<Processes, 'bootId' | 'find'>,
  { pid, startTime, bootId }: ProcessMark,
): Promise<boolean> {
  if (bootId !== (await processes.bootId())) return false;
  const row = processes.find(pid);
  return row !== undefined && row.startTime === startTime && !row.isZombie;
}
