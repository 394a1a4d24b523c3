/** The cluster bus: what a packet from another node changes in a server's node table. */
import type { Network } from './network.ts';
import type { Peer } from './peer.ts';
import { hexId } from './hex-id.ts';
import type { ModelServer } from './server.ts';
import { claimBy, setPeerAsPrimary, takeClaim } from './slots.ts';

export type PacketType = 'ping' | 'pong' | 'meet';

/** How long a failure report of another primary counts, in node timeouts. */
const REPORT_VALIDITY = 2;
const FAIL_UNDO = 2;

/** Sends a ping (or MEET) and takes the pong. False when nothing came back. */
export function exchange(from: ModelServer, to: Peer, network: Network, now: number): boolean {
  const receiver = network.at(to.host, to.port);
  if (!receiver || !network.connected(from, receiver)) return false;
  const type: PacketType = to.meet ? 'meet' : 'ping';
  to.meet = false;
  receive(receiver, from, type, undefined, network, now);
  receive(from, receiver, 'pong', to, network, now);
  return true;
}

/** Everything one packet does. `link` is the table entry whose link it came on, for a pong on a link of ours. */
function receive(
  server: ModelServer,
  from: ModelServer,
  type: PacketType,
  link: Peer | undefined,
  network: Network,
  now: number,
): void {
  let sender = server.peers.get(from.id);
  if (sender?.handshake) sender = undefined;
  if (type !== 'pong') {
    if (server.self.host === '' || (type === 'meet' && server.self.host !== server.host)) {
      server.self.host = server.host;
      server.touch();
    }
    if (!sender && type === 'meet') {
      const id = hexId(server.random);
      server.addPeer({ id, host: from.host, port: from.port, busPort: from.busPort, handshake: true }, now);
    }
  }
  if (link && !endHandshake(server, from, link, sender)) return;
  if (sender && type === 'ping') updateAddress(server, sender, from);
  if (link && type === 'pong') takePong(server, link, now);
  if (!sender) return;
  sender.offset = from.replication.offset;
  const failuresToTell = hasFailures(from) || hasFailures(server);
  if (!failuresToTell && sender.seenTheirs === from.version && sender.seenOurs === server.version) return;
  const before = server.version;
  // Before: our answer to the packet (an UPDATE) may change the sender.
  const theirs = from.version;
  takeHeader(server, sender, from, network, now);
  takeGossip(server, sender, from, network, now);
  takeBans(server, from, now);
  sender.seenTheirs = theirs;
  // What we changed ourselves may make the same packet mean more: look at it once again next time.
  sender.seenOurs = server.version === before ? server.version : -1;
}

function hasFailures(server: ModelServer): boolean {
  for (const peer of server.peers.values()) if (peer.failing !== 'no' || peer.reports.size > 0) return true;
  return false;
}

/** False when the packet ends here. */
function endHandshake(server: ModelServer, from: ModelServer, link: Peer, known: Peer | undefined): boolean {
  if (link.handshake) {
    if (known) {
      updateAddress(server, known, from);
      server.removePeer(link);
      return false;
    }
    if (from === server) {
      server.removePeer(link); // we met ourselves
      return false;
    }
    server.renamePeer(link, from.id);
    link.handshake = false;
    link.role = from.self.role;
    link.shardId = from.self.shardId;
    return true;
  }
  if (link.id !== from.id) {
    // Another node lives at the address now.
    link.noAddress = true;
    link.host = '';
    link.port = 0;
    link.busPort = 0;
    link.linked = false;
    server.touch();
    return false;
  }
  return true;
}

function updateAddress(server: ModelServer, peer: Peer, from: ModelServer): void {
  if (peer.host === from.host && peer.port === from.port && !peer.noAddress) return;
  peer.host = from.host;
  peer.port = from.port;
  peer.busPort = from.busPort;
  peer.noAddress = false;
  peer.linked = false;
  server.touch();
}

function takePong(server: ModelServer, link: Peer, now: number): void {
  link.pongReceivedAt = now;
  link.pingSentAt = 0;
  if (link.failing === 'suspected') {
    link.failing = 'no';
    server.touch();
  } else if (link.failing === 'failed') {
    const old = now - link.failedAt > server.settings.nodeTimeoutMs * FAIL_UNDO;
    if (link.role === 'replica' || link.slotCount === 0 || old) {
      link.failing = 'no';
      server.touch();
    }
  }
}

function takeHeader(server: ModelServer, sender: Peer, from: ModelServer, network: Network, now: number): void {
  const claimant = from.shardPrimary();
  const epoch = claimant.configEpoch;
  if (from.currentEpoch > server.currentEpoch) {
    server.currentEpoch = from.currentEpoch;
    server.touch();
  }
  if (epoch > sender.configEpoch) {
    sender.configEpoch = epoch;
    server.touch();
  }
  sender.shardId = from.self.shardId;
  takeRole(server, sender, from);
  const shardPrimary = sender.role === 'primary' ? sender : sender.primary;
  if (shardPrimary && server.slotsOf(shardPrimary.mark).text !== from.slotsOf(claimant.mark).text) {
    if (sender.role === 'primary') takeClaim(server, sender, epoch, claimBy(from, claimant), now);
    tellNewerOwner(server, sender, from, network, now);
  }
  if (server.isPrimary && sender.role === 'primary' && epoch === server.self.configEpoch) {
    // Two primaries with one epoch: the one with the smaller id takes a new one.
    if (sender.configEpoch === server.self.configEpoch && sender.id > server.id) {
      server.currentEpoch++;
      server.self.configEpoch = server.currentEpoch;
      server.touch();
    }
  }
}

function takeRole(server: ModelServer, sender: Peer, from: ModelServer): void {
  if (from.isPrimary) {
    setPeerAsPrimary(server, sender);
    return;
  }
  if (sender.role !== 'replica') {
    server.unassignAllOf(sender);
    sender.role = 'replica';
    server.touch();
  }
  const primary = from.self.primary && server.peers.get(from.self.primary.id);
  if (primary && sender.primary !== primary) {
    sender.primary = primary;
    server.touch();
  }
}

/** The sender claims a slot that somebody else has with a greater epoch: send it an UPDATE about that owner. */
function tellNewerOwner(server: ModelServer, sender: Peer, from: ModelServer, network: Network, now: number): void {
  if (!network.connected(server, from)) return;
  const claimant = from.shardPrimary();
  for (const [first, last] of from.slotsOf(claimant.mark).runs) {
    for (let slot = first; slot <= last; slot++) {
      if (server.owners[slot] === sender.mark || server.isUnclaimed(slot)) continue;
      const owner = server.ownerOf(slot);
      if (!owner || owner.configEpoch <= claimant.configEpoch) continue;
      takeUpdate(from, server, owner, now);
      return;
    }
  }
}

/** UPDATE: `about` is an entry of the informer's table. */
export function takeUpdate(server: ModelServer, informer: ModelServer, about: Peer, now: number): void {
  const sender = server.peers.get(informer.id);
  const known = server.peers.get(about.id);
  if (!sender || !known || known.configEpoch >= about.configEpoch) return;
  setPeerAsPrimary(server, known);
  known.configEpoch = about.configEpoch;
  server.touch();
  takeClaim(server, known, about.configEpoch, claimBy(informer, about), now);
}

/** Whom the sender forgot we forget too, except our own primary. */
function takeBans(server: ModelServer, from: ModelServer, now: number): void {
  if (from.banned.size === 0 || !server.can.gossipsBans) return;
  for (const [id, until] of from.banned) {
    const known = server.peers.get(id);
    if (until <= now || !known || known === server.self || known === server.self.primary) continue;
    server.banned.set(id, until);
    server.removePeer(known);
  }
}

function takeGossip(server: ModelServer, sender: Peer, from: ModelServer, network: Network, now: number): void {
  for (const told of from.peers.values()) {
    if (told === from.self || told.handshake || told.noAddress) continue;
    const failing = told.failing !== 'no';
    const known = server.peers.get(told.id);
    if (!known) {
      if (!server.isBanned(told.id, now) && told.id !== server.id) {
        const added = server.addPeer(
          { id: told.id, host: told.host, port: told.port, busPort: told.busPort, role: told.role },
          now,
        );
        added.shardId = told.shardId;
      }
      continue;
    }
    if (known === server.self) continue;
    if (sender.role === 'primary') {
      if (failing) {
        known.reports.set(sender, now);
        markFailed(server, known, network, now);
      } else known.reports.delete(sender);
    }
    if (!failing && known.pingSentAt === 0 && known.reports.size === 0 && known.pongReceivedAt < told.pongReceivedAt) {
      known.pongReceivedAt = told.pongReceivedAt;
    }
    const moved = known.host !== told.host || known.port !== told.port;
    if (known.failing !== 'no' && !failing && moved) {
      known.host = told.host;
      known.port = told.port;
      known.busPort = told.busPort;
      known.noAddress = false;
      known.linked = false;
      server.touch();
    }
  }
}

export function countReports(server: ModelServer, peer: Peer, now: number): number {
  for (const [by, at] of peer.reports) {
    if (now - at > server.settings.nodeTimeoutMs * REPORT_VALIDITY) peer.reports.delete(by);
  }
  return peer.reports.size;
}

/** Suspected by a majority of the primaries: failed, and everybody is told. */
export function markFailed(server: ModelServer, peer: Peer, network: Network, now: number): void {
  if (peer.failing !== 'suspected') return;
  const votes = countReports(server, peer, now) + (server.isPrimary ? 1 : 0);
  if (votes < Math.floor(server.size / 2) + 1) return;
  fail(server, peer, now);
  for (const other of server.peers.values()) {
    if (other === server.self || other.handshake) continue;
    const receiver = network.at(other.host, other.port);
    if (!receiver || receiver.id !== other.id || !network.connected(server, receiver)) continue;
    const theirs = receiver.peers.get(peer.id);
    if (receiver.peers.has(server.id) && theirs && theirs !== receiver.self) fail(receiver, theirs, now);
  }
}

function fail(server: ModelServer, peer: Peer, now: number): void {
  if (peer.failing === 'failed') return;
  peer.failing = 'failed';
  peer.failedAt = now;
  server.touch();
}
