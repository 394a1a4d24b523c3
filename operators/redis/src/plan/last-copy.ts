/**
 * Whether a replica may be the only copy of its shard: then nobody may empty it, neither by another primary that it is to follow nor by a
 * reset. Every plan that does one of these asks here before each such command, not only when it is decided: a goal is gone on with
 * after a crash or a pause, and by then its primary may be dead. Pure.
 */
import type { Waiting } from '@reeve/runtime';
import { countSlots, unionSlots } from '../api/slots.ts';
import type { ClusterView } from '../api/view.ts';
import {
  flaggedBy,
  heardSlots,
  isReported,
  nodeName,
  nodeNames,
  nodeOf,
  ownSlots,
  primaryIdOf,
  type ReportedNode,
} from './topology.ts';

/** What is to be waited for before it may be emptied. Undefined: its primary is there, or nobody says that it owns anything. */
export function whyKept(view: ClusterView, replica: ReportedNode): Waiting | undefined {
  const primary = nodeOf(view, primaryIdOf(replica) ?? '');
  if (!primary) return undefined;
  const slots = countSlots(unionSlots(heardSlots(primary), ownSlots(primary)));
  if (slots === 0) return undefined;
  const [name, of] = [nodeName(view, replica.id), nodeName(view, primary.id)];
  const wait = (reason: string, message: string): Waiting => ({ reason, message, subjects: [primary.id, replica.id] });
  if (!isReported(primary)) {
    const message = `${of} comes back or is failed over: ${name} may be the only other copy of its ${slots} slots`;
    return wait('PrimaryUnavailable', message);
  }
  if (countSlots(ownSlots(primary)) === 0) {
    return wait('GossipAgreement', `all hear who owns the slots of ${of}, which ${name} follows`);
  }
  const suspects = new Set([...flaggedBy(primary, 'fail'), ...flaggedBy(primary, 'fail?')]);
  if (suspects.size === 0) return undefined;
  const message = `${of} is taken for failed by ${nodeNames(view, [...suspects])}: ${name} may have to take over`;
  return wait('PrimarySuspected', message);
}
