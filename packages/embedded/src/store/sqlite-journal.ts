/**
 * The journal on SQLite, with a log before it: an append is durable in the log, and the database thread folds the log into the database.
 * The thread is started by `load`; all calls to it are answered in the order they were made.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { EmbeddedError } from '../errors/errors.ts';
import type { Wholeness } from './backup-digest.ts';
import { CommitLog, type LogPart, logPath } from './commit-log.ts';
import type { Row } from './entry.ts';
import type { Batch, Journal, Kept } from './journal.ts';
import type { Answer, Request, RowValues, Start } from './sqlite-messages.ts';

export interface SqliteOptions {
  /** The file of the database. Its folder must exist. Other files lie beside it while it is open: see `besideStore`. */
  readonly path: string;
  /** How much the log takes before it is folded into the database; it is twice as large. Default 4 MiB. */
  readonly logBytes?: number;
}

const LOG_BYTES = 4 * 1024 * 1024;

/** What else is part of a store whose process was killed; after an orderly end there is nothing. */
export function besideStore(path: string): readonly string[] {
  return [logPath(path, 0), logPath(path, 1), ...['-wal', '-shm', '-journal'].map((end) => path + end)];
}

export interface FileJournal extends Journal {
  /** Copies all that is durable by then into a new file (mode 0600); writes wait meanwhile. Not before it is loaded. */
  backup(path: string): Promise<void>;
  /** Whether a backup holds what it was made of. Not before it is loaded, nor after something was written. */
  wholeness(): Promise<Wholeness>;
}

export function sqliteJournal({ path, logBytes = LOG_BYTES }: SqliteOptions): FileJournal {
  return new SqliteJournal(path, logBytes);
}

/** Built packages hold JavaScript, and no tool rewrites the ending in a URL. */
const source = new URL('./sqlite-worker.ts', import.meta.url);
const workerFile = import.meta.url.endsWith('.ts') ? source : new URL(source.href.replace(/\.ts$/, '.js'));

interface Waiting<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: EmbeddedError) => void;
}

class SqliteJournal implements FileJournal {
  readonly #path: string;
  readonly #logBytes: number;
  /** Undefined: nothing was written yet. */
  #log: CommitLog | undefined;
  #worker: Worker | undefined;
  #port: MessagePort | undefined;
  #rows: Row[] = [];
  /** The calls that wait for their answers, in order. */
  #waiting: Waiting<Answer>[] = [];
  readonly #backups = new Map<number, Waiting<void>>();
  #lastBackup = 0;
  #closing: Promise<void> | undefined;
  #dead: EmbeddedError | undefined;

  constructor(path: string, logBytes: number) {
    this.#path = path;
    this.#logBytes = logBytes;
  }

  async load(): Promise<Kept> {
    // Two ports of our own: by way of the worker itself a message there and back takes 10 µs more.
    const { port1: here, port2: there } = new MessageChannel();
    // The warning that node:sqlite is young is for developers, not for those who start a server.
    const worker = new Worker(workerFile, {
      workerData: { path: this.#path, port: there } satisfies Start,
      transferList: [there],
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    this.#worker = worker;
    this.#port = here;
    here.on('message', (message: Answer) => this.#hear(message));
    worker.on('error', (error: Error) => this.#lose(error.message));
    worker.on('exit', (code) => {
      // Its end may be told before its last words.
      for (let last = receiveMessageOnPort(here); last !== undefined; last = receiveMessageOnPort(here)) {
        this.#hear(last.message as Answer);
      }
      this.#lose(`its thread ended with ${code}`);
    });
    try {
      const answer = await this.#call({ type: 'load' });
      return { rows: this.#rows, compacted: answer.type === 'loaded' ? answer.compacted : 0 };
    } catch (error) {
      await worker.terminate();
      throw error;
    } finally {
      this.#rows = [];
    }
  }

  async append(batch: Batch): Promise<void> {
    if (this.#dead) throw this.#dead;
    this.#log ??= await this.#begin();
    await this.#log.append(batch);
  }

  /** Who only reads leaves nothing behind. */
  async #begin(): Promise<CommitLog> {
    const answer = await this.#call({ type: 'begin' });
    if (answer.type !== 'begun') throw new Error(`${answer.type} is no answer`);
    const fold = async (part: LogPart): Promise<void> => void (await this.#call({ type: 'fold', part }));
    return CommitLog.open({ path: this.#path, life: answer.life, turnBytes: this.#logBytes, fold });
  }

  backup(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#dead) return reject(this.#dead);
      if (this.#closing) return reject(this.#noBackup('it is being closed'));
      const id = ++this.#lastBackup;
      this.#backups.set(id, { resolve, reject });
      const parts = this.#log?.parts() ?? [];
      this.#port?.postMessage({ type: 'backup', id, path, parts } satisfies Request);
    });
  }

  async wholeness(): Promise<Wholeness> {
    const answer = await this.#call({ type: 'check' });
    if (answer.type !== 'checked') throw new Error(`${answer.type} is no answer`);
    return answer.wholeness;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#log?.close();
    const worker = this.#worker;
    if (worker === undefined || this.#dead) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    await this.#call({ type: 'close', parts: this.#log?.parts() ?? [] });
    await ended;
  }

  #noBackup(why: string): EmbeddedError {
    return new EmbeddedError('EMBEDDED_BACKUP', `${this.#path}: no backup: ${why}`, [this.#path]);
  }

  #call(request: Request): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#dead) return reject(this.#dead);
      this.#waiting.push({ resolve, reject });
      this.#port?.postMessage(request);
    });
  }

  #hear(message: Answer): void {
    if (message.type === 'rows') {
      for (const values of message.rows) this.#rows.push(rowOf(values));
      return;
    }
    if (message.type === 'backedUp') {
      const { id, failure } = message;
      const asked = this.#backups.get(id);
      this.#backups.delete(id);
      if (failure === undefined) asked?.resolve();
      else asked?.reject(this.#noBackup(failure));
      return;
    }
    const waiting = this.#waiting.shift();
    if (message.type !== 'failed') waiting?.resolve(message);
    else waiting?.reject(new EmbeddedError(message.code, `${this.#path}: ${message.message}`, [this.#path]));
  }

  #lose(why: string): void {
    this.#dead ??= new EmbeddedError('EMBEDDED_STORE_FAILED', `${this.#path}: ${why}`, [this.#path]);
    for (const one of [...this.#waiting, ...this.#backups.values()]) one.reject(this.#dead);
    this.#waiting = [];
    this.#backups.clear();
  }
}

const rowOf = ([revision, resource, namespace, name, deleted, body]: RowValues): Row => ({
  revision,
  key: { resource, namespace, name },
  deleted: deleted === 1,
  body,
});
