/**
 * Namespaces by the tools that every Linux has: `unshare`, `mount`, `pivot_root` and a shell that puts things in their places. Without
 * root's rights the shell is root of a user namespace, and the program is itself again in a second one inside.
 *
 * Each tool is a program to start, a millisecond or two. So mounts are made in place where that is all there is to do; a root of its
 * own is put together only where something of the machine has to be put back beside them; and what can be made together is made by
 * one `mkdir` and one `mount`.
 */
import { dirname } from 'node:path';
import type { Host, HostFiles } from '../host/host.ts';
import { SAY_UP } from '../shim/script.ts';
import { grandchild } from './bwrap.ts';
import type { Box, Driver } from './driver.ts';
import { type Layout, layoutOf, type Step } from './layout.ts';

export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const TOOLS = '/usr/sbin:/usr/bin:/sbin:/bin';

export interface Script {
  readonly layout: Layout;
  /** Where the root is put together. Undefined: it is that of the machine, mounted over in place. */
  readonly root: string | undefined;
  readonly workingDir: string | undefined;
  /** Undefined: root, who needs no user namespace. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

/** Becomes the first process of the namespace; its arguments are the program. Its variables must not be those of a pod. */
export function setUpScript({ layout, root, workingDir, user }: Script): string {
  const { isRootOpened, steps } = layout;
  const become = user ? `/usr/bin/unshare --map-user=${user.uid} --map-group=${user.gid} -- ` : '';
  const own = [
    `reeve_root=${quoted(root ?? '')}`,
    'reeve_here=$PWD',
    isRootOpened ? 'mount -t tmpfs -o mode=755 tmpfs "$reeve_root"' : 'mount --rbind / "$reeve_root"',
  ];
  const enter = ['mount -t proc proc "$reeve_root/proc"', 'cd "$reeve_root"', 'pivot_root . .', 'umount -l .'];
  // Where it was may be hidden by a mount; in place nobody has left it.
  const back = root === undefined ? [] : ['cd "$reeve_here" 2>/dev/null || cd /'];
  const cd = workingDir === undefined ? back : [`cd ${quoted(workingDir)}`];
  return [
    'set -e',
    'reeve_path=$PATH',
    `PATH=${TOOLS}`,
    // A remount must keep the flags that somebody else has locked.
    'seal() { for reeve_more in "" ,nosuid,nodev ,nosuid,nodev,noexec; do mount -o "remount,bind,ro$reeve_more" "$1" 2>/dev/null && return; done; return 1; }',
    ...(root === undefined ? ['reeve_root='] : own),
    ...batchesOf(steps).flatMap((batch) => linesOf(batch, root ?? '')),
    // Last: other mounts may have their places in one of these.
    ...steps.flatMap((step) => (step.type === 'bind' && step.isReadOnly ? [`seal ${placeOf(step.path)}`] : [])),
    ...(root === undefined ? [] : enter),
    ...cd,
    'set +e',
    // Not exec: the first process of a namespace is deaf to signals that it does not handle, and must take in orphans.
    // What the shell has to say about its end is not the program's output.
    'exec 3>&2 2>/dev/null',
    `(${SAY_UP}; PATH=$reeve_path; exec ${become}"$@") 2>&3 3>&-`,
    'exit $?',
    '',
  ].join('\n');
}

/** Steps that can be made sorted by their kind: nothing is made where something of the same batch is mounted. */
export function batchesOf(steps: readonly Step[]): readonly (readonly Step[])[] {
  const batches: Step[][] = [];
  let batch: Step[] = [];
  for (const step of steps) {
    if (batch.some((earlier) => mustComeBefore(earlier, step))) {
      batches.push(batch);
      batch = [];
    }
    batch.push(step);
  }
  return batch.length === 0 ? batches : [...batches, batch];
}

/** Binds are made last, and in their order; a tmpfs first. */
function mustComeBefore(earlier: Step, later: Step): boolean {
  if (later.type === 'bind') return false;
  if (later.type === 'tmpfs' && earlier.type !== 'tmpfs') {
    return isAtOrBelow(earlier.path, later.path) || isAtOrBelow(later.path, earlier.path);
  }
  return earlier.type === 'bind' && isAtOrBelow(later.path, earlier.path);
}

const isAtOrBelow = (path: string, other: string): boolean => path === other || path.startsWith(`${other}/`);

const placeOf = (path: string): string => `"$reeve_root"${quoted(path)}`;

function linesOf(batch: readonly Step[], root: string): readonly string[] {
  const of = <T extends Step['type']>(type: T) =>
    batch.filter((step): step is Extract<Step, { type: T }> => step.type === type);
  const files = of('file');
  const folders = new Set([...of('folder').map(({ path }) => path), ...files.map(({ path }) => dirname(path))]);
  const binds = of('bind');
  return [
    ...of('tmpfs').map(({ path }) => `mount -t tmpfs -o mode=755 tmpfs ${placeOf(path)}`),
    ...(folders.size > 0 ? [`mkdir -p ${[...folders].map(placeOf).join(' ')}`] : []),
    ...files.map(({ path }) => `[ -e ${placeOf(path)} ] || : >${placeOf(path)}`),
    ...of('link').map(({ path, to }) => `ln -s ${quoted(to)} ${placeOf(path)}`),
    ...(binds.length > 0 ? mountAll(binds.map(({ source, path }) => [source, `${root}${path}`])) : []),
  ];
}

/** By a table beside the script. `-a` fails when one of them does. */
function mountAll(binds: readonly (readonly [source: string, target: string])[]): readonly string[] {
  const lines = binds.map(([source, target]) => quoted(`${inTable(source)} ${inTable(target)} none rbind 0 0`));
  return [`printf '%s\\n' ${lines.join(' ')} >"$0.mounts"`, 'mount -a -T "$0.mounts"'];
}

/** A word of a table of mounts. */
const inTable = (path: string): string =>
  path.replaceAll(/[ \t\n\v\f\r\\#]/g, (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`);

/** Nothing has to be put back, and no mount hides what is still needed. */
export function isInPlace({ isRootOpened, steps }: Layout, needed: readonly string[]): boolean {
  const isPutBack = steps.some((step) => step.type === 'link' || (step.type === 'bind' && step.source === step.path));
  if (isRootOpened || isPutBack) return false;
  const covers = steps.flatMap((step) => (step.type === 'bind' || step.type === 'tmpfs' ? [step.path] : []));
  return !needed.some((path) => covers.some((one) => isAtOrBelow(path, one)));
}

/** What must stay in sight while mounts are made, without links. */
async function neededBy(files: HostFiles, { mounts, folder }: Box): Promise<readonly string[]> {
  const paths = [dirname(folder), ...mounts.map(({ source }) => source)];
  return Promise.all(paths.map(async (path) => (await files.realPath(path)) ?? path));
}

export function unshareDriver({ files, user, processes }: Host): Driver {
  const isRoot = user.uid === 0;
  return {
    name: 'unshare',
    hasMounts: true,
    async wrap(box: Box) {
      const { argv, env, mounts, workingDir, folder } = box;
      const layout = await layoutOf(files, mounts);
      const root = isInPlace(layout, await neededBy(files, box)) ? undefined : folder;
      const script = `${folder}.sh`;
      if (root !== undefined) await files.makeFolder(root);
      await files.write(script, setUpScript({ layout, root, workingDir, user: isRoot ? undefined : user }));
      const namespaces = [...(isRoot ? [] : ['--map-root-user']), '--mount', '--pid', '--fork'];
      const proc = root === undefined ? ['--mount-proc'] : [];
      return { argv: ['/usr/bin/unshare', ...namespaces, ...proc, '--', '/bin/sh', script, ...argv], env };
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
