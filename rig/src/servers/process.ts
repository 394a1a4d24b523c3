/**
 * Server processes that never outlive us: killed when this process ends in any way (exit, exception, SIGINT, SIGTERM),
 * and by the kernel (parent death signal) when it is killed itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chownSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { findOnPath, type Program } from '../binaries/program.ts';
import { sweepAfterUs } from './sweeper.ts';

const children = new Set<ChildProcess>();
const temporary = new Set<string>();
let guarded = false;

function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of temporary) rmSync(folder, { recursive: true, force: true });
}

function guard(): void {
  if (guarded) return;
  guarded = true;
  process.on('exit', killAll);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const onSignal = () => {
      // Whoever else listens (a command that stops its servers in order) decides how we end.
      if (process.listenerCount(signal) > 1) return;
      killAll();
      process.off(signal, onSignal);
      process.kill(process.pid, signal);
    };
    process.on(signal, onSignal);
  }
}

/** A folder that is removed when this process ends, in whatever way. */
export function temporaryFolder(prefix: string): string {
  guard();
  const folder = mkdtempSync(join(tmpdir(), `reeve-${prefix}-`));
  temporary.add(folder);
  sweepAfterUs(folder);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  temporary.delete(folder);
}

/** Servers do not run as root: nobody (uid 65534) owns their folder and process. Undefined when we are not root. */
export function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('nobody:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) };
}

export function giveToServerUser(...paths: readonly string[]): void {
  const user = serverUser();
  if (user) for (const path of paths) chownSync(path, user.uid, user.gid);
}

const staged = new Map<string, string>();

/** Another user may not be able to enter our cache folder (a home with mode 700): then a copy in a temporary folder is run. */
function reachable(program: Program): Program {
  const { folder } = program;
  if (!folder || !serverUser() || othersCanEnter(folder)) return program;
  let copy = staged.get(folder);
  if (!copy) {
    copy = temporaryFolder('bin');
    linkTree(folder, copy);
    giveToServerUser(copy);
    staged.set(folder, copy);
  }
  const target = copy;
  const moved = (text: string) => (text.startsWith(folder) ? join(target, relative(folder, text)) : text);
  return {
    ...program,
    folder: target,
    command: moved(program.command),
    prefix: program.prefix.map(moved),
    env: Object.fromEntries(Object.entries(program.env).map(([name, value]) => [name, moved(value)])),
  };
}

/** Hard links where the file system lets us: the programs of Kubernetes are hundreds of megabytes. */
function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o755 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkTree(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else {
      try {
        linkSync(source, target);
      } catch {
        copyFileSync(source, target);
      }
    }
  }
}

function othersCanEnter(folder: string): boolean {
  for (let path = folder; path !== dirname(path); path = dirname(path)) {
    if ((statSync(path).mode & 0o001) === 0) return false;
  }
  return true;
}

/**
 * Run between us and the program, when the kernel knows already that the program ends with its parent: if that parent is no longer
 * we, we died a moment before, and nobody would ever end it.
 */
const UNLESS_ORPHANED = '[ "$PPID" = "$1" ] || exit 1; shift; exec "$@"';

/** Starts the program in `folder`, its output appended to `logFile`. */
export function spawnGuarded(program: Program, args: readonly string[], folder: string, logFile: string): ChildProcess {
  guard();
  const { command, prefix, env } = reachable(program);
  const log = openSync(logFile, 'a');
  // A data folder inside a private one (a home with mode 700) can only be used by its owner.
  const user = othersCanEnter(dirname(folder)) ? serverUser() : undefined;
  const setpriv = findOnPath('setpriv');
  const identity = user ? ['--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups'] : [];
  const unlessOrphaned = ['sh', '-c', UNLESS_ORPHANED, 'sh', String(process.pid)];
  const line = setpriv ? [setpriv, '--pdeathsig', 'KILL', ...identity, ...unlessOrphaned, command] : [command];
  const child = spawn(line[0] as string, [...line.slice(1), ...prefix, ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', log, log],
    ...(setpriv || !user ? {} : user),
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  child.once('error', () => children.delete(child));
  return child;
}
