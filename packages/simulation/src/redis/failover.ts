/** Elections of replicas, manual failovers, and what a promotion does. */
import { pausesWrites } from './atomic.ts';
import { takeUpdate } from './bus.ts';
import { SLOT_COUNT } from './crc16.ts';
import type { Network } from './network.ts';
import { pullPausesWrites } from './pull.ts';
import { replicate } from './replication.ts';
import type { ModelServer } from './server.ts';
import { becomePrimary } from './slots.ts';

/** On a replica: CLUSTER FAILOVER was accepted. On its primary: writes are paused until `endsAt`. */
export interface ManualFailover {
  readonly endsAt: number;
  /** The replica may ask for votes (FORCE, or it has reached the paused primary's offset). */
  ready: boolean;
  /** On the primary: for whom it pauses. */
  readonly replicaId?: string;
}

const MANUAL_FAILOVER_MS = 5000;
const VALIDITY_FACTOR = 10;

export function startManualFailover(
  server: ModelServer,
  mode: 'graceful' | 'force',
  network: Network,
  now: number,
): void {
  server.manualFailover = { endsAt: now + MANUAL_FAILOVER_MS, ready: mode === 'force' };
  server.election = undefined;
  if (mode === 'force') return;
  const primary = server.self.primary;
  const target = primary && network.at(primary.host, primary.port);
  if (!target || target.id !== primary.id || !network.connected(server, target)) return;
  if (target.peers.get(server.id)?.primary !== target.self) return;
  target.manualFailover = { endsAt: now + MANUAL_FAILOVER_MS, ready: false, replicaId: server.id };
}

/** Writes wait while a primary hands over. */
export function writesPaused(server: ModelServer, now: number): boolean {
  return (
    server.isPrimary && (server.manualFailover !== undefined || pausesWrites(server, now) || pullPausesWrites(server))
  );
}

/** Takes the slots of its primary and says so to everybody. */
export function replacePrimary(server: ModelServer): void {
  const primary = server.self.primary;
  if (!primary) return;
  becomePrimary(server);
  for (let slot = 0; slot < SLOT_COUNT; slot++) {
    if (server.owners[slot] !== primary.mark) continue;
    server.unassign(slot);
    server.assign(slot, server.self);
  }
  server.manualFailover = undefined;
  server.election = undefined;
  server.broadcastSoon = true;
}

function rank(server: ModelServer): number {
  let better = 0;
  for (const peer of server.peers.values()) {
    if (peer === server.self || peer.primary !== server.self.primary || peer.role !== 'replica') continue;
    if (peer.offset > server.replication.offset) better++;
  }
  return better;
}

/** Whether this primary votes for the replica. A granted vote is remembered. */
function vote(voter: ModelServer, candidate: ModelServer, forced: boolean, now: number): boolean {
  if (!voter.isPrimary || voter.self.slotCount === 0) return false;
  const known = voter.peers.get(candidate.id);
  if (!known || known.handshake) return false;
  if (candidate.currentEpoch > voter.currentEpoch) {
    voter.currentEpoch = candidate.currentEpoch;
    voter.touch();
  }
  if (candidate.currentEpoch < voter.currentEpoch || voter.lastVoteEpoch === voter.currentEpoch) return false;
  const primary = known.primary;
  if (known.role !== 'replica' || !primary || (primary.failing !== 'failed' && !forced)) return false;
  if (primary.votedAt !== 0 && now - primary.votedAt < voter.settings.nodeTimeoutMs * 2) return false;
  const shardPrimary = candidate.shardPrimary();
  for (const [first, last] of candidate.slotsOf(shardPrimary.mark).runs) {
    for (let slot = first; slot <= last; slot++) {
      const owner = voter.isUnclaimed(slot) ? undefined : voter.ownerOf(slot);
      if (!owner || owner.configEpoch <= shardPrimary.configEpoch) continue;
      // Its primary may have died before it could tell the candidate its last epoch. Nobody else would tell it either, while slots agree.
      if (voter.can.tellsCandidates) takeUpdate(candidate, voter, owner, now);
      return false;
    }
  }
  voter.lastVoteEpoch = voter.currentEpoch;
  primary.votedAt = now;
  return true;
}

function askForVotes(server: ModelServer, forced: boolean, network: Network, now: number): number {
  let votes = 0;
  for (const peer of server.peers.values()) {
    if (peer === server.self || peer.handshake) continue;
    const voter = network.at(peer.host, peer.port);
    if (!voter || voter.id !== peer.id || !network.connected(server, voter)) continue;
    // Only votes of primaries with slots, in our view, count.
    if (vote(voter, server, forced, now) && peer.role === 'primary' && peer.slotCount > 0) votes++;
  }
  return votes;
}

function dataTooOld(server: ModelServer, now: number): boolean {
  const { replication, settings } = server;
  const since = replication.link === 'up' ? replication.lastContactAt : replication.linkDownSince;
  let age = now - since;
  if (age > settings.nodeTimeoutMs) age -= settings.nodeTimeoutMs;
  return age > 10_000 + settings.nodeTimeoutMs * VALIDITY_FACTOR;
}

/** One turn of a replica: hand-over, election. */
export function failoverTurn(server: ModelServer, network: Network, now: number): void {
  const manual = server.manualFailover;
  if (manual && now > manual.endsAt) {
    server.manualFailover = undefined;
    return failoverTurn(server, network, now);
  }
  if (server.isPrimary) return;
  const primary = server.self.primary;
  if (!primary) return;
  if (manual && !manual.ready) {
    const source = network.at(primary.host, primary.port);
    if (source?.manualFailover?.replicaId === server.id && network.connected(server, source)) {
      // The primary pauses writes; whatever is in the stream is taken, and both have the same offset.
      replicate(server, network, now);
      manual.ready = server.replication.link === 'up' && server.replication.source === source;
    }
  }
  const forced = manual?.ready === true;
  if ((primary.failing !== 'failed' && !forced) || primary.slotCount === 0) return;
  if (!forced && dataTooOld(server, now)) return;
  elect(server, forced, network, now);
}

function elect(server: ModelServer, forced: boolean, network: Network, now: number): void {
  const timeout = Math.max(server.settings.nodeTimeoutMs * 2, 2000);
  const { election } = server;
  if (!election || now - election.at > timeout * 2) {
    const delay = forced ? 0 : 500 + Math.floor(server.random.next() * 500) + rank(server) * 1000;
    server.election = { at: now + delay, epoch: 0, sent: false };
    if (delay > 0) return;
    return elect(server, forced, network, now);
  }
  if (now < election.at || now - election.at > timeout || election.sent) return;
  server.currentEpoch++;
  server.touch();
  election.sent = true;
  election.epoch = server.currentEpoch;
  if (askForVotes(server, forced, network, now) < Math.floor(server.size / 2) + 1) return;
  if (server.self.configEpoch < election.epoch) server.self.configEpoch = election.epoch;
  replacePrimary(server);
}
