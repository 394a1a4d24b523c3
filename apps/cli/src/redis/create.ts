import { createOperation } from '@reeve/redis';
import { defineOperationVerb } from './operation-verb.ts';

export const createVerb = defineOperationVerb({
  name: 'create',
  takes: 'HOST:PORT HOST:PORT HOST:PORT… [options] | NAME',
  summary: 'make one cluster of empty servers, or approve the creation of a declared one',
  description: [
    'Every server must run with cluster-enabled, be empty in all databases and know no other. At least three primaries; with --replicas N every primary gets N replicas, placed on other hosts and zones where that is possible.',
    'Nothing is ever flushed: a server that is not empty is refused.',
    'With the NAME of a RedisCluster, the creation that waits in its status (creation: manual, or all data was lost) is shown and approved: exactly that plan, or none.',
  ],
  examples: [
    {
      line: 'reeve redis create 10.0.0.1:6379 10.0.0.2:6379 10.0.0.3:6379',
      what: 'three primaries without replicas',
    },
    {
      line: 'reeve redis create --replicas 1 --annotate 10.0.0.1=zone=a … --dry-run 10.0.0.{1..6}:6379',
      what: 'show how six servers would be laid out over zones',
    },
    { line: 'reeve redis create cache', what: 'approve the creation of the RedisCluster cache' },
  ],
  options: {
    replicas: { type: 'number', value: 'N', least: 0, most: 20, help: 'Replicas for each primary. Default 0.' },
    primaries: {
      type: 'number',
      value: 'N',
      least: 1,
      help: 'Number of primaries. Default: as many as the servers allow with that many replicas each.',
    },
  },
  newServers: true,
  moves: false,
  approves: true,
  operation: () => createOperation,
  request: async ({ values, endpoints, session }) => ({
    endpoints,
    replicasPerPrimary: values.replicas ?? 0,
    ...(values.primaries === undefined ? {} : { primaries: values.primaries }),
    spreadBy: session.spreadBy,
  }),
});
