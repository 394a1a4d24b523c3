/** The runs of containers on disk: begun, read, asked to end, ended. Everything is written down before it is done. */
import { join } from 'node:path';
import { ReeveError } from '@reeve/runtime';
import type { Host, ProcessId, ProcessRow } from '../host/host.ts';
import { isMarkedThere, ownMark, type ProcessMark } from '../host/process-mark.ts';
import { descendants } from '../host/process-table.ts';
import { FileTimes } from './file-times.ts';
import { type Evidence, type Instance, type Intent, instanceOf, parseIdentity, type StopRecord } from './instance.ts';
import { SHIM } from './script.ts';

/** In the environment of every process of a container, by which it is found wherever it went. */
export const COOKIE = 'REEVE_COOKIE';
/** In that of the shim alone: the program runs in a box that must be made first. */
const BOXED = 'REEVE_BOXED';

export interface RunKey {
  readonly uid: string;
  readonly container: string;
  readonly attempt: number;
}

export interface Begin {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly driver: string;
  readonly image: string;
  readonly isBoxed: boolean;
  readonly workingDir?: string | undefined;
  readonly delayMs: number;
}

/** One look at all processes, for many questions. */
export interface ProcessScan {
  readonly table: readonly ProcessRow[];
  /** Those that have one, zombies left out. */
  readonly byCookie: ReadonlyMap<string, readonly ProcessRow[]>;
}

const MOST_PASSES = 3;

/** Takes room on the disk for what the shim will have to say: it writes over it, also when the disk has become full. Says nothing by itself. */
const ROOM = ' \n';

/** A claimed run without an identity is looked for among all processes, but not before its shim had time to say who it is. */
const SHY_MS = 1_000;

export class Runs {
  /** Of one node: whatever is in it belongs to it. */
  readonly folder: string;
  readonly #host: Host;
  readonly #now: () => number;
  readonly #times: FileTimes;
  readonly #bootId: string;
  /** Runs begun in this process whose shim is known to be there. */
  readonly #launched = new Set<string>();

  private constructor(host: Host, folder: string, now: () => number, bootId: string) {
    this.#host = host;
    this.folder = folder;
    this.#now = now;
    this.#times = new FileTimes(host.files, now);
    this.#bootId = bootId;
  }

  static async open(host: Host, folder: string, now: () => number): Promise<Runs> {
    await host.files.makeFolder(join(folder, 'pods'));
    await takeFolder(host, folder);
    // In place of the one before as a whole: shims of then go on reading theirs.
    await host.files.write(join(folder, 'shim.sh'), SHIM);
    return new Runs(host, folder, now, await host.processes.bootId());
  }

  podFolder(uid: string): string {
    return join(this.folder, 'pods', uid);
  }

  containerFolder({ uid, container }: Omit<RunKey, 'attempt'>): string {
    return join(this.podFolder(uid), 'containers', container);
  }

  runFolder(key: RunKey): string {
    return join(this.containerFolder(key), String(key.attempt));
  }

  logPath(key: RunKey): string {
    return join(this.runFolder(key), 'log');
  }

  /** Where the program may say why it ends. Beside the run's own folder: somebody else may have to get there. */
  messagePath(key: RunKey): string {
    return join(this.containerFolder(key), `message-${key.attempt}`);
  }

  /** The newest run and, if it is not the first, the one before. */
  async attemptsOf(key: Omit<RunKey, 'attempt'>): Promise<readonly number[]> {
    const entries = (await this.#host.files.list(this.containerFolder(key))) ?? [];
    return entries
      .filter(({ name }) => /^\d+$/.test(name))
      .map(({ name }) => Number(name))
      .sort((a, b) => a - b);
  }

  async begin(key: RunKey, begin: Begin, ended: () => void): Promise<void> {
    const { files, processes } = this.#host;
    const { argv, env, ...about } = begin;
    const { isBoxed } = about;
    const folder = this.runFolder(key);
    if (await files.stat(folder)) await files.remove(folder); // of a run that never came to be
    const scratch = join(this.containerFolder(key), 'scratch');
    if (!(await files.stat(scratch))) await files.makeFolder(scratch);
    const intent: Intent = { attempt: key.attempt, at: this.#now(), bootId: this.#bootId, ...about };
    for (const name of ['main', 'exit.new', ...(isBoxed ? ['up'] : [])]) await files.write(join(folder, name), ROOM);
    await files.write(join(folder, 'intent'), JSON.stringify(intent));
    const id = this.cookieOf(key);
    this.#launched.add(id);
    const over = () => {
      this.#launched.delete(id);
      ended();
    };
    try {
      await processes.launch(
        {
          argv: ['/bin/sh', join(this.folder, 'shim.sh'), folder, ...argv],
          env: { ...env, [COOKIE]: id, ...(isBoxed && { [BOXED]: 'yes' }) },
          folder: scratch,
        },
        over,
      );
    } catch (error) {
      this.#launched.delete(id);
      throw new ReeveError('NODE_LAUNCH', `${key.container}: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Undefined: there is no such run. `minded`: how it was asked to end, if that is not written down. */
  async read(key: RunKey, isGivingUp = false, minded?: StopRecord): Promise<Instance | undefined> {
    const { files } = this.#host;
    const folder = this.runFolder(key);
    const meant = await files.read(join(folder, 'intent'));
    if (meant === undefined) return undefined;
    const told = jsonOf<Intent>(meant);
    const intent = told ?? unreadable(key, this.#now());
    const stop = jsonOf<StopRecord>(await files.read(join(folder, 'stop'))) ?? minded;
    const mainPath = join(folder, 'main');
    const text = await files.read(mainPath);
    const writtenAt = await this.#times.changedAt(mainPath);
    const identity = text === undefined ? undefined : parseIdentity(text, writtenAt ?? intent.at);
    const isHere = identity?.bootId === this.#bootId;
    const isMainAlive = isHere && this.isAlive(identity.main);
    const isShimAlive = isHere && this.isAlive(identity.shim);
    const exit = await this.#exitOf(folder);
    const evidence: Evidence = {
      intent,
      stop,
      identity,
      exit,
      bootId: this.#bootId,
      isMainAlive,
      isShimAlive,
      isUp: intent.isBoxed && (await files.read(join(folder, 'up')))?.startsWith('\n') === true,
      isGivenUp: false,
      isDeserted: false,
      now: this.#now(),
    };
    if (identity || exit || this.#launched.has(this.cookieOf(key))) return instanceOf(evidence);
    // A shim that was never heard of: either it can never begin any more, or it did and must be among the processes. Where the intent
    // was lost with the power, the claim may have been, too.
    const isUnclaimed = isGivingUp && told !== undefined && (await files.claim(join(folder, 'claim')));
    if (isUnclaimed) return instanceOf({ ...evidence, isGivenUp: true });
    const isShy = this.#now() - intent.at < SHY_MS && !isGivingUp;
    return instanceOf({ ...evidence, isDeserted: !isShy && !this.scan().byCookie.has(this.cookieOf(key)) });
  }

  async recordStop(key: RunKey, stop: StopRecord): Promise<void> {
    await this.#host.files.write(join(this.runFolder(key), 'stop'), JSON.stringify(stop));
  }

  isAlive(id: ProcessId): boolean {
    const row = this.#host.processes.find(id.pid);
    return row !== undefined && row.startTime === id.startTime && !row.isZombie;
  }

  cookieOf({ uid, container, attempt }: RunKey): string {
    return `${this.folder}#${uid}/${container}/${attempt}`;
  }

  /**
   * What a run was begun with. Asked of its shim: a program may write its title over its own (Valkey, Redis and Postgres do). Undefined
   * if the shim is gone.
   */
  environmentOf({ shim }: Pick<Instance, 'shim'>): Readonly<Record<string, string>> | undefined {
    const found = shim && this.#host.processes.environment(shim.pid);
    // In this order: the number may have become another's.
    if (!found || !this.isAlive(shim)) return undefined;
    const { [BOXED]: _ours, ...env } = found;
    return env;
  }

  /** True if its end will be told to this process. It need not be looked for as often. */
  isHeard(key: RunKey): boolean {
    return this.#launched.has(this.cookieOf(key));
  }

  scan(): ProcessScan {
    const { processes } = this.#host;
    const table = processes.all();
    const byCookie = new Map<string, ProcessRow[]>();
    for (const row of table) {
      const cookie = row.isZombie ? undefined : processes.environment(row.pid)?.[COOKIE];
      if (cookie === undefined) continue;
      const rows = byCookie.get(cookie);
      if (rows) rows.push(row);
      else byCookie.set(cookie, [row]);
    }
    return { table, byCookie };
  }

  /** Whatever belongs to a run, without its shim, which is to say how it ended. */
  processesOf(key: RunKey, instance: Pick<Instance, 'main' | 'shim'>, scan = this.scan()): readonly ProcessRow[] {
    const { table, byCookie } = scan;
    const { main, shim } = instance;
    const roots = main && this.isAlive(main) ? table.filter(({ pid }) => pid === main.pid) : [];
    const found = new Map((byCookie.get(this.cookieOf(key)) ?? []).map((row) => [row.pid, row]));
    const sessions = shim && this.isAlive(shim) ? table.filter(({ session }) => session === shim.pid) : [];
    for (const row of [...roots, ...sessions]) found.set(row.pid, row);
    for (const row of descendants([...found.keys()], table)) found.set(row.pid, row);
    return [...found.values()].filter(({ pid, isZombie }) => !isZombie && pid !== shim?.pid);
  }

  /** Ends everything of a run at once. True if there was nothing to end. */
  kill(key: RunKey, instance: Pick<Instance, 'main' | 'shim'>): boolean {
    // More than once: whoever forks without end must not win.
    for (let pass = 0; ; pass++) {
      const rows = this.processesOf(key, instance);
      for (const row of rows) this.#host.processes.signal(row, 'SIGKILL');
      if (rows.length === 0 || pass === MOST_PASSES) return pass === 0;
    }
  }

  /** Processes of pods of this node that nobody knows any more, with their shims. */
  orphans(isKnown: (uid: string) => boolean): readonly ProcessRow[] {
    const ours = `${this.folder}#`;
    const { table, byCookie } = this.scan();
    const unknown = [...byCookie].filter(
      ([cookie]) => cookie.startsWith(ours) && !isKnown(cookie.slice(ours.length).split('/')[0] ?? ''),
    );
    const roots = unknown.flatMap(([, rows]) => rows);
    const below = descendants(
      roots.map(({ pid }) => pid),
      table,
    );
    return [...roots, ...below].filter(({ isZombie }) => !isZombie);
  }

  async #exitOf(folder: string): Promise<Evidence['exit']> {
    const path = join(folder, 'exit');
    const text = await this.#host.files.read(path);
    // Anything else was cut off, by a full disk or a loss of power: how the run ended is unknown, and must not be taken for a 0.
    if (text === undefined || !/^\d{1,3}\n$/.test(text)) return undefined;
    return { code: Number(text), at: (await this.#times.changedAt(path)) ?? this.#now() };
  }
}

/** Undefined also where it cannot be read: after a loss of power, files that were just written may be empty. */
function jsonOf<T extends object>(text: string | undefined): T | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Of a run of which nobody knows any more how it was meant. That it was meant is known, so that it is not begun as if it never had been;
 * and it is of this start of the machine only if it says so itself.
 */
function unreadable({ attempt }: RunKey, at: number): Intent {
  return { attempt, at, bootId: 'unknown', delayMs: 0, driver: 'plain', image: '', isBoxed: false };
}

/** Two nodes on one folder would end each other's pods. The one before must have ended; how does not matter. */
async function takeFolder({ files, processes }: Host, folder: string): Promise<void> {
  const path = join(folder, 'owner');
  const self = await ownMark(processes);
  const owner = jsonOf<ProcessMark>(await files.read(path));
  if (owner !== undefined && owner.pid !== self.pid && (await isMarkedThere(processes, owner))) {
    const message = `the folder ${folder} belongs to a node that runs: process ${owner.pid}`;
    throw new ReeveError('NODE_FOLDER_IN_USE', message, { subjects: [folder, String(owner.pid)] });
  }
  await files.write(path, JSON.stringify(self));
}
