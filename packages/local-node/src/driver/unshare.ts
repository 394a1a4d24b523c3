/**
 * Namespaces by the tools that every Linux has: `unshare`, `mount`, `pivot_root` and a shell that puts things in their places. Without
 * root's rights the shell is root of a user namespace, and the program is itself again in a second one inside.
 *
 * Each tool is a program to start, a millisecond or two. So mounts are made in place where nothing that is still needed is hidden by
 * them: what a folder held that is emptied is kept aside, and put back from there. Else a root of its own is put together and entered.
 * What can be made together is made by one `mkdir` and one `mount`.
 */
import { basename, dirname } from 'node:path';
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
  /** The box's own folder. */
  readonly folder: string;
  /** Over the machine's root; else a root is put together in the folder. */
  readonly isInPlace: boolean;
  readonly workingDir: string | undefined;
  /** Undefined: root, who needs no user namespace. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

/** Becomes the first process of the namespace; its arguments are the program. Its variables must not be those of a pod. */
export function setUpScript({ layout, folder, isInPlace, workingDir, user }: Script): string {
  const { isRootOpened, steps } = layout;
  const become = user ? `/usr/bin/unshare --map-user=${user.uid} --map-group=${user.gid} -- ` : '';
  const own = [
    `reeve_root=${quoted(folder)}`,
    'reeve_here=$PWD',
    isRootOpened ? 'mount -t tmpfs -o mode=755 tmpfs "$reeve_root"' : 'mount --rbind / "$reeve_root"',
  ];
  const enter = ['mount -t proc proc "$reeve_root/proc"', 'cd "$reeve_root"', 'pivot_root . .', 'umount -l .'];
  // Where it was may be hidden by a mount; in place nobody has left it.
  const back = isInPlace ? [] : ['cd "$reeve_here" 2>/dev/null || cd /'];
  const cd = workingDir === undefined ? back : [`cd ${quoted(workingDir)}`];
  const places: Places = { root: isInPlace ? '' : folder, asides: isInPlace ? asidesOf(layout, folder) : new Map() };
  const sealed = steps.flatMap((step) => (step.type === 'bind' && step.isReadOnly ? [step.path] : []));
  return [
    'set -e',
    'reeve_path=$PATH',
    `PATH=${TOOLS}`,
    ...(isInPlace ? ['reeve_root='] : own),
    ...batchesOf(steps).flatMap((batch) => linesOf(batch, places)),
    // Last: other mounts may have their places in one of these.
    ...(sealed.length > 0 ? seals(sealed, places) : []),
    ...(isInPlace ? [] : enter),
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

/** Where things are while a box is made. */
interface Places {
  /** Before every path: empty in place. */
  readonly root: string;
  /** Where what was in an opened folder is kept until it is put back, by that folder. */
  readonly asides: ReadonlyMap<string, string>;
}

/** Folders that must be there before the script runs. */
export function asidesOf({ steps }: Layout, folder: string): ReadonlyMap<string, string> {
  const opened = steps.flatMap(({ type, path }) => (type === 'tmpfs' ? [path] : []));
  return new Map(opened.map((path, index) => [path, `${folder}/${index}`]));
}

/** Where the machine has what is put back at a path. */
const originOf = (path: string, { asides }: Places): string => {
  const aside = asides.get(dirname(path));
  return aside === undefined ? path : `${aside}/${basename(path)}`;
};

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

function linesOf(batch: readonly Step[], places: Places): readonly string[] {
  const of = <T extends Step['type']>(type: T) =>
    batch.filter((step): step is Extract<Step, { type: T }> => step.type === type);
  const files = of('file');
  const folders = new Set([...of('folder').map(({ path }) => path), ...files.map(({ path }) => dirname(path))]);
  const { root, asides } = places;
  const binds = of('bind').map(({ source, path }): TableLine => {
    return [source === path ? originOf(path, places) : source, `${root}${path}`, 'none', 'rbind'];
  });
  const emptied = of('tmpfs').flatMap(({ path }): readonly TableLine[] => {
    const aside = asides.get(path);
    const kept: readonly TableLine[] = aside === undefined ? [] : [[path, aside, 'none', 'rbind']];
    return [...kept, [NOBODYS, `${root}${path}`, 'tmpfs', 'mode=755']];
  });
  return [
    ...(emptied.length > 0 ? mountAll(emptied) : []),
    ...(folders.size > 0 ? [`mkdir -p ${[...folders].map(placeOf).join(' ')}`] : []),
    ...files.map(({ path }) => `[ -e ${placeOf(path)} ] || : >${placeOf(path)}`),
    ...linksInto(
      of('link').map(({ path }) => path),
      places,
    ),
    ...(binds.length > 0 ? mountAll(binds) : []),
  ];
}

/** One program for all links of a folder. */
function linksInto(paths: readonly string[], places: Places): readonly string[] {
  const folders = [...new Set(paths.map((path) => dirname(path)))];
  return folders.map((folder) => {
    const origins = paths.filter((path) => dirname(path) === folder).map((path) => quoted(originOf(path, places)));
    return `cp -P ${origins.join(' ')} ${placeOf(folder)}/`;
  });
}

type TableLine = readonly [source: string, target: string, type: string, options: string];

/** `mount -a` passes over what the same source is mounted on already, as a tmpfs of the machine may be. */
const NOBODYS = 'reeve-box';

/** By a table beside the script. `-a` fails when one of them does. */
function mountAll(lines: readonly TableLine[]): readonly string[] {
  const texts = lines.map(([source, target, type, options]) =>
    quoted(`${inTable(source)} ${inTable(target)} ${type} ${options} 0 0`),
  );
  return [`printf '%s\\n' ${texts.join(' ')} >"$0.mounts"`, 'mount -a -T "$0.mounts"'];
}

/**
 * All at once. A remount must keep the flags that somebody else has locked, which is then tried one by one; and so is what the table
 * was taken for done.
 */
function seals(paths: readonly string[], { root }: Places): readonly string[] {
  const table = mountAll(paths.map((path): TableLine => ['none', `${root}${path}`, 'none', 'remount,bind,ro']));
  return [
    'seal() { for reeve_more in "" ,nosuid,nodev ,nosuid,nodev,noexec; do mount -o "remount,bind,ro$reeve_more" "$1" 2>/dev/null && return; done; return 1; }',
    ...table.slice(0, -1),
    `${table.at(-1)} 2>/dev/null || :`,
    ...paths.map((path) => `[ ! -w ${placeOf(path)} ] || seal ${placeOf(path)}`),
  ];
}

/** A word of a table of mounts. */
const inTable = (path: string): string =>
  path.replaceAll(/[ \t\n\v\f\r\\#]/g, (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`);

/** No mount hides what is still needed. */
export function isInPlace({ isRootOpened, steps }: Layout, needed: readonly string[]): boolean {
  if (isRootOpened) return false;
  const covers = steps.flatMap((step) => (step.type === 'bind' || step.type === 'tmpfs' ? [step.path] : []));
  return !needed.some((path) => covers.some((one) => isAtOrBelow(path, one)));
}

/** What the tools are, what they need, and what they look at. */
const OF_TOOLS: readonly string[] = [
  ...TOOLS.split(':'),
  ...['/usr/lib', '/usr/lib64', '/lib', '/lib64', '/etc', '/proc', '/dev'],
];

/** What must stay in sight while mounts are made, without links. */
async function neededBy(files: HostFiles, { mounts, folder }: Box): Promise<readonly string[]> {
  const paths = [dirname(folder), ...mounts.map(({ source }) => source), ...OF_TOOLS];
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
      const inPlace = isInPlace(layout, await neededBy(files, box));
      const script = `${folder}.sh`;
      const folders = inPlace ? [...asidesOf(layout, folder).values()] : [folder];
      for (const path of folders) await files.makeFolder(path);
      const asked = { layout, folder, isInPlace: inPlace, workingDir, user: isRoot ? undefined : user };
      await files.write(script, setUpScript(asked));
      const namespaces = [...(isRoot ? [] : ['--map-root-user']), '--mount', '--pid', '--fork'];
      const proc = inPlace ? ['--mount-proc'] : [];
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
