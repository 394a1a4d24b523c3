/** What the verbs that only look share: options, addresses, session. */
import type { OptionSpecs } from '../args.ts';
import { type ExitCode, usage } from '../errors.ts';
import { parseEndpoint } from './address.ts';
import { connectionOptions, groups, outputOptions, placementOptions } from './options.ts';
import { openSession, type Session } from './session.ts';
import { defineVerb, type Verb, type VerbDefinition, type VerbLine } from './verb.ts';

const common = { ...connectionOptions, ...placementOptions, ...outputOptions };

export interface LookVerbDefinition<Specs extends OptionSpecs>
  extends Pick<VerbDefinition<Specs>, 'name' | 'takes' | 'summary' | 'description' | 'examples'> {
  readonly options: Specs;
  look(line: VerbLine<Specs & typeof common>, session: Session): Promise<ExitCode>;
}

export function defineLookVerb<Specs extends OptionSpecs>(definition: LookVerbDefinition<Specs>): Verb {
  const { name, takes, summary, description, examples, options } = definition;
  const own = Object.keys(options).length > 0 ? [{ title: 'Options', options }] : [];
  return defineVerb<Specs & typeof common>({
    name,
    takes,
    summary,
    description,
    examples,
    specs: { ...options, ...common },
    groups: [...own, groups.output, groups.placement, groups.connection],
    async run(line) {
      if (line.words.length === 0) throw usage(`no address given: reeve redis ${name} ${takes}`);
      const session = await openSession(line.io, line.values, line.words.map(parseEndpoint), line.signal);
      try {
        return await definition.look(line, session);
      } finally {
        await session.close();
      }
    },
  });
}
