/** A command of the program: what it takes, and its code, which is loaded when it is asked for. */
import { type CommandSpec, type OptionSpecs, parseLine, type Values } from './args.ts';
import type { ExitCode } from './errors.ts';
import type { Io } from './io.ts';

export interface Command {
  readonly spec: CommandSpec;
  /** Ctrl-C lets it come to a place from which it can be gone on with; who waits for that is told so. */
  readonly stopsSafely?: boolean;
  /** Parses and runs, or answers `help` when that was asked for. */
  run(argv: readonly string[], io: Io, signal: AbortSignal): Promise<ExitCode | 'help'>;
}

export interface CommandLine<Specs extends OptionSpecs = OptionSpecs> {
  readonly words: readonly string[];
  readonly values: Values<Specs>;
  readonly io: Io;
  /** Aborts at the first Ctrl-C. */
  readonly signal: AbortSignal;
}

interface CommandDefinition<Specs extends OptionSpecs> extends Omit<CommandSpec, 'groups'> {
  readonly options: Specs;
  readonly stopsSafely?: boolean;
  /** The module that has the code: others need not wait for it. */
  load(): Promise<{ run(line: CommandLine<Specs>): Promise<ExitCode> }>;
}

export function defineCommand<Specs extends OptionSpecs>(definition: CommandDefinition<Specs>): Command {
  const { options, load, stopsSafely = false, ...rest } = definition;
  return {
    stopsSafely,
    spec: { ...rest, groups: [{ title: 'Options', options }] },
    async run(argv, io, signal) {
      const { words, values, help } = parseLine(options, argv);
      if (help) return 'help';
      const { run } = await load();
      return run({ words, values, io, signal });
    },
  };
}
