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
  for (const slot of slots) {
    if (server.can.logsDroppedKeys) deleteKeysInSlot(server, slot);
    else server.unlogged.drop(server.databases, slot);
  }
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

interface Rebound {
  /** Slots that the packet claims. */
  claimed: number;
  /** Those of them that our shard had. */
  lost: number;
  /** Those of them that we had, with keys. */
  readonly dirty: number[];
}

/** Binds every slot that the sender claims with a greater epoch, or that nobody claims, to the sender. */
function rebind(server: ModelServer, sender: Peer, epoch: number, claim: Claim): Rebound {
  const result: Rebound = { claimed: 0, lost: 0, dirty: [] };
  const shardPrimary = server.shardPrimary();
  for (const [first, last] of claim.runs) {
    result.claimed += last - first + 1;
    for (let slot = first; slot <= last; ) {
      const mark = server.owners[slot] as number;
      const start = slot;
      do slot++;
      while (slot <= last && server.owners[slot] === mark);
      if (mark === sender.mark) {
        if (server.unclaimed.size > 0) for (let own = start; own < slot; own++) server.unclaimed.delete(own);
        continue;
      }
      const owner = server.peerByMark(mark);
      const newer = !owner || owner.configEpoch < epoch;
      const plain = server.unclaimed.size + server.importing.size + server.migrating.size === 0;
      if (plain && !newer) continue;
      if (plain && (owner !== server.self || server.keyCount() === 0)) {
        if (owner === shardPrimary) result.lost += slot - start;
        server.reassign(start, slot - 1, owner, sender);
      } else for (let one = start; one < slot; one++) rebindOne(server, sender, one, newer, result);
    }
  }
  return result;
}

function rebindOne(server: ModelServer, sender: Peer, slot: number, newer: boolean, result: Rebound): void {
  const followsFailovers = server.can.replicatedSlotState;
  // Redis: a slot being imported is only ever closed by the administrator.
  if (!followsFailovers && server.importing.has(slot)) return;
  if (!newer && !server.unclaimed.has(slot)) return;
  const owner = server.ownerOf(slot);
  if (owner === server.self && server.countKeysInSlot(slot) > 0) result.dirty.push(slot);
  if (owner && owner === server.shardPrimary()) result.lost++;
  if (followsFailovers) retargetOpenSlots(server, sender, slot);
  server.reassign(slot, slot, owner, sender);
}

/** A packet of `sender` (or an UPDATE about it) claims slots with this epoch. */
export function takeClaim(server: ModelServer, sender: Peer, epoch: number, claim: Claim, now: number): void {
  if (sender === server.self) return;
  const shardPrimary = server.shardPrimary();
  const inMyShard = sameShard(sender, server.self);
  const valkey = server.can.replicatedSlotState;
  for (const [first, last] of server.slotsOf(sender.mark).runs) {
    for (let slot = first; slot <= last; slot++) if (!claims(claim, slot)) server.unclaimed.add(slot);
  }
  const { claimed, lost, dirty } = rebind(server, sender, epoch, claim);
  if (valkey) lookAtUnclaimedOpenSlots(server, sender, epoch, claim);

  let newPrimary = lost > 0;
  if (valkey && !newPrimary && server.self.primary !== sender && claimed === 0 && server.self.slotCount === 0) {
    newPrimary = inMyShard && shardPrimary.configEpoch < epoch;
  }
  const allowed = server.settings.allowReplicaMigration || (valkey ? inMyShard : claimed === lost);
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
