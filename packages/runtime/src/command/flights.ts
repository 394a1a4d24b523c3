/**
 * Commands that were started and have not ended, each under a name. A worker starts them, comes back later, and collects what
 * ended: it never waits for long work. What is left when they are disposed is aborted and waited for.
 */
import { asReeveError } from '../errors/errors.ts';
import type { Clock } from '../ports/ports.ts';
import { type Command, failed, type Handle, type InFlight, type Outcome, type Run } from './command.ts';
import { type Executor, isHandle } from './executor.ts';

export interface Ended<C extends Command> {
  readonly name: string;
  readonly command: C;
  readonly outcome: Outcome;
}

interface Flight<C extends Command> {
  readonly command: C;
  readonly startedAt: number;
  /** Resolves when it has ended and can be collected. */
  readonly landing: Promise<void>;
  handle: Handle | undefined;
  outcome: Outcome | undefined;
}

export class Flights<C extends Command = Command> implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #ended: () => void;
  readonly #flights = new Map<string, Flight<C>>();
  readonly #stop = new AbortController();

  /** `ended` is called whenever there is something to collect: put the key into its queue. */
  constructor(ports: { readonly clock: Clock }, ended: () => void = () => undefined) {
    this.#clock = ports.clock;
    this.#ended = ended;
  }

  /** Starts a command unless one of this name is under way or not collected yet. Returns at once. */
  start(name: string, command: C, executor: Executor<C>, run?: Run): void {
    if (this.#flights.has(name) || this.#stop.signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const flight: Flight<C> = {
      command,
      startedAt: this.#clock.now(),
      landing: promise,
      handle: undefined,
      outcome: undefined,
    };
    this.#flights.set(name, flight);
    void this.#fly(flight, executor, run).then((outcome) => {
      flight.outcome = outcome;
      resolve();
      this.#ended();
    });
  }

  has(name: string): boolean {
    return this.#flights.has(name);
  }

  /** What is under way, as a plan wants to see it. */
  inFlight(): readonly (InFlight<C> & { readonly name: string })[] {
    return [...this.#flights]
      .filter(([, { outcome }]) => outcome === undefined)
      .map(([name, { command, startedAt, handle }]) => {
        const progress = handle?.progress();
        return { name, command, startedAt, ...(progress && { progress }) };
      });
  }

  /** What ended since this was asked last. */
  collect(): readonly Ended<C>[] {
    const ended: Ended<C>[] = [];
    for (const [name, { command, outcome }] of this.#flights) {
      if (!outcome) continue;
      this.#flights.delete(name);
      ended.push({ name, command, outcome });
    }
    return ended;
  }

  /** Aborts everything with this reason and starts nothing any more. */
  abort(reason: Error): void {
    this.#stop.abort(reason);
  }

  /** Resolves when nothing is under way any more. */
  async landed(): Promise<void> {
    await Promise.all([...this.#flights.values()].map(({ landing }) => landing));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.landed();
  }

  async #fly(flight: Flight<C>, executor: Executor<C>, run: Run | undefined): Promise<Outcome> {
    try {
      const result = await executor.start(flight.command, this.#stop.signal, run);
      if (!isHandle<Outcome>(result)) return result;
      flight.handle = result;
      return await result.settled;
    } catch (error) {
      const known = asReeveError(error);
      return failed(known.code, known.message);
    }
  }
}
