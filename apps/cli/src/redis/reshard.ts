import { reshardOperation } from '@reeve/redis';
import { usage } from '../errors.ts';
import { defineOperationVerb } from './operation-verb.ts';

export const reshardVerb = defineOperationVerb({
  name: 'reshard',
  takes: 'HOST:PORT --to NODE --slots N [--from NODE]… [options]',
  summary: 'move slots, with their keys, to a primary',
  description: [
    'Runs only on a cluster whose check, made now, is clean. Clients are served all the time. The journal makes it resumable after a crash of anything.',
    'NODE is the beginning of a node id, or its HOST:PORT.',
  ],
  examples: [
    {
      line: 'reeve redis reshard 10.0.0.1:6379 --to 10.0.0.4:6379 --slots 4096',
      what: 'a quarter of all slots, from all other primaries',
    },
    {
      line: 'reeve redis reshard 10.0.0.1:6379 --to 3fa9 --from 77c0 --slots 100 --fast',
      what: 'from one primary, as fast as can be',
    },
  ],
  options: {
    to: { type: 'text', value: 'NODE', help: 'The primary that gets the slots.' },
    slots: { type: 'number', value: 'N', least: 1, most: 16384, help: 'How many.' },
    from: {
      type: 'list',
      value: 'NODE',
      help: 'A primary that gives slots; may be repeated. Default: all others, by their share.',
    },
  },
  moves: true,
  operation: () => reshardOperation,
  async request({ values, node, engine, pace }) {
    if (values.to === undefined) throw usage('--to NODE is missing');
    if (values.slots === undefined) throw usage('--slots N is missing');
    const from = values.from.length === 0 ? ('all' as const) : await Promise.all(values.from.map(node));
    return { slots: values.slots, to: await node(values.to), from, engine, pace };
  },
});
