/** A machine in memory: files, and processes that do one of two things. It lives on when the node on it dies. */
import { dirname, join } from 'node:path';
import { COOKIE } from '../shim/runs.ts';
import type { Entry, Host, HostFiles, Processes, ProcessRow } from './host.ts';

interface MemoryFile {
  readonly content: string;
  readonly changedAt: number;
  readonly isLink?: boolean;
}

interface MemoryProcess extends ProcessRow {
  readonly env: Readonly<Record<string, string>>;
  /** Only of programs: where the shim that waits for it writes. */
  readonly folder: string | undefined;
  readonly ended: () => void;
}

export class MemoryMachine {
  readonly files = new Map<string, MemoryFile | 'folder'>();
  readonly processes = new Map<number, MemoryProcess>();
  /** Cookies of all programs that ever began. */
  readonly begun: string[] = [];
  #boot = 1;
  readonly #now: () => number;
  #nextPid = 100;

  constructor(now: () => number) {
    this.#now = now;
  }

  get host(): Host {
    return { files: this.#hostFiles, processes: this.#hostProcesses, user: { uid: 1000, gid: 1000 }, path: '/bin' };
  }

  /** Cookies of the programs that run now. */
  get running(): readonly string[] {
    return [...this.processes.values()].flatMap(({ env, folder }) => (folder === undefined ? [] : [env[COOKIE] ?? '']));
  }

  exit(pid: number, code: number): void {
    const program = this.processes.get(pid);
    if (program?.folder === undefined) return;
    this.processes.delete(pid);
    if (this.files.has(program.folder)) this.#put(join(program.folder, 'exit'), `${code}\n`);
    this.processes.delete(program.parent);
    program.ended();
  }

  /** It loses its power: nobody has said anything, and files stay. */
  restart(): void {
    this.processes.clear();
    this.#boot++;
  }

  #put(path: string, content: string, isLink = false): void {
    for (let at = dirname(path); at !== '/' && !this.files.has(at); at = dirname(at)) this.files.set(at, 'folder');
    this.files.set(path, { content, changedAt: this.#now(), isLink });
  }

  readonly #hostFiles: HostFiles = {
    read: async (path) => textOf(this.files.get(path)),
    readFrom: async (path, position, most) => {
      const text = textOf(this.files.get(path));
      return text === undefined ? undefined : Buffer.from(text).subarray(position, position + most);
    },
    open: async (path) => {
      let last = textOf(this.files.get(path));
      if (last === undefined) return undefined;
      const bytes = () => Buffer.from((last = textOf(this.files.get(path)) ?? last ?? ''));
      return {
        size: async () => bytes().length,
        readFrom: async (position, most) => bytes().subarray(position, position + most),
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
    write: async (path, content) => this.#put(path, Buffer.from(content).toString()),
    rewrite: async (path, content) => this.#put(path, content),
    claim: async (path) => {
      if (this.files.has(path)) return false;
      this.#put(path, '');
      return true;
    },
    makeFolder: async (path) => {
      for (let at = path; at !== '/'; at = dirname(at)) this.files.set(at, 'folder');
    },
    makeFolderLike: async (path) => void this.files.set(path, 'folder'),
    link: async (target, path) => this.#put(path, target, true),
    linkTarget: async (path) => textOf(this.files.get(path)),
    setMode: async () => undefined,
    setOwner: async () => undefined,
    remove: async (path) => {
      for (const one of this.files.keys()) if (one === path || one.startsWith(`${path}/`)) this.files.delete(one);
    },
    move: async (from, to) => {
      for (const [one, file] of [...this.files]) {
        if (one !== from && !one.startsWith(`${from}/`)) continue;
        this.files.delete(one);
        this.files.set(`${to}${one.slice(from.length)}`, file);
      }
    },
    list: async (path) => {
      if (!this.files.has(path)) return undefined;
      const entries: Entry[] = [];
      for (const [one, file] of this.files) {
        if (dirname(one) === path) entries.push({ name: one.slice(path.length + 1), kind: kindOf(file) });
      }
      return entries;
    },
    kindOf: async (path) => {
      const file = this.files.get(path);
      return file && (file === 'folder' ? 'folder' : 'file');
    },
    realPath: async (path) => (this.files.has(path) ? path : undefined),
    now: () => this.#now(),
    stat: async (path) => {
      const file = this.files.get(path);
      if (!file) return undefined;
      return file === 'folder' ? { size: 0, changedAt: 0 } : { size: file.content.length, changedAt: file.changedAt };
    },
    truncate: async (path) => this.#put(path, ''),
  };

  readonly #hostProcesses: Processes = {
    bootId: async () => `boot-${this.#boot}`,
    self: () => ({ pid: 1, startTime: '1' }),
    find: (pid) => this.processes.get(pid),
    all: () => [...this.processes.values()],
    environment: (pid) => this.processes.get(pid)?.env,
    sockets: () => [],
    listeners: () => [],
    signal: ({ pid, startTime }, signal) => {
      const found = this.processes.get(pid);
      if (found?.startTime !== startTime) return false;
      if (found.folder !== undefined) this.exit(pid, signal === 'SIGTERM' ? 0 : 137);
      else if (signal === 'SIGKILL') this.processes.delete(pid);
      return true;
    },
    launch: async ({ argv, env }, ended) => this.#shim(argv, env, ended),
    run: async () => ({ code: 0, stdout: '', stderr: '' }),
    stream: async () => 0,
  };

  /** What the shim does, as one step. Programs: `forever`, or `exit CODE`. */
  #shim(argv: readonly string[], env: Readonly<Record<string, string>>, ended: () => void): void {
    const [, , folder = '', program, code] = argv;
    if (!this.files.has(folder) || this.files.has(join(folder, 'claim'))) return queueMicrotask(ended);
    this.#put(join(folder, 'claim'), '');
    const shim = this.#begin(1, env, undefined, ended);
    const main = this.#begin(shim.pid, env, folder, ended);
    this.begun.push(env[COOKIE] ?? '');
    this.#put(join(folder, 'main'), `${statLine(main)}\n${statLine(shim)}\nboot-${this.#boot}\n`);
    if (program === 'exit') this.exit(main.pid, Number(code));
  }

  #begin(parent: number, env: MemoryProcess['env'], folder: string | undefined, ended: () => void): MemoryProcess {
    const pid = this.#nextPid++;
    const row = { pid, startTime: String(pid), parent, session: parent === 1 ? pid : parent, isZombie: false };
    const process: MemoryProcess = { ...row, env, folder, ended };
    this.processes.set(pid, process);
    return process;
  }
}

function kindOf(file: MemoryFile | 'folder'): Entry['kind'] {
  if (file === 'folder') return 'folder';
  return file.isLink ? 'link' : 'file';
}

function textOf(file: MemoryFile | 'folder' | undefined): string | undefined {
  return file === undefined || file === 'folder' ? undefined : file.content;
}

function statLine({ pid, parent, session, startTime }: ProcessRow): string {
  return `${pid} (x) S ${parent} ${pid} ${session} ${'0 '.repeat(15)}${startTime} 0`;
}
