import { asReeveError, ReeveError } from '../errors/errors.ts';
import { deadline } from '../ports/deadline.ts';
import type { Clock } from '../ports/ports.ts';
import type { Command, DoneCheck, Handle, HandlerOutcome, Outcome, Run } from './command.ts';
import { failed } from './command.ts';

/**
 * The one handler of a command type. It re-reads the command's evidence live, answers `stale` when that no longer
 * holds, and can tell that the command is already done (then it answers `done` and changes nothing).
 * What takes longer than a few seconds returns a handle, or waits up to a limit and no longer than the signal lets it.
 */
export interface Handler<C extends Command, Context> {
  readonly type: C['type'];
  run(command: C, context: Context, signal: AbortSignal): Promise<HandlerOutcome | Handle<HandlerOutcome>>;
  /**
   * Looks whether the command's effect is in the world, and changes nothing: asked after a crash, when nobody knows how far it
   * came. Without it the answer is `unknown`.
   */
  isDone?(command: C, context: Context, signal: AbortSignal): Promise<DoneCheck>;
}

/** A handler of some command type, for lists of handlers of all types. */
export interface AnyHandler<Context> {
  readonly type: string;
  run(command: never, context: Context, signal: AbortSignal): Promise<HandlerOutcome | Handle<HandlerOutcome>>;
  isDone?(command: never, context: Context, signal: AbortSignal): Promise<DoneCheck>;
}

/** Runs commands: in this process (the CLI, the manager) or through a Member (an agent). */
export interface Executor<C extends Command = Command> {
  /** With a `run`, what an earlier process started under that name is found again where the executor can know of it. */
  start(command: C, signal: AbortSignal, run?: Run): Promise<Outcome | Handle>;
  /** Makes sure that a run does not go on, also one that an earlier process started. Absent: no run outlives its process. */
  withdraw?(id: string, signal: AbortSignal): Promise<void>;
  /** The outcome of a run is written down elsewhere: the place where it ran may forget it. */
  release?(id: string, signal: AbortSignal): Promise<void>;
}

/** Where the commands of a controller run: an executor for each turn, and before the first one what can be executed at all. */
export interface Executors<Work, C extends Command = Command> {
  /** The types of command that there is a handler for, here or where they are run. */
  readonly types: readonly string[];
  of(work: Work): Executor<C>;
}

/** An executor whose handlers are here, so that they can be asked what is done already. */
export interface LocalExecutor<C extends Command = Command> extends Executor<C> {
  readonly types: readonly string[];
  isDone(command: C, signal: AbortSignal): Promise<DoneCheck>;
}

export interface LocalExecutorOptions<C extends Command> {
  /** Every type that plans produce. A type without a handler is then an error at start, not in the middle of the night. */
  readonly types?: readonly C['type'][];
  /** How deep follow-ups may follow each other. Default 3: whatever needs more is a plan's work. */
  readonly followUpDepth?: number;
  /** Gives up on a handler that returns neither outcome nor handle in this time. Default: it is waited for. */
  readonly startLimit?: { readonly clock: Clock; readonly ms: number };
}

export function isHandle<O extends object>(result: O | Handle<O>): result is Handle<O> {
  return 'settled' in result;
}

/** An executor that runs handlers in this process. Throws at once if a type has two handlers, or one of `types` has none. */
export function localExecutor<C extends Command, Context>(
  handlers: readonly AnyHandler<Context>[],
  context: Context,
  options: LocalExecutorOptions<C> = {},
): LocalExecutor<C> {
  return new InProcess(oneByType(handlers, options.types), context, options);
}

/** The same for turns that have a context each. What is wrong with the handlers is thrown here, not in the first turn. */
export function localExecutors<C extends Command, Context, Work>(
  handlers: readonly AnyHandler<Context>[],
  contextOf: (work: Work) => Context,
  options: LocalExecutorOptions<C> = {},
): Executors<Work, C> {
  const byType = oneByType(handlers, options.types);
  return { types: [...byType.keys()], of: (work) => new InProcess(byType, contextOf(work), options) };
}

function oneByType<Context>(
  handlers: readonly AnyHandler<Context>[],
  types: readonly string[] = [],
): ReadonlyMap<string, Handler<Command, Context>> {
  const byType = new Map<string, Handler<Command, Context>>();
  for (const handler of handlers as readonly unknown[] as readonly Handler<Command, Context>[]) {
    if (byType.has(handler.type)) {
      throw new ReeveError('HANDLER_TWICE', `two handlers for command type ${handler.type}`);
    }
    byType.set(handler.type, handler);
  }
  demandHandlers(types, [...byType.keys()]);
  return byType;
}

/** Throws if one of these types has no handler. */
export function demandHandlers(types: readonly string[], handled: readonly string[]): void {
  const missing = types.filter((type) => !handled.includes(type));
  if (missing.length === 0) return;
  throw new ReeveError('HANDLER_MISSING', `no handler for command type ${missing.join(', ')}`, { subjects: missing });
}

class InProcess<Context> implements LocalExecutor {
  readonly types: readonly string[];
  readonly #handlers: ReadonlyMap<string, Handler<Command, Context>>;
  readonly #context: Context;
  readonly #options: LocalExecutorOptions<Command>;

  constructor(
    handlers: ReadonlyMap<string, Handler<Command, Context>>,
    context: Context,
    options: LocalExecutorOptions<Command>,
  ) {
    this.types = [...handlers.keys()];
    this.#handlers = handlers;
    this.#context = context;
    this.#options = options;
  }

  start(command: Command, signal: AbortSignal): Promise<Outcome | Handle> {
    return this.#run(command, signal, 0);
  }

  async isDone(command: Command, signal: AbortSignal): Promise<DoneCheck> {
    const handler = this.#handlers.get(command.type);
    if (!handler?.isDone) return 'unknown';
    try {
      return await handler.isDone(command, this.#context, signal);
    } catch {
      return 'unknown'; // it could not be read: that says nothing about the world
    }
  }

  async #run(command: Command, signal: AbortSignal, depth: number): Promise<Outcome | Handle> {
    const handler = this.#handlers.get(command.type);
    if (!handler) return failed('HANDLER_MISSING', `no handler for command type ${command.type}`);
    try {
      const result = await this.#call(handler, command, signal);
      if (!isHandle<HandlerOutcome>(result)) return await this.#follow(result, signal, depth);
      const settled = result.settled.then(
        async (outcome) => settle(await this.#follow(outcome, signal, depth)),
        (error: unknown) => failure(error),
      );
      return { progress: () => result.progress(), settled };
    } catch (error) {
      return failure(error);
    }
  }

  #call(handler: Handler<Command, Context>, command: Command, signal: AbortSignal) {
    const { startLimit } = this.#options;
    if (!startLimit) return handler.run(command, this.#context, signal);
    const tooLong = () =>
      new ReeveError('HANDLER_TIMEOUT', `${command.type} gave neither outcome nor handle in ${startLimit.ms} ms`);
    return new Promise<HandlerOutcome | Handle<HandlerOutcome>>((resolve, reject) => {
      // Only the start is limited: a handle goes on under the caller's own signal.
      const work = new AbortController();
      const onAbort = () => work.abort(signal.reason);
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      const limit = deadline(startLimit.clock, startLimit.ms, tooLong);
      limit.signal.addEventListener('abort', () => {
        work.abort(limit.signal.reason);
        reject(limit.signal.reason as ReeveError);
      });
      handler
        .run(command, this.#context, work.signal)
        .then(resolve, reject)
        .finally(() => limit[Symbol.dispose]());
    });
  }

  /** Runs the follow-ups one after the other; the first that is not done is the outcome of the whole. */
  async #follow(outcome: HandlerOutcome, signal: AbortSignal, depth: number): Promise<Outcome | Handle> {
    if (!('followUp' in outcome)) return outcome;
    const { followUp, ...plain } = outcome;
    if (followUp.length > 0 && depth >= (this.#options.followUpDepth ?? 3)) {
      return failed(
        'FOLLOW_UP_DEPTH',
        `${followUp.map(({ type }) => type).join(', ')} would be follow-up ${depth + 1}`,
      );
    }
    return this.#inOrder(plain, followUp, signal, depth);
  }

  async #inOrder(
    first: Outcome,
    followUp: readonly Command[],
    signal: AbortSignal,
    depth: number,
  ): Promise<Outcome | Handle> {
    const [next, ...rest] = followUp;
    if (!next) return first;
    if (signal.aborted) return failure(signal.reason);
    const result = await this.#run(next, signal, depth + 1);
    if (!isHandle<Outcome>(result)) {
      return result.status === 'done' ? this.#inOrder(first, rest, signal, depth) : result;
    }
    const settled = result.settled.then(async (outcome) =>
      outcome.status === 'done' ? settle(await this.#inOrder(first, rest, signal, depth)) : outcome,
    );
    return { progress: () => result.progress(), settled };
  }
}

function failure(error: unknown): Outcome {
  const known = asReeveError(error);
  return failed(known.code, known.message);
}

/** The end of something that may still be under way. */
export function settle(result: Outcome | Handle): Promise<Outcome> | Outcome {
  return isHandle<Outcome>(result) ? result.settled : result;
}
