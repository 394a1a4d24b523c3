/** How a server takes another node's claim to slots: the greater config epoch wins; what follows differs by product. */
import type { Peer } from './peer.ts';
import { follow, unfollow, write } from './replication.ts';
import type { ModelServer } from './server.ts';
import type { SlotRuns } from './slot-runs.ts';

/** The slots a packet says a node has: a view of the sender's own owner table, nothing is copied. */
export interface Claim {
  readonly owners: Uint16Array;
  readonly mark: number;
  readonly runs: SlotRuns['runs'];
}

export function claimBy(server: ModelServer, peer: Peer): Claim {
  return { owners: server.owners, mark: peer.mark, runs: server.slotsOf(peer.mark).runs };
}

function claims(claim: Claim, slot: number): boolean {
  return claim.owners[slot] === claim.mark;
}

/** Becomes (or stays) a replica, of this primary. */
export function setPrimary(server: ModelServer, primary: Peer, closeSlots: boolean, now: number): void {
  server.self.role = 'replica';
  server.self.primary = primary;
  server.self.shardId = primary.shardId;
  if (closeSlots) {
    server.migrating.clear();
    server.importing.clear();
  }
  server.manualFailover = undefined;
  server.election = undefined;
  follow(server, now);
  server.touch();
}

export function becomePrimary(server: ModelServer): void {
  server.self.role = 'primary';
  server.self.primary = undefined;
  unfollow(server);
  server.touch();
}

export function setPeerAsPrimary(server: ModelServer, peer: Peer): void {
  if (peer.role === 'primary') return;
  peer.role = 'primary';
  peer.primary = undefined;
  server.touch();
}

/** A primary that lost slots to a newer claim throws their keys away, so that keys and slots agree again. */
function dropKeys(server: ModelServer, slots: readonly number[]): void {
  for (const slot of slots) deleteKeysInSlot(server, slot);
}

export function deleteKeysInSlot(server: ModelServer, slot: number): number {
  let deleted = 0;
  for (const [database, keys] of server.databases.entries()) {
    for (const key of keys.keysInSlot(slot)) {
      write(server, { type: 'delete', database, key });
      deleted++;
    }
  }
  return deleted;
}

function sameShard(a: Peer, b: Peer): boolean {
  return a.shardId !== '' && a.shardId === b.shardId;
}

/** Valkey keeps open slots in step with failovers of the other side; Redis 7 leaves them to the administrator. */
function retargetOpenSlots(server: ModelServer, sender: Peer, slot: number): void {
  if (server.migrating.has(slot) && !sameShard(sender, server.self)) server.migrating.delete(slot);
  const source = server.importing.get(slot);
  if (source && source !== sender) {
    if (sameShard(sender, source)) server.importing.set(slot, sender);
    else server.importing.delete(slot);
  }
}

function lookAtUnclaimedOpenSlots(server: ModelServer, sender: Peer, epoch: number, claim: Claim): void {
  for (const [slot, target] of server.migrating) {
    if (claims(claim, slot) || target === sender || !sameShard(target, sender)) continue;
    if (target.configEpoch < epoch || target.role === 'replica') server.migrating.set(slot, sender);
  }
  if (!server.isPrimary) return;
  for (const [slot, source] of server.importing) {
    if (claims(claim, slot) || source !== sender) continue;
    // The source gave the slot away while we were importing it: nobody else can be meant.
    server.importing.delete(slot);
    if (server.ownerOf(slot) !== server.self) {
      server.unassign(slot);
      server.assign(slot, server.self);
      server.bumpEpoch();
    }
  }
}

/** A packet of `sender` (or an UPDATE about it) claims slots with this epoch. */
export function takeClaim(server: ModelServer, sender: Peer, epoch: number, claim: Claim, now: number): void {
  if (sender === server.self) return;
  const shardPrimary = server.shardPrimary();
  const inMyShard = sameShard(sender, server.self);
  const valkey = server.can.replicatedSlotState;
  const dirty: number[] = [];
  let claimed = 0;
  let lostToSender = 0;

  for (const [first, last] of server.slotsOf(sender.mark).runs) {
    for (let slot = first; slot <= last; slot++) if (!claims(claim, slot)) server.unclaimed.add(slot);
  }
  for (const [first, last] of claim.runs) {
    claimed += last - first + 1;
    for (let slot = first; slot <= last; slot++) {
      const owner = server.owners[slot] as number;
      if (owner === sender.mark) {
        if (server.unclaimed.size > 0) server.unclaimed.delete(slot);
        continue;
      }
      // Redis: a slot being imported is only ever closed by the administrator.
      if (!valkey && server.importing.has(slot)) continue;
      if (!server.isUnclaimed(slot) && (server.peerByMark(owner)?.configEpoch ?? 0) >= epoch) continue;
      if (owner === server.self.mark && server.countKeysInSlot(slot) > 0) dirty.push(slot);
      if (owner === shardPrimary.mark) lostToSender++;
      if (valkey) retargetOpenSlots(server, sender, slot);
      server.unassign(slot);
      server.assign(slot, sender);
    }
  }
  if (valkey) lookAtUnclaimedOpenSlots(server, sender, epoch, claim);

  let newPrimary = lostToSender > 0;
  if (valkey && !newPrimary && server.self.primary !== sender && claimed === 0 && server.self.slotCount === 0) {
    newPrimary = inMyShard && shardPrimary.configEpoch < epoch;
  }
  const allowed = server.settings.allowReplicaMigration || (valkey ? inMyShard : claimed === lostToSender);
  if (newPrimary && shardPrimary.slotCount === 0 && allowed) {
    setPrimary(server, sender, !valkey || !inMyShard, now);
    return;
  }
  const grandPrimary = server.self.primary?.primary;
  if (!valkey && grandPrimary && grandPrimary !== server.self) {
    setPrimary(server, grandPrimary, true, now);
    return;
  }
  dropKeys(server, dirty);
}
