/** What the servers settle by themselves: waited for before slots are touched, and at the end until all agree. */
import type { Waiting } from '@reeve/runtime';
import type { FindingCode } from '../api/findings.ts';
import type { ClusterView } from '../api/view.ts';
import { checkCluster } from './check.ts';
import { candidatesFor } from './failover.ts';
import { inDoubt, isFailed } from './moves-view.ts';
import { nodeName, quorum, reported, reportedPrimaries } from './topology.ts';

/** A failover is under way: who owns what is about to change. A mere suspicion is not waited for. */
export function settling(view: ClusterView): readonly Waiting[] {
  const roles = inDoubt(view).filter((doubt) => doubt.reason === 'RolesSettling');
  const leaving = reportedPrimaries(view).filter((node) => isFailed(node) && candidatesFor(view, node.id).length > 0);
  return [
    ...roles,
    ...leaving.map((node) => ({
      reason: 'FailoverPending',
      message: `${nodeName(view, node.id)} answers us but is failed for the others: it is failed over, or taken back`,
      subjects: [node.id],
    })),
  ];
}

/** Findings that go away by themselves once their causes are gone. */
const PASSING: Partial<Record<FindingCode, string>> = {
  VIEWS_DIFFER: 'GossipAgreement',
  ROLES_DIFFER: 'RolesSettling',
  STATE_FAIL: 'ClusterState',
};

export function stillSettling(
  view: ClusterView,
  goal: { readonly classes: readonly FindingCode[] },
): readonly Waiting[] {
  const waiting: Waiting[] = [];
  for (const finding of checkCluster(view)) {
    const reason = PASSING[finding.code];
    if (reason === undefined || finding.severity === 'info') continue;
    // Without a majority the cluster stays down, whatever is mended.
    if (finding.code === 'STATE_FAIL' && !quorum(view).has) continue;
    waiting.push({ reason, message: `this passes: ${finding.message}`, subjects: finding.nodes });
  }
  for (const node of linksFollow(goal.classes) ? reported(view) : []) {
    const { self, replication } = node.report.value;
    if (self.role !== 'replica' || (replication.linkUp === true && replication.syncInProgress !== true)) continue;
    waiting.push({ reason: 'ReplicaSync', message: `${nodeName(view, node.id)} is in sync`, subjects: [node.id] });
  }
  return waiting;
}

/** Links follow addresses and roles. One that is down for another reason is not ours to mend or to wait for. */
export function linksFollow(classes: readonly FindingCode[]): boolean {
  return classes.some((code) => LINKS_FOLLOW.includes(code));
}

const LINKS_FOLLOW: readonly FindingCode[] = ['ADDRESS_CHANGED', 'ROLES_DIFFER', 'NO_QUORUM', 'SLOT_UNCOVERED'];
