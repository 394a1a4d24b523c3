/** What a server does by itself, ten times a second. */
import { SLOT_COUNT } from './crc16.ts';
import { atomicTurn } from './atomic.ts';
import { exchange, markFailed } from './bus.ts';
import { failoverTurn } from './failover.ts';
import type { Network } from './network.ts';
import type { Peer } from './peer.ts';
import { pullTurn } from './pull.ts';
import { replicate, trimLog, write } from './replication.ts';
import type { ModelServer } from './server.ts';

export const TURN_MS = 100;
const PING_EVERY_MS = 1000;
const WRITABLE_DELAY_MS = 2000;

export function turn(server: ModelServer, network: Network, now: number): void {
  for (const peer of [...server.peers.values()]) {
    if (peer !== server.self && server.peers.get(peer.id) === peer) tendLink(server, peer, network, now);
  }
  if (now >= server.nextPingAt) pingOldest(server, network, now);
  if (server.isPrimary) {
    for (const [database, keys] of server.databases.entries()) {
      for (const key of keys.expire(now)) write(server, { type: 'delete', database, key });
    }
    trimLog(server, network);
  } else replicate(server, network, now);
  failoverTurn(server, network, now);
  atomicTurn(server, network, now);
  pullTurn(server, network, now);
  for (const [id, until] of server.banned) if (until <= now) server.banned.delete(id);
  if (server.stateDirty || server.state === 'fail') updateState(server, now);
}

function tendLink(server: ModelServer, peer: Peer, network: Network, now: number): void {
  const { nodeTimeoutMs } = server.settings;
  if (peer.handshake && now - peer.createdAt > Math.max(nodeTimeoutMs, 1000)) {
    server.removePeer(peer);
    return;
  }
  if (peer.noAddress) return;
  const there = network.at(peer.host, peer.port);
  // A killed process closes its sockets at once; a stopped or cut off one does not.
  if (peer.linked && (!there || there.process === 'down')) peer.linked = false;
  if (!peer.linked) {
    if (peer.pingSentAt === 0) peer.pingSentAt = now;
    peer.linked = exchange(server, peer, network, now) && server.peers.get(peer.id) === peer && !peer.noAddress;
  } else if (peer.pingSentAt !== 0) {
    exchange(server, peer, network, now); // an answer that was late
    if (peer.pingSentAt !== 0 && now - peer.pingSentAt > nodeTimeoutMs / 2) peer.linked = false;
  } else if (now - peer.pongReceivedAt > nodeTimeoutMs / 2) {
    ping(server, peer, network, now);
  }
  if (peer.handshake || peer.pingSentAt === 0 || peer.failing !== 'no') {
    if (peer.failing === 'suspected') markFailed(server, peer, network, now);
    return;
  }
  if (now - peer.pingSentAt > nodeTimeoutMs) {
    peer.failing = 'suspected';
    server.touch();
    markFailed(server, peer, network, now);
  }
}

function ping(server: ModelServer, peer: Peer, network: Network, now: number): void {
  if (peer.pingSentAt === 0) peer.pingSentAt = now;
  exchange(server, peer, network, now);
}

function isPingable(server: ModelServer, peer: Peer): boolean {
  return peer !== server.self && peer.linked && !peer.handshake && !peer.noAddress && peer.pingSentAt === 0;
}

/** Once a second the node not heard of for the longest time, among a few taken at random. */
function pingOldest(server: ModelServer, network: Network, now: number): void {
  server.nextPingAt = now + PING_EVERY_MS;
  const all = [...server.peers.values()];
  let oldest: Peer | undefined;
  for (let tries = 0; tries < 5; tries++) {
    const peer = all[Math.floor(server.random.next() * all.length)];
    if (!peer || !isPingable(server, peer)) continue;
    if (!oldest || peer.pongReceivedAt < oldest.pongReceivedAt) oldest = peer;
  }
  if (oldest) ping(server, oldest, network, now);
}

/**
 * What everybody must hear, such as the new owner of a slot, a server sends at once. Here it goes out at the head of
 * a turn, before any server's own work: else a replica could win an election, and claim a slot that was given away
 * long ago, because the news had to wait for its sender's turn.
 */
export function broadcast(server: ModelServer, network: Network, now: number): void {
  if (!server.broadcastSoon) return;
  server.broadcastSoon = false;
  for (const peer of [...server.peers.values()]) if (isPingable(server, peer)) ping(server, peer, network, now);
}

/** cluster_state, as this server sees it. */
export function updateState(server: ModelServer, now: number): void {
  server.stateDirty = false;
  if (server.isPrimary && server.state === 'fail' && now - server.startedAt < WRITABLE_DELAY_MS) return;
  let next: 'ok' | 'fail' = 'ok';
  if (server.settings.requireFullCoverage && !isCovered(server)) next = 'fail';
  let size = 0;
  let reachable = 0;
  for (const peer of server.peers.values()) {
    if (peer.role !== 'primary' || peer.slotCount === 0) continue;
    size++;
    if (peer.failing === 'no') reachable++;
  }
  server.size = size;
  if (reachable < Math.floor(size / 2) + 1) {
    next = 'fail';
    server.minoritySince = now;
  }
  if (next === server.state) return;
  const rejoinDelay = Math.min(Math.max(server.settings.nodeTimeoutMs, 500), 5000);
  if (next === 'ok' && server.isPrimary && now - server.minoritySince < rejoinDelay) return;
  server.state = next;
}

function isCovered(server: ModelServer): boolean {
  let covered = 0;
  for (const peer of server.peers.values()) {
    if (peer.slotCount > 0 && peer.failing === 'failed') return false;
    covered += peer.slotCount;
  }
  return covered === SLOT_COUNT;
}
