/** Where a replica is best put: with the primary that has fewest replicas, where it shares least with the others. */
import type { NodeId } from '../api/view.ts';
import { type Placeable, type Placed, placementScore } from './placement-score.ts';
import { compareText } from './topology.ts';

/**
 * The primary for a replica: of those with fewest replicas the one where the placement is best, then by id.
 * `placed` holds the others as they will be.
 */
export function bestPrimaryFor(
  replica: Placeable,
  placed: readonly Placed[],
  candidates: readonly NodeId[],
  spreadBy: readonly string[],
): NodeId | undefined {
  const others = placed.filter((member) => member.id !== replica.id);
  const judged = candidates.map((id) => ({
    id,
    replicas: others.filter((member) => member.primaryId === id).length,
    score: placementScore([...others, { ...replica, role: 'replica', primaryId: id }], spreadBy),
  }));
  judged.sort((a, b) => a.replicas - b.replicas || a.score - b.score || compareText(a.id, b.id));
  return judged[0]?.id;
}
