/**
 * The commit log: what was appended is durable, by one write of whole pages into a file that has its room already. One write in one of
 * Node's threads is all that an append waits for; a commit of the database would be six writes, a sync and two more threads to wake.
 *
 * Two files take turns. When one is full the other is written to, and meanwhile the database thread folds the full one into the database.
 */
import { close, constants, fstat, ftruncate, open, write } from 'node:fs';
import { promisify } from 'node:util';
import { EmbeddedError } from '../errors/errors.ts';
import type { Batch } from './journal.ts';
import { encodeRecord, type Mark, PAGE, upTo } from './log-record.ts';

export type LogFile = 0 | 1;

/** Where the files of the log lie beside the database. */
export const logPath = (path: string, file: LogFile): string => `${path}-log${file}`;

/** A part of the log: the beginning of one of its files, as far as it is acknowledged. */
export interface LogPart {
  readonly file: LogFile;
  readonly bytes: number;
  readonly turn: number;
}

export interface CommitLogOptions {
  /** Of the database; the files of the log are there. */
  readonly path: string;
  readonly life: Uint8Array;
  /** The other file is used from this size on. */
  readonly turnBytes: number;
  /** Puts a part into the database, to stay. May be asked for the same part again. */
  readonly fold: (part: LogPart) => Promise<void>;
}

/** Room is made by this many bytes: a write that makes a file longer takes several times as long as one that does not. */
const ROOM = 1024 * 1024;
const SCRATCH = 256 * 1024;

const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(fstat);
const cutFile = promisify(ftruncate);

export class CommitLog {
  readonly #options: CommitLogOptions;
  readonly #files: readonly [number, number];
  readonly #room: [number, number];
  readonly #isFolded: [boolean, boolean] = [true, true];
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH);
  #active: LogFile = 0;
  #turn = 1;
  #at = 0;
  /** Where the other file ended. */
  #otherEnd = 0;
  /** Never fails: what is not folded is tried again when it has to be. */
  #folding: Promise<void> = Promise.resolve();
  #broken: EmbeddedError | undefined;

  static async open(options: CommitLogOptions): Promise<CommitLog> {
    // Data is durable when a write returns, and so is what is needed to find it.
    const flags = constants.O_RDWR | constants.O_DSYNC;
    const files: number[] = [];
    const room: number[] = [];
    try {
      for (const file of [0, 1] as const) {
        const opened = await openFile(logPath(options.path, file), flags);
        files.push(opened);
        room.push((await statFile(opened)).size);
      }
    } catch (error) {
      await closeAll(files);
      throw error;
    }
    return new CommitLog(options, files as [number, number], room as [number, number]);
  }

  private constructor(options: CommitLogOptions, files: readonly [number, number], room: [number, number]) {
    this.#options = options;
    this.#files = files;
    this.#room = room;
  }

  /** One at a time. After EMBEDDED_STORE_FULL nothing of it is there; after any other failure nothing may follow. */
  async append(batch: Batch): Promise<void> {
    if (this.#broken) throw this.#broken;
    if (this.#at >= this.#options.turnBytes) await this.#turnOver();
    const mark: Mark = { life: this.#options.life, turn: this.#turn };
    const record = encodeRecord(batch, mark, this.#scratch);
    const end = this.#at + record.length;
    if (end > this.#room[this.#active]) await this.#makeRoom(end);
    const failure = await this.#write(record, this.#at);
    if (failure) throw await this.#takeBack(failure);
    this.#at = end;
  }

  /** Everything that was appended so far, as parts in order. Those that are not folded yet are folded in this order. */
  parts(): readonly LogPart[] {
    return this.#isFolded[other(this.#active)] ? [this.#activePart()] : [this.#otherPart(), this.#activePart()];
  }

  /** Waits for no more than is under way. */
  async close(): Promise<void> {
    await this.#folding;
    await closeAll(this.#files);
  }

  #activePart(): LogPart {
    return { file: this.#active, bytes: this.#at, turn: this.#turn };
  }

  #otherPart(): LogPart {
    return { file: other(this.#active), bytes: this.#otherEnd, turn: this.#turn - 1 };
  }

  async #turnOver(): Promise<void> {
    const next = other(this.#active);
    await this.#folding;
    if (!this.#isFolded[next]) await this.#fold(this.#otherPart());
    // Batches can be much larger than a turn; their room is given back.
    const most = upTo(this.#options.turnBytes, ROOM) + ROOM;
    if (this.#room[next] > most) {
      await cutFile(this.#files[next], most);
      this.#room[next] = most;
    }
    this.#otherEnd = this.#at;
    this.#active = next;
    this.#turn++;
    this.#at = 0;
    this.#isFolded[other(next)] = false;
    this.#folding = this.#fold(this.#otherPart()).catch(() => undefined);
  }

  async #fold(part: LogPart): Promise<void> {
    await this.#options.fold(part);
    this.#isFolded[part.file] = true;
  }

  async #makeRoom(end: number): Promise<void> {
    const from = this.#room[this.#active];
    const room = upTo(end, ROOM);
    const failure = await this.#write(Buffer.alloc(room - from), from);
    // What is behind the last record is nobody's: it may stay as it is.
    if (failure) throw isFull(failure) ? this.#full(failure) : this.#break(failure);
    this.#room[this.#active] = room;
  }

  /** A record that is refused must not be found after a crash. */
  async #takeBack(failure: NodeJS.ErrnoException): Promise<EmbeddedError> {
    if (!isFull(failure) || (await this.#write(Buffer.alloc(PAGE), this.#at))) return this.#break(failure);
    return this.#full(failure);
  }

  #full({ message }: Error): EmbeddedError {
    return new EmbeddedError('EMBEDDED_STORE_FULL', `${this.#options.path}: ${message}`, [this.#options.path]);
  }

  #break({ message }: Error): EmbeddedError {
    const { path } = this.#options;
    this.#broken = new EmbeddedError('EMBEDDED_STORE_FAILED', `${path}: ${message}`, [path]);
    return this.#broken;
  }

  /** All of it, or why not. */
  #write(bytes: Buffer, at: number): Promise<NodeJS.ErrnoException | undefined> {
    const file = this.#files[this.#active];
    return new Promise((resolve) => {
      const from = (offset: number): void => {
        write(file, bytes, offset, bytes.length - offset, at + offset, (error, written) => {
          if (error) resolve(error);
          else if (offset + written >= bytes.length) resolve(undefined);
          else from(offset + written);
        });
      };
      from(0);
    });
  }
}

/** Everything that counts was durable when it was written: whether they can be closed makes no difference. */
async function closeAll(files: readonly number[]): Promise<void> {
  await Promise.allSettled(files.map((file) => closeFile(file)));
}

const other = (file: LogFile): LogFile => (file === 0 ? 1 : 0);

const isFull = ({ code }: NodeJS.ErrnoException): boolean => code === 'ENOSPC' || code === 'EDQUOT';
