/**
 * Namespaces by the tools that every Linux has: `unshare`, `mount`, `pivot_root` and a shell that puts the root together. Without root's
 * rights the shell is root of a user namespace, and the program is itself again in a second one inside.
 */
import { dirname } from 'node:path';
import type { Host } from '../host/host.ts';
import { grandchild } from './bwrap.ts';
import type { Box, Driver } from './driver.ts';
import { type Layout, layoutOf, type Step } from './layout.ts';

export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const TOOLS = '/usr/sbin:/usr/bin:/sbin:/bin';

export interface Script {
  readonly layout: Layout;
  /** Where the root is put together. */
  readonly root: string;
  readonly workingDir: string | undefined;
  /** Undefined: root, who needs no user namespace. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

/** Becomes the first process of the namespace; its arguments are the program. */
export function setUpScript({ layout, root, workingDir, user }: Script): string {
  const { isRootOpened, steps } = layout;
  const become = user ? `unshare --map-user=${user.uid} --map-group=${user.gid} -- ` : '';
  return [
    'set -e',
    'path=$PATH',
    `PATH=${TOOLS}`,
    `root=${quoted(root)}`,
    'here=$PWD',
    // A remount must keep the flags that somebody else has locked.
    'seal() { for more in "" ,nosuid,nodev ,nosuid,nodev,noexec; do mount -o "remount,bind,ro$more" "$1" 2>/dev/null && return; done; return 1; }',
    isRootOpened ? 'mount -t tmpfs -o mode=755 tmpfs "$root"' : 'mount --rbind / "$root"',
    ...steps.flatMap(linesOf),
    'mount -t proc proc "$root/proc"',
    'cd "$root"',
    'pivot_root . .',
    'umount -l .',
    `cd ${workingDir === undefined ? '"$here"' : quoted(workingDir)}`,
    'set +e',
    // Not exec: the first process of a namespace is deaf to signals that it does not handle, and must take in orphans.
    // What the shell has to say about its end is not the program's output.
    'exec 3>&2 2>/dev/null',
    `(exec ${become}env PATH="$path" "$@") 2>&3 3>&-`,
    'exit $?',
    '',
  ].join('\n');
}

function linesOf(step: Step): readonly string[] {
  const path = `"$root"${quoted(step.path)}`;
  switch (step.type) {
    case 'tmpfs':
      return [`mount -t tmpfs -o mode=755 tmpfs ${path}`];
    case 'folder':
      return [`mkdir -p ${path}`];
    case 'file':
      return [`mkdir -p "$root"${quoted(dirname(step.path))}`, `[ -e ${path} ] || : >${path}`];
    case 'link':
      return [`ln -s ${quoted(step.to)} ${path}`];
    case 'bind':
      return [`mount --rbind ${quoted(step.source)} ${path}`, ...(step.isReadOnly ? [`seal ${path}`] : [])];
  }
}

export function unshareDriver({ files, user, processes }: Host): Driver {
  const isRoot = user.uid === 0;
  return {
    name: 'unshare',
    hasMounts: true,
    async wrap({ argv, env, mounts, workingDir, folder }: Box) {
      const layout = await layoutOf(files, mounts);
      const script = `${folder}.sh`;
      await files.makeFolder(folder);
      await files.write(script, setUpScript({ layout, root: folder, workingDir, user: isRoot ? undefined : user }));
      const namespaces = [...(isRoot ? [] : ['--map-root-user']), '--mount', '--pid', '--fork'];
      return { argv: ['/usr/bin/unshare', ...namespaces, '--', '/bin/sh', script, ...argv], env };
    },
    mainOf: grandchild,
    enter(main, command) {
      if (isRoot) return ['/usr/bin/nsenter', '--target', String(main.pid), '--mount', '--pid', '--', ...command];
      // Into the outer user namespace, which owns the mounts, by its first process; then be oneself again.
      const first = processes.find(main.pid)?.parent ?? main.pid;
      const into = [
        '/usr/bin/nsenter',
        '--target',
        String(first),
        '--user',
        '--preserve-credentials',
        '--mount',
        '--pid',
        '--',
      ];
      return [...into, '/usr/bin/unshare', `--map-user=${user.uid}`, `--map-group=${user.gid}`, '--', ...command];
    },
  };
}
