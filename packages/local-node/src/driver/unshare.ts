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
    ...batchesOf(steps).flatMap((batch) => linesOf(batch, root)),
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

/**
 * Steps that can be done together: each program that is started costs more than what it does. A step that needs a mount of its batch
 * to be there begins another one.
 */
function batchesOf(steps: readonly Step[]): readonly (readonly Step[])[] {
  const batches: Step[][] = [];
  for (const step of steps) {
    const batch = batches.at(-1);
    const isLater =
      step.type === 'tmpfs' ||
      batch?.some(({ type, path }) => type === 'tmpfs' || (type === 'bind' && step.path.startsWith(`${path}/`)));
    if (batch === undefined || isLater) batches.push([step]);
    else batch.push(step);
  }
  return batches;
}

function linesOf(batch: readonly Step[], root: string): readonly string[] {
  const at = (path: string): string => `"$root"${quoted(path)}`;
  const of = <T extends Step['type']>(type: T) =>
    batch.filter((step): step is Extract<Step, { type: T }> => step.type === type);
  const [binds, files] = [of('bind'), of('file')];
  const folders = [...of('folder').map(({ path }) => path), ...files.map(({ path }) => dirname(path))];
  return [
    ...of('tmpfs').map(({ path }) => `mount -t tmpfs -o mode=755 tmpfs ${at(path)}`),
    ...(folders.length === 0 ? [] : [`mkdir -p ${[...new Set(folders)].map(at).join(' ')}`]),
    ...files.map(({ path }) => `[ -e ${at(path)} ] || : >${at(path)}`),
    ...of('link').map(({ path, to }) => `ln -s ${quoted(to)} ${at(path)}`),
    ...mountLines(binds, root),
    ...binds.filter(({ isReadOnly }) => isReadOnly).map(({ path }) => `seal ${at(path)}`),
  ];
}

type Bind = Extract<Step, { type: 'bind' }>;

/** Several by one program, which reads them from a table. */
function mountLines(binds: readonly Bind[], root: string): readonly string[] {
  const [only, ...more] = binds;
  if (!only) return [];
  if (more.length === 0) return [`mount --rbind ${quoted(only.source)} "$root"${quoted(only.path)}`];
  const rows = binds.map(({ source, path }) => `${field(source)} ${field(`${root}${path}`)} none rbind 0 0`);
  // It must be a file: a pipe is not read.
  return [`printf '%s\\n' ${rows.map(quoted).join(' ')} >"$root.mounts"`, 'mount --all --fstab "$root.mounts"'];
}

/** In such a table blanks part fields. */
function field(text: string): string {
  return text.replaceAll(/[\\\s#]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`);
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
