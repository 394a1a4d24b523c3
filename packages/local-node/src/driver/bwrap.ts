/** Namespaces by bubblewrap: one program, a few milliseconds, no rights needed. */
import { dirname } from 'node:path';
import type { Host, ProcessId, ProcessRow } from '../host/host.ts';
import { childrenOf } from '../host/process-table.ts';
import type { Box, Driver } from './driver.ts';
import { SAY_UP } from '../shim/script.ts';
import { type Layout, layoutOf, type Step } from './layout.ts';

export function bwrapArguments({ isRootOpened, steps }: Layout): readonly string[] {
  const args = isRootOpened ? [] : ['--dev-bind', '/', '/'];
  // What was in the machine's root is put back with its devices.
  for (const step of steps) args.push(...argumentsOf(step));
  // Last: other mounts may have their places in one of these.
  for (const step of steps) if (step.type === 'bind' && step.isReadOnly) args.push('--remount-ro', step.path);
  return [...args, '--proc', '/proc'];
}

function argumentsOf(step: Step): readonly string[] {
  switch (step.type) {
    case 'tmpfs':
      return ['--tmpfs', step.path];
    case 'folder':
      return ['--dir', step.path]; // by itself it would make a way that only root can go
    case 'file':
      return ['--dir', dirname(step.path)]; // the file it makes itself
    case 'link':
      return ['--symlink', step.to, step.path];
    case 'bind':
      return [step.isReadOnly ? '--bind' : '--dev-bind', step.source, step.path];
  }
}

/** The process that the shim started watches over the namespace; below it is the namespace's first process, below that the program. */
export function grandchild(started: ProcessId, table: readonly ProcessRow[]): ProcessRow | undefined {
  if (!table.some(({ pid, startTime }) => pid === started.pid && startTime === started.startTime)) return undefined;
  const [first] = childrenOf(started.pid, table);
  return first && childrenOf(first.pid, table)[0];
}

const BEGIN = ['/bin/sh', '-c', `${SAY_UP}; exec "$0" "$@"`];

export function bwrapDriver({ files, user }: Host, program: string): Driver {
  return {
    name: 'bwrap',
    hasMounts: true,
    async wrap({ argv, env, mounts, workingDir }: Box) {
      const layout = await layoutOf(files, mounts);
      const folder = workingDir === undefined ? [] : ['--chdir', workingDir];
      // Root stays root, as with the other tool: who it runs programs as is said by the pod.
      const rights = user.uid === 0 ? ['--cap-add', 'ALL'] : [];
      const box = [program, '--unshare-pid', ...rights, ...bwrapArguments(layout), ...folder, '--'];
      return { argv: [...box, ...BEGIN, ...argv], env };
    },
    mainOf: grandchild,
    enter(main, command) {
      const asUser = user.uid === 0 ? [] : ['--user', '--preserve-credentials'];
      return ['/usr/bin/nsenter', '--target', String(main.pid), ...asUser, '--mount', '--pid', '--', ...command];
    },
  };
}
