import { asReeveError, ReeveError } from '../errors/errors.ts';
import type { Command, Handle, Outcome } from './command.ts';
import { failed } from './command.ts';

/**
 * The one handler of a command type. It re-reads the command's evidence live, answers `stale` when that no longer
 * holds, and can tell that the command is already done (then it answers `done` and changes nothing).
 * What takes longer than a few seconds returns a handle.
 */
export interface Handler<C extends Command, Context> {
  readonly type: C['type'];
  run(command: C, context: Context, signal: AbortSignal): Promise<Outcome | Handle>;
}

/** A handler of some command type, for lists of handlers of all types. */
export interface AnyHandler<Context> {
  readonly type: string;
  run(command: never, context: Context, signal: AbortSignal): Promise<Outcome | Handle>;
}

/** Runs commands: in this process (the CLI, the manager) or, later, through a Member (an agent). */
export interface Executor<C extends Command = Command> {
  start(command: C, signal: AbortSignal): Promise<Outcome | Handle>;
}

export function isHandle(result: Outcome | Handle): result is Handle {
  return 'settled' in result;
}

/** An executor that runs handlers in this process. Throws if a type has two handlers; a type without one fails. */
export function localExecutor<C extends Command, Context>(
  handlers: readonly AnyHandler<Context>[],
  context: Context,
): Executor<C> {
  const byType = new Map<string, Handler<C, Context>>();
  for (const handler of handlers as readonly unknown[] as readonly Handler<C, Context>[]) {
    if (byType.has(handler.type)) {
      throw new ReeveError('HANDLER_TWICE', `two handlers for command type ${handler.type}`);
    }
    byType.set(handler.type, handler);
  }
  return {
    async start(command, signal) {
      const handler = byType.get(command.type);
      if (!handler) return failed('HANDLER_MISSING', `no handler for command type ${command.type}`);
      try {
        return await handler.run(command, context, signal);
      } catch (error) {
        const known = asReeveError(error);
        return failed(known.code, known.message);
      }
    },
  };
}
