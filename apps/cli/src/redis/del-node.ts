import { deleteNodeOperation } from '@reeve/redis';
import { usage } from '../errors.ts';
import { defineOperationVerb } from './operation-verb.ts';

export const delNodeVerb = defineOperationVerb({
  name: 'del-node',
  takes: 'HOST:PORT --node NODE [options]',
  summary: 'take a node out of the cluster',
  description: [
    'Moves its slots to the other primaries, its replicas to others, then lets all members forget it within the minute that Redis allows for that. A dead node can be removed too, once it owns no slots.',
    'NODE is the beginning of a node id, or its HOST:PORT.',
  ],
  examples: [
    {
      line: 'reeve redis del-node 10.0.0.1:6379 --node 10.0.0.4:6379 --dry-run',
      what: 'show where its slots would go',
    },
    { line: 'reeve redis del-node 10.0.0.1:6379 --node 3fa9 --yes', what: 'do it' },
  ],
  options: {
    node: { type: 'text', value: 'NODE', help: 'The node to remove.' },
    'no-drain': { type: 'flag', help: 'Refuse instead of moving slots, if it has any.' },
    'no-reset': {
      type: 'flag',
      help: 'Leave the removed server as it is. By default it is reset (CLUSTER RESET HARD): it gets a new id, by which it can be added again at once.',
    },
  },
  moves: true,
  operation: () => deleteNodeOperation,
  async request({ values, session, node, engine, pace }) {
    if (values.node === undefined) throw usage('--node NODE is missing');
    const { spreadBy } = session;
    return {
      id: await node(values.node),
      drain: !values['no-drain'],
      reset: !values['no-reset'],
      engine,
      pace,
      spreadBy,
    };
  },
});
