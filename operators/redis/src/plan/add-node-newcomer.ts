/** Whether a node may join a cluster: empty, alone, in cluster mode, of a version that goes with the others. */
import type { Refusal } from '@reeve/runtime';
import { countSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { isHandshake, keyCount, knows, members, type ReportedNode, refName, refOf, reported } from './topology.ts';

/** `cluster`: the view without the node and without what it says: else everybody it knows would be a member. */
export function newcomerProblems(node: ReportedNode, cluster: ClusterView): readonly Refusal[] {
  const refused: Refusal[] = [];
  const name = refName(refOf(node));
  const refuse = (code: string, message: string) => {
    refused.push({ code, message: `${name} ${message}`, subjects: [node.id] });
  };
  const { server, self, others } = node.report.value;
  const ids = new Set(members(cluster).map((member) => member.id));
  const isMember = (id: NodeId | undefined) => id !== undefined && ids.has(id);
  const strangers = others.filter((line) => !isHandshake(line) && !isMember(line.id));
  if (strangers.length > 0) {
    refuse('NODE_OF_OTHER_CLUSTER', `knows ${strangers.length} nodes that nobody of this cluster knows`);
  }
  // A node that joined already (an earlier run was cut off) may follow a primary and hold its data.
  const joined = others.some((line) => knows(cluster, line.id, node.id) || isMember(line.id));
  const follows = joined && self.role === 'replica' && isMember(self.primaryId);
  const keys = keyCount(node) ?? 0;
  if (keys > 0 && !follows) refuse('NODE_NOT_EMPTY', `holds ${keys} keys`);
  if (countSlots(self.slots) > 0) refuse('NODE_HAS_SLOTS', `owns ${countSlots(self.slots)} slots`);
  if (self.migrating.length + self.importing.length > 0) refuse('NODE_NOT_EMPTY', 'has open slots');
  for (const member of reported(cluster)) {
    const problem = versionProblem(server, member.report.value.server);
    if (problem) {
      refuse('VERSION_INCOMPATIBLE', `${problem} (${refName(refOf(member))})`);
      break;
    }
  }
  return refused;
}

interface Version {
  readonly product: string;
  readonly version: string;
}

/** Data flows from old to new: a node must be able to read what every member may send it. */
function versionProblem(newcomer: Version, member: Version): string | undefined {
  if (newcomer.product !== member.product) {
    return `runs ${newcomer.product}, but a member runs ${member.product}`;
  }
  const [mine, theirs] = [majorOf(newcomer.version), majorOf(member.version)];
  return mine < theirs
    ? `runs ${newcomer.product} ${newcomer.version}, but a member runs the newer ${member.version}`
    : undefined;
}

function majorOf(version: string): number {
  return Number.parseInt(version, 10);
}
