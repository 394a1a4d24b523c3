/** The machine that pods run on, as the node needs it: files and processes. `systemHost` is the real one. */
import type { Listener } from './listeners.ts';

/** A process that is not mistaken for a later one with its number: together with the boot id this names it for good. */
export interface ProcessId {
  readonly pid: number;
  /** Ticks since the machine started, as the kernel counts them. */
  readonly startTime: string;
}

export interface ProcessRow extends ProcessId {
  readonly parent: number;
  readonly session: number;
  /** It ended, and nobody has asked for its exit code yet. */
  readonly isZombie: boolean;
}

export interface LaunchRequest {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
}

export interface RunRequest extends LaunchRequest {
  /** Kills it, with all that it started, when it aborts. */
  readonly signal: AbortSignal;
  /** Of each of the two outputs no more than this many bytes are kept. Default 1 MiB. */
  readonly mostBytes?: number;
  readonly input?: string;
}

export interface StreamRequest extends LaunchRequest {
  /** Kills it, with all that it started, when it aborts. */
  readonly signal: AbortSignal;
  /** Undefined: it has nothing to read. It need not be read to its end. */
  readonly input: AsyncIterable<Uint8Array> | undefined;
  /** Told of what it writes, piece by piece: of each of the two the next one waits for the one before. */
  output(stream: 'stdout' | 'stderr', chunk: Uint8Array): Promise<void>;
}

export interface RunResult {
  /** 128 and the signal's number if a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Processes {
  /** Another one after each start of the machine. */
  bootId(): Promise<string>;
  /** The process that this runs in. */
  self(): ProcessId;
  find(pid: number): ProcessRow | undefined;
  all(): readonly ProcessRow[];
  /** What it was started with, or undefined if it is gone or not ours. */
  environment(pid: number): Readonly<Record<string, string>> | undefined;
  /** Inodes of its open sockets; none if it is gone or not ours. */
  sockets(pid: number): readonly string[];
  /** Sockets of the whole machine that listen. */
  listeners(): readonly Listener[];
  /** False if this very process is not there any more. */
  signal(id: ProcessId, signal: NodeJS.Signals): boolean;
  /** Starts a process in a session of its own, which outlives this one and has none of its pipes. Calls back when it ended, if we live to see it. */
  launch(request: LaunchRequest, ended: () => void): Promise<void>;
  /** Runs a command to its end. Rejects if it cannot be started. */
  run(request: RunRequest): Promise<RunResult>;
  /** The same with its streams as they come. Its exit code, as of `run`. */
  stream(request: StreamRequest): Promise<number>;
}

export interface Entry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Can be read to its end also when it was removed meanwhile. */
export interface OpenFile extends AsyncDisposable {
  size(): Promise<number>;
  /** Bytes from a position on; none at its end. */
  readFrom(position: number, most: number): Promise<Uint8Array>;
}

export interface HostFiles {
  /** The text, or undefined if there is no such file. */
  read(path: string): Promise<string | undefined>;
  /** Bytes from a position on; undefined if there is no such file. */
  readFrom(path: string, position: number, most: number): Promise<Uint8Array | undefined>;
  /** Undefined if there is no such file. */
  open(path: string): Promise<OpenFile | undefined>;
  /** Replaces a file as a whole. Mode 0600 unless told. */
  write(path: string, content: string | Uint8Array, mode?: number): Promise<void>;
  /** Writes into the file that is there: others may have it bound. */
  rewrite(path: string, content: string): Promise<void>;
  /** False if somebody else made it before. */
  claim(path: string): Promise<boolean>;
  makeFolder(path: string, mode?: number): Promise<void>;
  /** One folder with owner and mode of another, if it is not there. Refused if somebody makes its path lead elsewhere. Root’s right. */
  makeFolderLike(path: string, like: string): Promise<void>;
  /** A symbolic link, in place of one that is there. */
  link(target: string, path: string): Promise<void>;
  linkTarget(path: string): Promise<string | undefined>;
  setMode(path: string, mode: number): Promise<void>;
  /** Gives it to somebody else, with all that is in it if so wished: then nobody else may have any of it yet. Root's right. */
  setOwner(path: string, owner: Owner, isDeep: boolean): Promise<void>;
  /** With all that is in it, and nothing else, whoever has a hand in it meanwhile. What is mounted there is refused. */
  remove(path: string): Promise<void>;
  /** A folder under another name, on the same disk, where nothing is yet. */
  move(from: string, to: string): Promise<void>;
  /** What is in a folder; undefined if there is none. */
  list(path: string): Promise<readonly Entry[] | undefined>;
  /** What it is, links followed; undefined if there is nothing. */
  kindOf(path: string): Promise<Entry['kind'] | undefined>;
  /** Without links; undefined if there is nothing. */
  realPath(path: string): Promise<string | undefined>;
  /** The clock by which files are dated. */
  now(): number;
  /** Size and time of the last change, by that clock. */
  stat(path: string): Promise<{ readonly size: number; readonly changedAt: number } | undefined>;
  /** Empties a file whose writers append. */
  truncate(path: string): Promise<void>;
}

export interface Host {
  readonly files: HostFiles;
  readonly processes: Processes;
  /** Who runs this. Root may do without user namespaces, and must not run everything as root. */
  readonly user: Owner;
  /** Where programs are looked for. */
  readonly path: string;
}
