/**
 * Marks of a move that only replicas still carry: since Valkey 8 a replica copies the open slots of its primary, and
 * keeps a mark whose end it missed (its primary was killed in between). It takes no orders, but follows when its primary
 * is told once more.
 */
import type { CloseSlots } from '../api/commands.ts';
import {
  countSlots,
  formatSlots,
  intersectSlots,
  minusSlots,
  rangesOf,
  type SlotRanges,
  unionSlots,
} from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { nodeName, type ReportedNode, refOf, reported, reportedPrimaries } from './topology.ts';

function openOn(node: ReportedNode): SlotRanges {
  const { migrating, importing } = node.report.value.self;
  return rangesOf([...migrating, ...importing].map(({ slot }) => slot));
}

/** One command for each primary whose replicas carry marks of these slots that it has not itself. */
export function closeCarriedMarks(view: ClusterView, slots: SlotRanges): readonly CloseSlots[] {
  const primaries = new Map<NodeId, ReportedNode>(reportedPrimaries(view).map((node) => [node.id, node]));
  const carriers = Map.groupBy(
    reported(view).filter((node) => node.report.value.self.role === 'replica'),
    (node) => node.report.value.self.primaryId ?? '',
  );
  const commands: CloseSlots[] = [];
  for (const [primaryId, replicas] of carriers) {
    const primary = primaries.get(primaryId);
    if (!primary) continue;
    const own = openOn(primary);
    const carried = (replica: ReportedNode): SlotRanges => minusSlots(intersectSlots(openOn(replica), slots), own);
    const carrying = replicas.filter((replica) => countSlots(carried(replica)) > 0);
    if (carrying.length === 0) continue;
    commands.push({
      type: 'close-slots',
      node: refOf(primary),
      slots: formatSlots(unionSlots(...carrying.map(carried))),
      carriedBy: carrying.map(refOf),
      why: `replicas of ${nodeName(view, primaryId)} carry them as open, though the move is over`,
    });
  }
  return commands;
}
