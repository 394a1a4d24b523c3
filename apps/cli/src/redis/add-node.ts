import { addNodeOperation } from '@reeve/redis';
import { usage } from '../errors.ts';
import { parseEndpoint } from './address.ts';
import { defineOperationVerb } from './operation-verb.ts';

export const addNodeVerb = defineOperationVerb({
  name: 'add-node',
  takes: 'HOST:PORT --node HOST:PORT [--replica [--of NODE]] [options]',
  summary: 'take an empty server into the cluster',
  description: [
    'The new server must run with cluster-enabled, be empty in all databases and know no other. As a primary it gets the function libraries of the cluster and no slots: `rebalance --use-empty` gives it its share. As a replica it goes to the primary given, or to the one that needs it most and lives elsewhere.',
  ],
  examples: [
    { line: 'reeve redis add-node 10.0.0.1:6379 --node 10.0.0.7:6379', what: 'a primary without slots' },
    {
      line: 'reeve redis add-node 10.0.0.1:6379 --node 10.0.0.7:6379 --replica',
      what: 'a replica where it helps most',
    },
  ],
  options: {
    node: { type: 'text', value: 'HOST:PORT', help: 'The new server.' },
    replica: { type: 'flag', help: 'Make it a replica.' },
    of: { type: 'text', value: 'NODE', help: 'The primary to replicate.' },
  },
  moves: false,
  operation: () => addNodeOperation,
  async request({ values, session, node, resolve }) {
    if (values.node === undefined) throw usage('--node HOST:PORT is missing');
    if (values.of !== undefined && !values.replica) throw usage('--of NODE goes with --replica');
    return {
      endpoint: await resolve(parseEndpoint(values.node)),
      as: values.replica ? ('replica' as const) : ('primary' as const),
      ...(values.of === undefined ? {} : { primaryId: await node(values.of) }),
      spreadBy: session.spreadBy,
    };
  },
});
