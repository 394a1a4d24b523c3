/** The journal on SQLite. Its thread is started by `load`; all calls are answered in the order they were made. */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { EmbeddedError } from '../errors/errors.ts';
import type { Row } from './entry.ts';
import type { Batch, Journal, Kept } from './journal.ts';
import type { Answer, Request, RowValues, Start } from './sqlite-messages.ts';

export interface SqliteOptions {
  /** The file of the database. Its folder must exist. Two more files of SQLite lie beside it while it is open. */
  readonly path: string;
}

export interface FileJournal extends Journal {
  /** Copies all that is durable by then into a new file (mode 0600); writes wait meanwhile. Not before it is loaded. */
  backup(path: string): Promise<void>;
}

export function sqliteJournal({ path }: SqliteOptions): FileJournal {
  return new SqliteJournal(path);
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
  #worker: Worker | undefined;
  #port: MessagePort | undefined;
  #rows: Row[] = [];
  /** The call that waits for its answer; there is one at most. */
  #waiting: Waiting<number> | undefined;
  readonly #backups = new Map<number, Waiting<void>>();
  #lastBackup = 0;
  #dead: EmbeddedError | undefined;

  constructor(path: string) {
    this.#path = path;
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
      const compacted = await this.#call({ type: 'load' });
      return { rows: this.#rows, compacted };
    } catch (error) {
      await worker.terminate();
      throw error;
    } finally {
      this.#rows = [];
    }
  }

  async append({ rows, garbage, compacted }: Batch): Promise<void> {
    await this.#call({ type: 'append', rows: rows.map(valuesOf), garbage, compacted });
  }

  backup(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#dead) return reject(this.#dead);
      const id = ++this.#lastBackup;
      this.#backups.set(id, { resolve, reject });
      this.#port?.postMessage({ type: 'backup', id, path } satisfies Request);
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined || this.#dead) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    await this.#call({ type: 'close' });
    await ended;
  }

  #call(request: Request): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#dead) return reject(this.#dead);
      this.#waiting = { resolve, reject };
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
      else asked?.reject(new EmbeddedError('EMBEDDED_BACKUP', `${this.#path}: no backup: ${failure}`, [this.#path]));
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (message.type === 'failed') {
      waiting?.reject(new EmbeddedError(message.code, `${this.#path}: ${message.message}`, [this.#path]));
    } else {
      waiting?.resolve(message.type === 'loaded' ? message.compacted : 0);
    }
  }

  #lose(why: string): void {
    this.#dead ??= new EmbeddedError('EMBEDDED_STORE_FAILED', `${this.#path}: ${why}`, [this.#path]);
    for (const one of [this.#waiting, ...this.#backups.values()]) one?.reject(this.#dead);
    this.#waiting = undefined;
    this.#backups.clear();
  }
}

const valuesOf = ({ revision, key, deleted, body }: Row): RowValues => [
  revision,
  key.resource,
  key.namespace,
  key.name,
  deleted ? 1 : 0,
  body,
];

const rowOf = ([revision, resource, namespace, name, deleted, body]: RowValues): Row => ({
  revision,
  key: { resource, namespace, name },
  deleted: deleted === 1,
  body,
});
