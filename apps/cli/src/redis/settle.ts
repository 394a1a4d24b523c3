/**
 * A goal that is reached still echoes for a moment: gossip spreads, equal epochs are settled by the servers, a new node
 * needs a second to find the cluster sound. Whoever runs the next command should not stumble over that, so a run
 * ends when the echo has died down, or after a while.
 */
import { type ClusterView, checkCluster, type Endpoint, type Finding, type FindingCode } from '@reeve/redis';
import type { Clock } from '@reeve/runtime';

const SETTLE_MS = 10_000;
const LOOK_MS = 200;

/** What servers mend by themselves within seconds. */
const passing: ReadonlySet<FindingCode> = new Set<FindingCode>([
  'EPOCH_COLLISION',
  'MEMBERSHIP_DIFFERS',
  'NODE_SUSPECTED',
  'REPLICA_LINK_DOWN',
  'ROLES_DIFFER',
  'STATE_FAIL',
  'VIEWS_DIFFER',
]);

const isPassing = ({ code, severity }: Finding): boolean => severity !== 'info' && passing.has(code);

/**
 * The nodes that another one names. The addresses given are no good any more when the node there was just taken out: it
 * leads nowhere, or, not reset, to a cluster that has forgotten it.
 */
function membersOf({ nodes }: ClusterView): readonly Endpoint[] {
  return nodes
    .filter(({ heard }) => heard.some(({ line }) => !line.flags.includes('handshake')))
    .map(({ endpoint }) => endpoint);
}

export async function settle(
  view: ClusterView,
  look: (from: readonly Endpoint[]) => Promise<ClusterView>,
  clock: Clock,
  signal: AbortSignal,
): Promise<ClusterView> {
  const until = clock.now() + SETTLE_MS;
  let latest = view;
  while (checkCluster(latest).some(isPassing) && clock.now() < until && !signal.aborted) {
    await clock.sleep(LOOK_MS, signal).catch(() => undefined); // Ctrl-C ends the wait: the goal is reached anyway
    latest = await look(membersOf(view));
  }
  return latest;
}
