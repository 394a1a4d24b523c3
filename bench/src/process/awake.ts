/**
 * Processors that never sleep. A virtual processor with nothing to do is lent to others by its host, and comes back late and cold; where one
 * thread waits for the next all the time, that is measured, too. A loop on each processor at the lowest priority there is keeps them; whoever
 * has work takes its place at once.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Ends when its parent does, also when that is killed. */
const LOOP = 'const { ppid } = process; while (process.ppid === ppid) for (let i = 0; i < 1e7; i++);';

export function keepAwake(): Disposable {
  const loops = Array.from({ length: availableParallelism() }, (_, processor) =>
    spawn('taskset', ['--cpu-list', String(processor), 'chrt', '--idle', '0', process.execPath, '-e', LOOP], {
      stdio: 'ignore',
    }),
  );
  return {
    [Symbol.dispose]: () => {
      for (const loop of loops) loop.kill('SIGKILL');
    },
  };
}
