/** How many slots each primary should have. */
import type { NodeId } from '../api/view.ts';
import { compareText } from './topology.ts';

export interface Holding {
  readonly id: NodeId;
  readonly weight: number;
  readonly slots: number;
}

/**
 * The number of slots of each node: its share by weight, rounded down or up so that the sum is right. Which shares are
 * rounded up is free; those are chosen whose node has the extra slot already, so that the fewest slots move.
 */
export function slotTargets(holdings: readonly Holding[]): ReadonlyMap<NodeId, number> {
  const slots = holdings.reduce((sum, holding) => sum + holding.slots, 0);
  const weights = holdings.reduce((sum, holding) => sum + holding.weight, 0);
  const shares = holdings.map((holding) => {
    const ideal = weights === 0 ? 0 : (slots * holding.weight) / weights;
    const whole = Math.floor(ideal + ROUNDING);
    return { ...holding, whole, rest: Math.max(0, ideal - whole) };
  });
  const targets = new Map(shares.map(({ id, whole }) => [id, whole]));
  const up = shares
    .filter(({ rest }) => rest > ROUNDING)
    .sort(
      (a, b) => Number(b.slots > b.whole) - Number(a.slots > a.whole) || b.rest - a.rest || compareText(a.id, b.id),
    );
  const missing = slots - shares.reduce((sum, { whole }) => sum + whole, 0);
  for (const { id, whole } of up.slice(0, missing)) targets.set(id, whole + 1);
  return targets;
}

/** Shares are sums of doubles: a whole number may come out a hair below itself. */
const ROUNDING = 1e-6;

/** Is any node further from its share than the threshold (percent of the share), or holding what it must not hold? */
export function isOverThreshold(holdings: readonly Holding[], threshold: number): boolean {
  const total = holdings.reduce((sum, holding) => sum + holding.slots, 0);
  const weights = holdings.reduce((sum, holding) => sum + holding.weight, 0);
  return holdings.some(({ weight, slots }) => {
    if (weight === 0) return slots > 0;
    const ideal = (total * weight) / weights;
    const distance = Math.abs(slots - ideal);
    // Less than one slot off cannot be bettered.
    return distance >= 1 && distance > (ideal * threshold) / 100;
  });
}
