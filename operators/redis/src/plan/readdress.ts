/**
 * Nodes that live elsewhere than the others look for them: after a restart with new addresses. They are told by MEET,
 * each pair that lost sight of each other once. This comes before any FORGET: a node that cannot be found at its old
 * address is not dead, and a ban would lock it out.
 */
import type { InFlight, Plan } from '@reeve/runtime';
import type { Meet, RedisCommand } from '../api/commands.ts';
import { type ClusterView, type Endpoint, formatEndpoint, type NodeId } from '../api/view.ts';
import { LOOK_AGAIN_MS } from './moves.ts';
import { lineAbout } from './moves-view.ts';
import { nodeNames, type ReportedNode, refOf, reported, sameEndpoint } from './topology.ts';

export interface LostSight {
  /** Looks for `of` at an address where it is not. */
  readonly by: ReportedNode;
  readonly of: ReportedNode;
}

/** An address of digits or with colons: what MEET takes. */
const IP = /^[\d.]+$|:/;

/** Where a node really is: where we reached it, or, when that was by name, where it says it is. */
function addressOf(node: ReportedNode): Endpoint {
  const { self } = node.report.value;
  return IP.test(node.endpoint.host) || self.host === '' ? node.endpoint : { host: self.host, port: self.port };
}

/**
 * Who looks for whom in vain: no link, and the address in its table is not the one where the node answers us. A link
 * that is up proves that the address works, whatever it is (a name, a translated address).
 */
export function lostSights(view: ClusterView): readonly LostSight[] {
  const lost: LostSight[] = [];
  const nodes = reported(view);
  for (const by of nodes) {
    for (const of of nodes) {
      const line = by === of ? undefined : lineAbout(by, of.id);
      if (!line || line.linkUp) continue;
      const believed = { host: line.host, port: line.port };
      if (!sameEndpoint(believed, addressOf(of))) lost.push({ by, of });
    }
  }
  return lost;
}

/** The nodes that somebody looks for in vain. */
export function movedNodes(view: ClusterView): readonly NodeId[] {
  return [...new Set(lostSights(view).map(({ of }) => of.id))].sort();
}

/** Undefined: everybody looks for everybody in the right place. */
export function planReaddress(
  view: ClusterView,
  now: number,
  inFlight: readonly InFlight<RedisCommand>[],
): Plan<RedisCommand> | undefined {
  const lost = lostSights(view);
  if (lost.length === 0) return undefined;
  const moved = movedNodes(view);
  const waiting = {
    reason: 'AddressSpread',
    message: `the new addresses of ${nodeNames(view, moved)} become known`,
    subjects: moved,
  };
  if (inFlight.some(({ command }) => command.type === 'meet')) {
    return { commands: [], waitingFor: [waiting], wakeAt: now + LOOK_AGAIN_MS };
  }
  const met = new Set<string>();
  const pairs: Meet['pairs'][number][] = [];
  for (const { by, of } of lost) {
    // MEET tells both sides; and where a handshake with the new address is under way, it has been sent.
    const name = [by.id, of.id].sort().join(' ');
    if (met.has(name) || isMeeting(by, addressOf(of)) || isMeeting(of, addressOf(by))) continue;
    met.add(name);
    pairs.push({
      from: refOf(by),
      to: { id: of.id, endpoint: addressOf(of) },
      toBusPort: of.report.value.self.busPort,
    });
  }
  const places = moved.map((id) => nodesAt(view, id)).join(', ');
  const meet: Meet = { type: 'meet', pairs, why: `the others look for ${places} at an address where nobody is` };
  return { commands: pairs.length > 0 ? [meet] : [], waitingFor: [waiting], wakeAt: now + LOOK_AGAIN_MS };
}

/** Has `node` an open handshake with this address? */
export function isMeeting(node: ReportedNode, address: Endpoint): boolean {
  return node.report.value.others.some(
    (line) => line.flags.includes('handshake') && sameEndpoint({ host: line.host, port: line.port }, address),
  );
}

function nodesAt(view: ClusterView, id: NodeId): string {
  const node = reported(view).find((each) => each.id === id);
  return node ? `${id.slice(0, 8)} (now at ${formatEndpoint(addressOf(node))})` : id.slice(0, 8);
}
