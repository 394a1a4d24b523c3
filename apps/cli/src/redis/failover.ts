import {
  type FailoverRequest,
  failoverOperation,
  type Operation,
  type SpreadRequest,
  spreadOperation,
} from '@reeve/redis';
import { usage } from '../errors.ts';
import { defineOperationVerb } from './operation-verb.ts';

export const failoverVerb = defineOperationVerb({
  name: 'failover',
  takes: 'HOST:PORT (--node NODE | --spread) [options]',
  summary: 'make a replica the primary, or spread primaries again',
  description: [
    'With --node: the given replica becomes primary, or the best replica of the given primary. Graceful by default: the primary waits for its replica, nothing is lost.',
    'With --spread: after failovers primaries bunch on few hosts or zones; this moves them apart again by graceful failovers.',
  ],
  examples: [
    { line: 'reeve redis failover 10.0.0.1:6379 --node 10.0.0.5:6379', what: 'promote this replica' },
    { line: 'reeve redis failover 10.0.0.1:6379 --spread --hosts zones.txt', what: 'primaries apart again' },
  ],
  options: {
    node: { type: 'text', value: 'NODE', help: 'The replica to promote, or the primary to leave.' },
    spread: { type: 'flag', help: 'Spread the primaries over hosts and zones (see --spread-by).' },
    force: {
      type: 'flag',
      help: 'Danger: the primary is dead and a majority of primaries is there to vote. What it took last may be gone.',
    },
    takeover: {
      type: 'flag',
      help: 'Danger: the majority is lost; promote without votes. What the old primary took last may be gone.',
    },
  },
  moves: false,
  // One verb for two operations: the flag decides which, and the request below is made for that one.
  operation: (values) =>
    (values.spread ? spreadOperation : failoverOperation) as Operation<FailoverRequest | SpreadRequest, unknown>,
  async request({ values, session, node }): Promise<FailoverRequest | SpreadRequest> {
    if (values.spread === (values.node !== undefined)) throw usage('give one of --node NODE and --spread');
    if (values.force && values.takeover) throw usage('--force and --takeover exclude each other');
    if (values.spread && (values.force || values.takeover)) throw usage('--spread only ever fails over gracefully');
    if (values.node === undefined) return { spreadBy: session.spreadBy };
    const mode = values.takeover ? 'takeover' : values.force ? 'force' : 'graceful';
    return { id: await node(values.node), mode };
  },
});
