import { type ClusterView, checkCluster, type Finding, isClean } from '@reeve/redis';
import type { Values } from '../args.ts';
import { exit } from '../errors.ts';
import { plural } from '../output/format.ts';
import { styleFor } from '../output/style.ts';
import { defineLookVerb } from './look.ts';
import { mustSeeSomething, type Session } from './session.ts';
import { findingsText } from './view.ts';

export const expectationOptions = {
  replicas: {
    type: 'number',
    value: 'N',
    least: 0,
    most: 20,
    help: 'Replicas that every primary should have. Default: none are demanded, but as many everywhere.',
  },
  keys: {
    type: 'flag',
    help: 'Also count keys outside the slots of their node. Takes a microsecond or two of the servers for each slot.',
  },
} as const;

export async function findingsOf(
  session: Session,
  values: Values<typeof expectationOptions>,
): Promise<{ readonly view: ClusterView; readonly findings: readonly Finding[] }> {
  const view = mustSeeSomething(
    await session.observe({ shards: true, ...(values.keys ? { keysBeyondSlots: true } : {}) }),
  );
  const findings = checkCluster(view, {
    ...(values.replicas === undefined ? {} : { replicasPerPrimary: values.replicas }),
    spreadBy: session.spreadBy,
  });
  return { view, findings };
}

export const checkVerb = defineLookVerb({
  name: 'check',
  takes: 'HOST:PORT [options]',
  summary: 'say whether a cluster is sound',
  description: [
    'Compares every member’s own view: slots, owners, roles, membership, epochs; finds open and uncovered slots, several owners, dead nodes, broken replication, missing replicas, primaries and replicas that share a host or zone. Changes nothing.',
    'Ends with 0 if nothing is broken or degraded, with 1 otherwise.',
  ],
  examples: [
    { line: 'reeve redis check 10.0.0.1:6379', what: 'all of it, in well under a second' },
    { line: 'reeve redis check 10.0.0.1:6379 --replicas 1 --keys --json', what: 'for a monitoring job' },
  ],
  options: expectationOptions,
  async look({ io, values }, session) {
    const { view, findings } = await findingsOf(session, values);
    const clean = isClean(findings);
    const style = styleFor(io.outIsTerminal, io.env);
    if (values.json) io.out(`${JSON.stringify({ command: 'redis check', ok: clean, clean, findings })}\n`);
    else {
      if (findings.length > 0) io.out(`${findingsText(findings, style)}\n`);
      const read = view.nodes.filter((node) => node.report.known).length;
      const verdict = clean ? style.green('clean') : style.red(plural(findings.length, 'finding'));
      io.out(`${verdict}: ${read} of ${plural(view.nodes.length, 'node')} read\n`);
    }
    return clean ? exit.ok : exit.failed;
  },
});
