/** Where a replica is best put: with the primary that has fewest replicas, where it shares least with the others. */
import type { NodeId } from '../api/view.ts';
import { type Placeable, type Placed, placementScore } from './placement-score.ts';
import { replicaSwap } from './replica-swap.ts';
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

/**
 * The same for one of several who come one after the other: so that the last of them is not left with a primary beside which it lies.
 * All are placed in their order, and those among them change places while that helps.
 */
export function bestPrimaryAmong(
  [replica, ...company]: readonly [Placeable, ...Placeable[]],
  placed: readonly Placed[],
  candidates: readonly NodeId[],
  spreadBy: readonly string[],
): NodeId | undefined {
  const coming = new Set([replica, ...company].map(({ id }) => id));
  let all = placed.filter(({ id }) => !coming.has(id));
  for (const { id, annotations } of [replica, ...company]) {
    const primaryId = bestPrimaryFor({ id, annotations }, all, candidates, spreadBy);
    if (primaryId === undefined) return undefined;
    all = [...all, { id, annotations, role: 'replica', primaryId }];
  }
  const rules = { mayMove: (id: NodeId) => coming.has(id), isKept: () => true };
  for (;;) {
    const moves = replicaSwap(all, spreadBy, rules);
    if (moves.length === 0) return all.find(({ id }) => id === replica.id)?.primaryId;
    const to = new Map(moves.map((move) => [move.replica, move.to]));
    all = all.map((one) => ({ ...one, ...(to.has(one.id) && { primaryId: to.get(one.id) as NodeId }) }));
  }
}
