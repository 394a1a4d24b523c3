/** Whether a cluster is in a state in which slots may be moved and members changed: a check, made now. */
import type { Refusal } from '@reeve/runtime';
import type { Finding, FindingCode } from '../api/findings.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { checkCluster } from './check.ts';
import { atomicJobs, inDoubt, jobsUnknown } from './moves-view.ts';
import { nodeName } from './topology.ts';

/**
 * Findings that do not stand in the way of moving slots: they are about how many copies there are and where, which
 * moving slots changes neither for better nor for worse.
 */
export const HARMLESS_FOR_MOVES: readonly FindingCode[] = ['PLACEMENT', 'REPLICA_MISSING'];

export interface Gate {
  readonly refused: readonly Refusal[];
  /** What is not well but does not stand in the way, for the reasons of the decision. */
  readonly tolerated: readonly Finding[];
}

/**
 * A check that must be clean, but for findings that are tolerated: by code, or because they are about nodes that the
 * operation is there to take away.
 */
export function checkGate(
  view: ClusterView,
  tolerate: readonly FindingCode[],
  aboutNodes: { readonly codes: readonly FindingCode[]; readonly ids: readonly NodeId[] } = { codes: [], ids: [] },
): Gate {
  const tolerated: Finding[] = [];
  const refused: Refusal[] = [];
  for (const finding of checkCluster(view)) {
    if (finding.severity === 'info') continue;
    const concerned = isAbout(finding, aboutNodes.ids);
    if (
      (finding.severity === 'degraded' && tolerate.includes(finding.code)) ||
      (concerned && aboutNodes.codes.includes(finding.code))
    ) {
      tolerated.push(finding);
    } else {
      refused.push({
        code: 'CLUSTER_NOT_CLEAN',
        message: `${finding.code}: ${finding.message} (${finding.remedy})`,
        subjects: finding.nodes,
      });
    }
  }
  return { refused, tolerated };
}

/** About these nodes, and at most about one other who says so (`A does not know B`), or about what they say themselves. */
function isAbout(finding: Finding, ids: readonly NodeId[]): boolean {
  const [first] = finding.nodes;
  if (first === undefined) return false;
  const others = finding.nodes.filter((id) => !ids.includes(id));
  return ids.includes(first) || (others.length <= 1 && others.length < finding.nodes.length);
}

/** The gate for moving slots: a clean check, no failover under way, nobody else moving slots. */
export function movesGate(view: ClusterView): Gate {
  const gate = checkGate(view, HARMLESS_FOR_MOVES);
  const refused = [...gate.refused];
  if (refused.length === 0) {
    for (const doubt of inDoubt(view)) {
      refused.push({ code: 'FAILOVER_IN_PROGRESS', message: doubt.message, subjects: doubt.subjects });
    }
  }
  for (const { node, why } of jobsUnknown(view)) {
    refused.push({
      code: 'SLOTS_BUSY',
      message: `whether an atomic slot migration runs on ${nodeName(view, node.id)} is not known: ${why}`,
      subjects: [node.id],
    });
  }
  for (const job of atomicJobs(view)) {
    refused.push({
      code: 'SLOTS_BUSY',
      message: `an atomic slot migration is running (${job.name}): wait for it or cancel it first`,
      subjects: [job.sourceId, job.targetId],
    });
  }
  return { refused, tolerated: gate.tolerated };
}

export function toleratedReasons(gate: Gate): readonly string[] {
  return gate.tolerated.map((finding) => `${finding.message}: this does not stand in the way (${finding.remedy})`);
}
