/** How many pods there are to be. More at once; fewer only when nobody lives in those that go. Pure. */
import type { ClusterView, NodeId } from '../api/view.ts';
import type { PodMember } from './pods.ts';
import { isReported, keyCount, loners, members as allMembers } from './topology.ts';

/** How many pods there are by its set. Without a set its pods say how many there were: fewer may be asked for than live in them. */
export function presentReplicas(
  declared: number | undefined,
  ordinals: readonly (number | undefined)[],
): number | undefined {
  const last = Math.max(-1, ...ordinals.map((ordinal) => ordinal ?? -1));
  return declared ?? (last >= 0 ? last + 1 : undefined);
}

/**
 * A StatefulSet takes its last pods away. Each of them must have answered in this observation, and be a server that knows nobody, owns
 * nothing and holds nothing: what could not be read may still be a member.
 */
export function safeReplicas(
  wanted: number,
  present: number | undefined,
  members: readonly PodMember[],
  view: ClusterView,
): number {
  if (present === undefined || wanted >= present) return wanted;
  const alone = new Set<NodeId>(loners(view).map(({ id }) => id));
  const isEmpty = ({ node }: PodMember) => node !== undefined && alone.has(node.id) && keyCount(node) === 0;
  // One that never got an address has never been anybody, if everybody is known and lives elsewhere.
  const housed = new Set<NodeId>(members.flatMap(({ node }) => (node ? [node.id] : [])));
  const allHoused = allMembers(view).every((node) => isReported(node) && housed.has(node.id));
  const mayGo = (pod: PodMember) => isEmpty(pod) || (pod.ip === undefined && allHoused && housed.size > 0);
  let replicas = present;
  while (replicas > wanted) {
    const last = members.find(({ ordinal }) => ordinal === replicas - 1);
    if (!last || !mayGo(last)) break;
    replicas--;
  }
  return replicas;
}
