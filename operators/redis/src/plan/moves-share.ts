/** Arithmetic of slot counts: shares by weight, who gives how much to whom. */
import { countSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import type { SlotMove } from './moves-goal.ts';
import { slotsFromText } from './moves-view.ts';
import { compareText, nodeName } from './topology.ts';

export interface Weighted {
  readonly id: NodeId;
  readonly weight: number;
}

/**
 * `count` whole things shared by weight: everybody gets the whole part of its share, and the largest remainders get
 * one more until the sum is exact. Ties go to the larger weight, then to the lower id.
 */
export function shareOut(count: number, parties: readonly Weighted[]): ReadonlyMap<NodeId, number> {
  const total = parties.reduce((sum, { weight }) => sum + weight, 0);
  const exact = parties.map(({ id, weight }) => {
    const share = total === 0 ? 0 : (count * weight) / total;
    return { id, weight, whole: Math.floor(share), rest: share - Math.floor(share) };
  });
  let left = count - exact.reduce((sum, { whole }) => sum + whole, 0);
  const shares = new Map(exact.map(({ id, whole }) => [id, whole]));
  exact.sort((a, b) => b.rest - a.rest || b.weight - a.weight || compareText(a.id, b.id));
  for (const { id, weight } of exact) {
    if (left <= 0 || weight === 0) break;
    shares.set(id, (shares.get(id) ?? 0) + 1);
    left--;
  }
  return shares;
}

export interface Transfer {
  readonly from: NodeId;
  readonly to: NodeId;
  readonly count: number;
}

/**
 * Who gives how much to whom. Both lists are walked from their largest, and every step settles one side for good:
 * the number of pairs is at most the number of nodes less one.
 */
export function pairUp(surplus: ReadonlyMap<NodeId, number>, need: ReadonlyMap<NodeId, number>): readonly Transfer[] {
  const givers = largestFirst(surplus);
  const takers = largestFirst(need);
  const transfers: Transfer[] = [];
  let g = 0;
  let t = 0;
  for (;;) {
    const giver = givers[g];
    const taker = takers[t];
    if (!giver || !taker) return transfers;
    const count = Math.min(giver.left, taker.left);
    transfers.push({ from: giver.id, to: taker.id, count });
    giver.left -= count;
    taker.left -= count;
    if (giver.left <= 0) g++;
    if (taker.left <= 0) t++;
  }
}

function largestFirst(amounts: ReadonlyMap<NodeId, number>): { id: NodeId; left: number }[] {
  return [...amounts]
    .filter(([, amount]) => amount > 0)
    .map(([id, left]) => ({ id, left }))
    .sort((a, b) => b.left - a.left || compareText(a.id, b.id));
}

/** A line for each move. */
export function moveSteps(view: ClusterView, moves: readonly SlotMove[]): readonly string[] {
  return moves.map(({ source, target, slots }) => {
    const count = countSlots(slotsFromText(slots));
    return `move ${count} slots (${slots}) from ${nodeName(view, source)} to ${nodeName(view, target)}`;
  });
}
