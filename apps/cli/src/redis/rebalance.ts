import { rebalanceOperation } from '@reeve/redis';
import { usage } from '../errors.ts';
import { defineOperationVerb } from './operation-verb.ts';

/** `NODE=WEIGHT`. The last `=` counts: an address holds none, but let us not depend on it. */
export function parseWeight(text: string): { readonly node: string; readonly weight: number } {
  const match = /^(.+)=(\d+(?:\.\d+)?)$/.exec(text);
  if (!match) throw usage(`--weight '${text}': NODE=NUMBER, for example 10.0.0.1:6379=2`);
  return { node: match[1] as string, weight: Number(match[2]) };
}

export const rebalanceVerb = defineOperationVerb({
  name: 'rebalance',
  takes: 'HOST:PORT [options]',
  summary: 'give every primary its share',
  description: [
    'Moves as few slots as possible until every primary has its share: of slots, of keys, of bytes or of measured load. Does nothing while no primary is further from its share than the threshold. Runs only on a cluster whose check, made now, is clean.',
  ],
  examples: [
    { line: 'reeve redis rebalance 10.0.0.1:6379 --use-empty', what: 'let new, empty primaries take their share' },
    { line: 'reeve redis rebalance 10.0.0.1:6379 --weight 10.0.0.4:6379=2', what: 'twice as much for one' },
    { line: 'reeve redis rebalance 10.0.0.1:6379 --by bytes --dry-run', what: 'show what equal memory would take' },
  ],
  options: {
    by: {
      type: 'text',
      value: 'MEASURE',
      choices: ['slots', 'keys', 'bytes', 'load'],
      help: 'slots (default), keys, bytes, or load (CPU time; needs CLUSTER SLOT-STATS).',
    },
    weight: {
      type: 'list',
      value: 'NODE=NUMBER',
      help: 'Weight of a primary, default 1; 0 empties it. May be repeated.',
    },
    threshold: { type: 'number', value: 'PERCENT', least: 0, most: 100, whole: false, help: 'Default 2.' },
    'use-empty': { type: 'flag', help: 'Primaries without slots take part.' },
  },
  moves: true,
  operation: () => rebalanceOperation,
  async request({ values, node, engine, pace }) {
    const weights: Record<string, number> = {};
    for (const text of values.weight) {
      const { node: name, weight } = parseWeight(text);
      weights[await node(name)] = weight;
    }
    return {
      by: (values.by ?? 'slots') as 'slots' | 'keys' | 'bytes' | 'load',
      weights,
      threshold: values.threshold ?? 2,
      useEmpty: values['use-empty'],
      engine,
      pace,
    };
  },
});
