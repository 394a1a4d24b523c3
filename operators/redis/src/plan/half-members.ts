/**
 * Servers of ours that believe to be members and are known to nobody: all were told to forget one that left, and it died before it was
 * told, too; with its volume it is back. No fix says which of the two is right; here the declared size does: it is wished for.
 */
import type { ClusterView } from '../api/view.ts';
import { forgottenNodes } from './forgotten.ts';
import { unreadMembers } from './moves-view.ts';
import type { NextFacts, OperationWish } from './next.ts';
import { takeOut } from './next-size.ts';
import type { Housed } from './rolling.ts';
import { withoutNode } from './topology.ts';

/** It leaves once more, this time by its own word, and comes back as somebody new. Replicas are introduced again by a fix. */
export function halfMembers(facts: NextFacts, cluster: ClusterView, settleMs: number): readonly OperationWish[] {
  const forgotten = forgottenNodes(cluster);
  // Whoever cannot be read may know them. Whom only they know is nobody.
  const others = forgotten.reduce((view, { id }) => withoutNode(view, id), cluster);
  if (unreadMembers(others).length > 0) return [];
  return facts.members
    .filter((pod): pod is Housed => pod.node !== undefined)
    .filter(({ ordinal, node }) => ordinal < facts.desired.size && forgotten.some(({ id }) => id === node.id))
    .map((pod) => ({ ...takeOut(facts, pod, 'was forgotten by all, and is taken in anew'), settleMs }));
}
