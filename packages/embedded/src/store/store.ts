/**
 * One ordered sequence of revisions over keys. A write is decided at once, on the newest state of its key (also one that
 * is not durable yet), and gets its revision then; it becomes visible, and its promise resolves, when the journal has it.
 * Writes that come while the journal is busy go out together with its next turn. So nothing that a crash could take back
 * is ever seen, writes to one key are in order, and writes to different keys share one fsync.
 */
import type { Clock } from '@reeve/kube';
import { EmbeddedError } from '../errors/errors.ts';
import { type Entry, entryOf, type Key, placeOf, type Row, type StoreEvent } from './entry.ts';
import { History, type HistoryLimits } from './history.ts';
import type { Journal } from './journal.ts';
import { Table } from './table.ts';

export interface StoreOptions {
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'now'>;
  readonly history?: HistoryLimits;
  /** Told of a listener that threw. The write is durable by then, and stands. */
  readonly onError?: (error: unknown) => void;
}

export type Decision =
  | { readonly type: 'put'; readonly body: string; readonly note?: unknown }
  /** The body is the last state, for those who watch. */
  | { readonly type: 'delete'; readonly body: string; readonly note?: unknown }
  /** Nothing to write. */
  | { readonly type: 'keep' };

/** Decides on the current state of the key. May throw, and must not wait. `revision` is the one that a write will get. */
export type Decide = (current: Entry | undefined, revision: number) => Decision;

export interface Written {
  /** The state after the write, or the last one before the object was gone. Undefined when there is and was none. */
  readonly entry: Entry | undefined;
  readonly changed: boolean;
}

export interface Range {
  readonly resource: string;
  /** Undefined: all. */
  readonly namespace?: string | undefined;
  /** The first place that is wanted. */
  readonly from?: string;
  /** A past revision. Default: now. */
  readonly at?: number;
}

export type Listener = (events: readonly StoreEvent[]) => void;

interface PendingWrite {
  readonly row: Row;
  readonly entry: Entry;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: unknown) => void;
}

/** The newest state of a key whose last writes are not durable yet. */
interface Head {
  readonly entry: Entry | undefined;
  readonly revision: number;
  readonly durable: Promise<unknown>;
}

export class Store {
  readonly #journal: Journal;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #history: History;
  readonly #onError: (error: unknown) => void;
  readonly #tables = new Map<string, Table>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #heads = new Map<string, Head>();
  #waiting: PendingWrite[] = [];
  #garbage: number[] = [];
  #visible: number;
  #assigned: number;
  #writing: Promise<void> | undefined;
  #broken: EmbeddedError | undefined;

  static async open(options: StoreOptions): Promise<Store> {
    const { rows, compacted } = await options.journal.load();
    return new Store(options, rows, compacted);
  }

  private constructor({ journal, clock, history, onError }: StoreOptions, rows: readonly Row[], compacted: number) {
    this.#journal = journal;
    this.#clock = clock;
    this.#history = new History(history ?? {}, compacted);
    this.#onError = onError ?? (() => undefined);
    const now = clock.now();
    for (const { key } of rows) if (!this.#tables.has(key.resource)) this.#tables.set(key.resource, new Table(true));
    for (const row of rows) this.#show(row, entryOf(row), now, row.revision > compacted);
    for (const table of this.#tables.values()) table.loaded();
    this.#visible = Math.max(rows.at(-1)?.revision ?? 0, compacted);
    this.#assigned = this.#visible;
  }

  /** The newest revision that can be seen. */
  get revision(): number {
    return this.#visible;
  }

  /** Up to and with this revision there are no events and no past states any more. */
  get compacted(): number {
    return this.#history.compacted;
  }

  get(key: Key): Entry | undefined {
    return this.#tables.get(key.resource)?.get(placeOf(key));
  }

  count(resource: string): number {
    return this.#tables.get(resource)?.size ?? 0;
  }

  /** In order of places. A past revision must lie after `compacted` or be equal to it: the caller has looked. */
  range({ resource, namespace, from = '', at }: Range): readonly Entry[] {
    const undone = at === undefined || at >= this.#visible ? undefined : this.#history.undo(at, resource);
    return (this.#tables.get(resource) ?? new Table()).range(namespace, from, undone);
  }

  /** The objects of a resource as decided, durable or not: for what must be unique among all of them. */
  *newest(resource: string): Generator<Entry, void, undefined> {
    for (const entry of this.range({ resource })) if (!this.#heads.has(`${resource}\n${entry.place}`)) yield entry;
    for (const { entry } of this.#heads.values()) if (entry?.key.resource === resource) yield entry;
  }

  /** Events after a revision, which must not lie before `compacted`. */
  since(resource: string, revision: number): readonly StoreEvent[] {
    return this.#history.since(revision, resource);
  }

  /** Told of all events of a resource from now on, in order, as soon as they are visible. One that throws is reported, no more. */
  listen(resource: string, listener: Listener): Disposable {
    const listeners = this.#listeners.get(resource) ?? new Set();
    this.#listeners.set(resource, listeners);
    listeners.add(listener);
    return { [Symbol.dispose]: () => void listeners.delete(listener) };
  }

  async write(key: Key, decide: Decide): Promise<Written> {
    if (this.#broken) throw this.#broken;
    const id = `${key.resource}\n${placeOf(key)}`;
    const head = this.#heads.get(id);
    const current = head === undefined ? this.get(key) : head.entry;
    const revision = this.#assigned + 1;
    let decision: Decision;
    try {
      decision = decide(current, revision);
    } catch (error) {
      // The answer tells of a state that is not durable yet.
      await head?.durable;
      throw error;
    }
    if (decision.type === 'keep') {
      await head?.durable;
      return { entry: current, changed: false };
    }
    this.#assigned = revision;
    const deleted = decision.type === 'delete';
    const row: Row = { revision, key, deleted, body: decision.body };
    const entry = entryOf(row, decision.note);
    const durable = new Promise<Written>((resolve, reject) => this.#waiting.push({ row, entry, resolve, reject }));
    // Those who hang on the head get the failure from here, too.
    this.#heads.set(id, { entry: deleted ? undefined : entry, revision, durable });
    this.#writing ??= this.#drain();
    return durable;
  }

  /** Forgets events up to and with a revision; those who need them get a 410. */
  compact(revision: number): void {
    for (const one of this.#history.compact(Math.min(revision, this.#visible))) this.#garbage.push(one);
  }

  /** Waits for writes under way. */
  async close(): Promise<void> {
    this.#broken ??= new EmbeddedError('EMBEDDED_STORE_FAILED', 'the store is closed');
    await this.#writing;
    await this.#journal.close();
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      const garbage = this.#garbage;
      this.#garbage = [];
      try {
        await this.#journal.append({ rows: batch.map(({ row }) => row), garbage, compacted: this.compacted });
      } catch (error) {
        if (!isFull(error)) {
          this.#fail(batch, error);
          break;
        }
        this.#garbage = [...garbage, ...this.#garbage];
        this.#refuse(batch, error);
        continue;
      }
      this.#publish(batch);
    }
    this.#writing = undefined;
  }

  #publish(batch: readonly PendingWrite[]): void {
    const now = this.#clock.now();
    const events = new Map<string, StoreEvent[]>();
    for (const { row, entry } of batch) {
      const event = this.#show(row, entry, now, true);
      const { resource } = row.key;
      const ofResource = events.get(resource);
      if (ofResource === undefined) events.set(resource, [event]);
      else ofResource.push(event);
      const id = `${resource}\n${entry.place}`;
      if (this.#heads.get(id)?.revision === row.revision) this.#heads.delete(id);
    }
    this.#visible = (batch.at(-1) as PendingWrite).row.revision;
    for (const revision of this.#history.trim(now)) this.#garbage.push(revision);
    for (const [resource, ofResource] of events) {
      for (const listener of this.#listeners.get(resource) ?? []) this.#tell(listener, ofResource);
      for (const event of ofResource) event.note = undefined;
    }
    for (const { entry, resolve } of batch) resolve({ entry, changed: true });
  }

  /** Others still have to hear of it, and whoever wrote it waits for an answer. */
  #tell(listener: Listener, events: readonly StoreEvent[]): void {
    try {
      listener(events);
    } catch (error) {
      this.#onError(error);
    }
  }

  #show(row: Row, entry: Entry, at: number, remember: boolean): StoreEvent {
    const table = this.#tables.get(row.key.resource) ?? new Table();
    this.#tables.set(row.key.resource, table);
    const event: StoreEvent = {
      revision: row.revision,
      entry,
      previous: table.get(entry.place),
      deleted: row.deleted,
      at,
      note: undefined,
    };
    if (row.deleted) table.remove(entry.place);
    else table.put(entry);
    if (remember) this.#history.add(event);
    return event;
  }

  /** There was no room for it, and nothing of it is stored; what was decided on top of it cannot stand either. The next write may find room. */
  #refuse(batch: readonly PendingWrite[], error: EmbeddedError): void {
    const refused = [...batch, ...this.#waiting];
    this.#waiting = [];
    this.#heads.clear();
    this.#assigned = this.#visible;
    for (const { reject } of refused) reject(error);
  }

  /** Whether the batch reached the disk is not known: going on could hand out its revisions twice. */
  #fail(batch: readonly PendingWrite[], cause: unknown): void {
    const why = cause instanceof Error ? cause.message : String(cause);
    this.#broken = new EmbeddedError('EMBEDDED_STORE_FAILED', `the store cannot write: ${why}`, [], cause);
    for (const { reject } of [...batch, ...this.#waiting]) reject(this.#broken);
    this.#waiting = [];
    this.#heads.clear();
  }
}

function isFull(error: unknown): error is EmbeddedError {
  return error instanceof EmbeddedError && error.code === 'EMBEDDED_STORE_FULL';
}
