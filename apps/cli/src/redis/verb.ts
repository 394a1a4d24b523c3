/** What a verb of `reeve redis` is: its spec, and what it does with a parsed line. */
import { type CommandSpec, type OptionGroup, type OptionSpecs, optionsOf, parseLine } from '../args.ts';
import type { Command, CommandLine } from '../command.ts';
import type { ExitCode } from '../errors.ts';

export type Verb = Command;
export type VerbLine<Specs extends OptionSpecs> = CommandLine<Specs>;

export interface VerbDefinition<Specs extends OptionSpecs> {
  readonly name: string;
  readonly takes: string;
  readonly summary: string;
  readonly description: readonly string[];
  readonly examples: CommandSpec['examples'];
  readonly groups: readonly OptionGroup[];
  /** Only for the types: what `groups` hold together. */
  readonly specs: Specs;
  readonly keepsJournal?: true;
  run(line: VerbLine<Specs>): Promise<ExitCode>;
}

export function defineVerb<Specs extends OptionSpecs>(definition: VerbDefinition<Specs>): Verb {
  const { name, takes, summary, description, examples, groups } = definition;
  const spec: CommandSpec = { name: `redis ${name}`, takes, summary, description, groups, examples };
  return {
    spec,
    keepsJournal: definition.keepsJournal === true,
    async run(argv, io, signal) {
      const { words, values, help } = parseLine(optionsOf(spec) as Specs, argv);
      return help ? 'help' : definition.run({ words, values, io, signal });
    },
  };
}
