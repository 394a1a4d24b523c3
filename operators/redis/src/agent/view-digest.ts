/**
 * A digest of what one node thinks of the whole cluster, itself included. Two nodes that agree about members, roles, slots and epochs
 * have the same one, whoever looks and whenever: when all are equal, nobody needs to read a whole view.
 *
 * Left out on purpose: addresses (a node may not know its own), ping times, links and suspicions (each has its own), open slots (only the
 * node itself shows them), handshakes (their ids are made up), and the epoch of a replica (servers show that of its primary).
 */
import { digest } from '@reeve/runtime';
import { formatSlots } from '../api/slots.ts';
import type { NodeLine, NodeReport } from '../api/view.ts';

export function viewDigest({ self, others }: Pick<NodeReport, 'self' | 'others'>): string {
  const members = [self, ...others.filter(({ flags }) => !flags.includes('handshake'))];
  return digest(members.map(standing).sort());
}

function standing({ id, role, primaryId, configEpoch, slots }: NodeLine): string {
  if (role === 'replica') return `${id} replica of ${primaryId ?? 'nobody'}`;
  return `${id} primary ${configEpoch} ${formatSlots(slots)}`;
}
