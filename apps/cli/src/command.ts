/** A command of the program: what it takes, and its code, which is loaded when it is asked for. */
import { type CommandSpec, type OptionSpecs, parseLine, type Values } from './args.ts';
import type { ExitCode } from './errors.ts';
import type { Io } from './io.ts';

export interface Command {
  readonly spec: CommandSpec;
  /** What it does stands in a journal: Ctrl-C lets it come to a place from which it can be gone on with, and that is said. */
  readonly keepsJournal?: boolean;
  /** Parses and runs, or answers `help` when that was asked for. */
  run(argv: readonly string[], io: Io, signal: AbortSignal): Promise<ExitCode | 'help'>;
}

/** Said when Ctrl-C does not end everything at once. */
export const STOPPING = '\nstopping at a safe place (Ctrl-C again: at once)\n';

export interface CommandLine<Specs extends OptionSpecs = OptionSpecs> {
  readonly words: readonly string[];
  readonly values: Values<Specs>;
  readonly io: Io;
  /** Aborts at the first Ctrl-C. */
  readonly signal: AbortSignal;
}

interface CommandDefinition<Specs extends OptionSpecs> extends Omit<CommandSpec, 'groups'> {
  readonly options: Specs;
  /** The module that has the code: others need not wait for it. */
  load(): Promise<{ run(line: CommandLine<Specs>): Promise<ExitCode> }>;
}

export function defineCommand<Specs extends OptionSpecs>(definition: CommandDefinition<Specs>): Command {
  const { options, load, ...rest } = definition;
  return {
    spec: { ...rest, groups: [{ title: 'Options', options }] },
    async run(argv, io, signal) {
      const { words, values, help } = parseLine(options, argv);
      if (help) return 'help';
      const { run } = await load();
      return run({ words, values, io, signal });
    },
  };
}
