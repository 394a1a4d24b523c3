import { fixOperation } from '@reeve/redis';
import { defineOperationVerb } from './operation-verb.ts';

export const fixVerb = defineOperationVerb({
  name: 'fix',
  takes: 'HOST:PORT [options] | NAME',
  summary: 'mend what check finds, or approve that of a declared cluster',
  description: [
    'Finishes or closes half-done slot moves, gives slots without owner one (the node that holds their keys, else a primary with few slots and much free memory), settles several owners, colliding epochs and new addresses after a restart, moves keys that lie outside their slot to its owner.',
    'Keys are never flushed. Where two nodes hold different values for one key, both are left and the key is reported.',
    'With the NAME of a RedisCluster, the fix that waits in its status (fix: approve) is shown and approved: exactly that plan, or none.',
  ],
  examples: [
    { line: 'reeve redis fix 10.0.0.1:6379 --dry-run', what: 'show what would be done, and why' },
    { line: 'reeve redis fix 10.0.0.1:6379 --yes', what: 'do it' },
  ],
  options: {
    takeover: {
      type: 'flag',
      help: 'Danger: where a majority of primaries is lost, promote replicas without their votes. Writes that a lost primary took last may be gone, and it must not come back as it was.',
    },
    'allow-unreachable': {
      type: 'flag',
      help: 'Danger: also give away slots of primaries that cannot be read. Their keys are lost unless the node comes back.',
    },
    replicas: { type: 'number', value: 'N', least: 0, most: 20, help: 'Replicas that each primary should have.' },
  },
  moves: false,
  approves: true,
  operation: () => fixOperation,
  request: async ({ values, session }) => ({
    takeover: values.takeover,
    allowUnreachable: values['allow-unreachable'],
    expected: {
      ...(values.replicas === undefined ? {} : { replicasPerPrimary: values.replicas }),
      spreadBy: session.spreadBy,
    },
  }),
});
