/**
 * Servers of ours that believe to be members and are known to nobody: all were told to forget one that left, and it died before it was
 * told, too; with its volume it is back. No fix says which of the two is right; here the declared size does: it is wished for.
 */
import { countSlots } from '../api/slots.ts';
import type { ClusterView } from '../api/view.ts';
import type { NextFacts, OperationWish } from './next.ts';
import { takeOut } from './next-size.ts';
import { isMeeting } from './readdress.ts';
import { unreadMembers } from './moves-view.ts';
import type { Housed } from './rolling.ts';
import { keyCount, knows, type ReportedNode, reported, withoutNode } from './topology.ts';

/** It leaves once more, this time by its own word, and comes back as somebody new. Replicas are introduced again by a fix. */
export function halfMembers(facts: NextFacts, cluster: ClusterView, settleMs: number): readonly OperationWish[] {
  return (
    facts.members
      .filter((pod): pod is Housed => pod.node !== undefined)
      .filter(({ ordinal, node }) => ordinal < facts.desired.size && isForgotten(cluster, node))
      // Whoever cannot be read may know it. Whom only it knows is nobody.
      .filter(({ node }) => unreadMembers(withoutNode(cluster, node.id)).length === 0)
      .map((pod) => ({ ...takeOut(facts, pod, 'was forgotten by all, and is taken in anew'), settleMs }))
  );
}

function isForgotten(cluster: ClusterView, node: ReportedNode): boolean {
  const { self, others } = node.report.value;
  if (self.role !== 'primary' || countSlots(self.slots) > 0 || keyCount(node) !== 0) return false;
  const rest = reported(cluster).filter(({ id }) => id !== node.id);
  const knowsSome = rest.some(({ id }) => others.some((line) => line.id === id));
  return knowsSome && rest.every((each) => !knows(cluster, each.id, node.id) && !isMeeting(each, node.endpoint));
}
