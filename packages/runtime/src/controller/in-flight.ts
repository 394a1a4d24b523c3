/** Long work that was started for a key and goes on between its runs, until it ends or is aborted. */
import { type Command, failed, type Handle, type InFlight, type Outcome } from '../command/command.ts';
import { asReeveError } from '../errors/errors.ts';
import { Cancelled, type CancelReason } from '../worker/cancelled.ts';

interface Running<C extends Command> {
  readonly command: C;
  readonly startedAt: number;
  readonly handle: Handle;
  readonly abort: AbortController;
  readonly ending: Promise<void>;
}

export interface Ended<C extends Command> {
  readonly command: C;
  readonly outcome: Outcome;
}

/** While a handler starts, its signal is that of the run; if it returns a handle, the handle's own. */
export interface Link<C extends Command> {
  readonly signal: AbortSignal;
  keep(command: C, handle: Handle, now: number): void;
  drop(): void;
}

export class InFlightTable<C extends Command> {
  readonly #running = new Map<string, Set<Running<C>>>();
  readonly #ended = new Map<string, readonly Ended<C>[]>();
  readonly #wake: (key: string) => void;

  constructor(wake: (key: string) => void) {
    this.#wake = wake;
  }

  /** Of which something is under way. */
  get keys(): readonly string[] {
    return [...this.#running.keys()];
  }

  of(key: string): readonly InFlight<C>[] {
    return [...(this.#running.get(key) ?? [])].map(({ command, startedAt, handle }) => {
      const progress = handle.progress();
      return { command, startedAt, ...(progress && { progress }) };
    });
  }

  /** What ended and was not told yet. */
  ended(key: string): readonly Ended<C>[] {
    return this.#ended.get(key) ?? [];
  }

  /** These are in the status now. What ended meanwhile is not among them, and stays. */
  told(key: string, told: readonly Ended<C>[]): void {
    const rest = this.ended(key).filter((one) => !told.includes(one));
    if (rest.length > 0) this.#ended.set(key, rest);
    else this.#ended.delete(key);
  }

  link(key: string, run: AbortSignal): Link<C> {
    const abort = new AbortController();
    const onRun = () => abort.abort(run.reason);
    if (run.aborted) onRun();
    run.addEventListener('abort', onRun, { once: true });
    const drop = () => run.removeEventListener('abort', onRun);
    return {
      signal: abort.signal,
      drop,
      keep: (command, handle, startedAt) => {
        drop();
        this.#keep(key, command, handle, startedAt, abort);
      },
    };
  }

  abort(key: string, reason: CancelReason): void {
    for (const { abort } of this.#running.get(key) ?? []) abort.abort(new Cancelled(reason, key));
    this.#ended.delete(key);
  }

  async abortAll(reason: CancelReason): Promise<void> {
    const all = [...this.#running.values()].flatMap((one) => [...one]);
    for (const key of [...this.#running.keys()]) this.abort(key, reason);
    await Promise.all(all.map(({ ending }) => ending));
  }

  #keep(key: string, command: C, handle: Handle, startedAt: number, abort: AbortController): void {
    const all = this.#running.get(key) ?? new Set();
    this.#running.set(key, all);
    const ending = handle.settled.catch(asFailure).then((outcome) => {
      all.delete(running);
      if (all.size === 0) this.#running.delete(key);
      if (abort.signal.aborted) return;
      this.#ended.set(key, [...(this.#ended.get(key) ?? []), { command, outcome }]);
      this.#wake(key);
    });
    const running: Running<C> = { command, startedAt, handle, abort, ending };
    all.add(running);
  }
}

/** Executors answer with outcomes; one that throws instead must not take the process with it. */
function asFailure(error: unknown): Outcome {
  const { code, message } = asReeveError(error);
  return failed(code, message);
}
