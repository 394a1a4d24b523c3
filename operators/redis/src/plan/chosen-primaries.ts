/**
 * Primaries that a person chose by a failover task. Whoever spread primaries at once would undo that, and the task would have meant nothing;
 * so they stay, until the members of the cluster change: then places are dealt anew. Pure.
 */
import type { ClusterView, NodeId } from '../api/view.ts';
import { addNodeOperation } from './add-node.ts';
import { createOperation } from './create.ts';
import { deleteNodeOperation } from './delete-node.ts';
import { type FailoverGoal, failoverOperation } from './failover.ts';
import { isReported, nodeOf, roleOf } from './topology.ts';

/** What changes members. */
const DEALS_ANEW: readonly string[] = [addNodeOperation.kind, createOperation.kind, deleteNodeOperation.kind];

/**
 * Those that still are primaries. `isWhole`: every member was asked and answered. Where some were not, whoever was not read may be what it
 * was: others may not have heard, or may be of no cluster at all; then only its own word ends a choice.
 */
export function standingChoices(chosen: readonly NodeId[], view: ClusterView, isWhole: boolean): readonly NodeId[] {
  return chosen.filter((id) => {
    const node = nodeOf(view, id);
    if (node && (isWhole || isReported(node))) return roleOf(node) === 'primary';
    return !isWhole;
  });
}

/** After an operation that reached its goal. */
export function choicesAfter(
  chosen: readonly NodeId[],
  { kind, goal, isAsked }: { readonly kind: string; readonly goal: unknown; readonly isAsked: boolean },
): readonly NodeId[] {
  if (DEALS_ANEW.includes(kind)) return [];
  if (kind !== failoverOperation.kind || !isAsked) return chosen;
  const { replica } = goal as FailoverGoal;
  return [...chosen.filter((id) => id !== replica), replica];
}
