/** CLUSTER NODES, INFO, SLOTS, SHARDS: the node table, as text and as arrays. */
import { SLOT_COUNT } from '../crc16.ts';
import { flagsOf, type Peer } from '../peer.ts';
import { bulk, type RawReply } from '../reply.ts';
import type { ModelServer } from '../server.ts';

const NO_ID = '-';

function nodeLine(server: ModelServer, peer: Peer): string {
  const isMyself = peer === server.self;
  // A replica is shown with its primary's epoch, as the servers do.
  const epoch = peer.role === 'replica' && peer.primary ? peer.primary.configEpoch : peer.configEpoch;
  const words = [
    peer.id,
    `${peer.host}:${peer.port}@${peer.busPort}`,
    flagsOf(peer, isMyself),
    peer.primary?.id ?? NO_ID,
    String(Math.floor(peer.pingSentAt)),
    String(Math.floor(peer.pongReceivedAt)),
    String(epoch),
    peer.linked || isMyself ? 'connected' : 'disconnected',
  ];
  if (peer.slotCount > 0) words.push(server.slotsOf(peer.mark).text);
  if (isMyself) words.push(...openSlots(server));
  return words.join(' ');
}

function openSlots(server: ModelServer): string[] {
  const slots = [...new Set([...server.migrating.keys(), ...server.importing.keys()])].sort((a, b) => a - b);
  return slots.map((slot) => {
    const target = server.migrating.get(slot);
    return target ? `[${slot}->-${target.id}]` : `[${slot}-<-${server.importing.get(slot)?.id}]`;
  });
}

export function clusterNodes(server: ModelServer): RawReply {
  return bulk([...server.peers.values()].map((peer) => `${nodeLine(server, peer)}\n`).join(''));
}

export function clusterInfo(server: ModelServer): RawReply {
  let assigned = 0;
  let suspected = 0;
  let failed = 0;
  for (const peer of server.peers.values()) {
    assigned += peer.slotCount;
    if (peer.failing === 'suspected') suspected += peer.slotCount;
    if (peer.failing === 'failed') failed += peer.slotCount;
  }
  const lines = [
    `cluster_state:${server.state}`,
    `cluster_slots_assigned:${assigned}`,
    `cluster_slots_ok:${assigned - suspected - failed}`,
    `cluster_slots_pfail:${suspected}`,
    `cluster_slots_fail:${failed}`,
    `cluster_known_nodes:${server.peers.size}`,
    `cluster_size:${server.size}`,
    `cluster_current_epoch:${server.currentEpoch}`,
    `cluster_my_epoch:${server.shardPrimary().configEpoch}`,
    ...(server.can.pullsSlots ? [`cluster_slot_migration_active_tasks:${server.pull.current ? 1 : 0}`] : []),
    'cluster_stats_messages_sent:0',
    'cluster_stats_messages_received:0',
    'total_cluster_links_buffer_limit_exceeded:0',
  ];
  return bulk(`${lines.join('\r\n')}\r\n`);
}

function replicasOf(server: ModelServer, primary: Peer): Peer[] {
  return [...server.peers.values()].filter((peer) => peer.role === 'replica' && peer.primary === primary);
}

/** CLUSTER REPLICAS. */
export function replicaLines(server: ModelServer, primary: Peer): RawReply {
  return replicasOf(server, primary).map((peer) => bulk(nodeLine(server, peer)));
}

function addressOf(server: ModelServer, peer: Peer): RawReply {
  // A client reached us at this address even if nobody told us our own.
  return bulk(peer === server.self && peer.host === '' ? server.host : peer.host);
}

export function clusterSlots(server: ModelServer): RawReply {
  const reply: RawReply[] = [];
  for (let slot = 0; slot < SLOT_COUNT; ) {
    const mark = server.owners[slot] as number;
    let last = slot;
    while (last + 1 < SLOT_COUNT && server.owners[last + 1] === mark) last++;
    const owner = server.peerByMark(mark);
    if (owner) {
      const nodes = [owner, ...replicasOf(server, owner).filter((peer) => peer.failing !== 'failed')];
      reply.push([
        slot,
        last,
        ...nodes.map((peer): RawReply => [addressOf(server, peer), peer.port, bulk(peer.id), []]),
      ]);
    }
    slot = last + 1;
  }
  return reply;
}

function health(peer: Peer): string {
  return peer.failing === 'no' ? 'online' : 'fail';
}

function shardNode(server: ModelServer, peer: Peer): RawReply {
  const offset = peer === server.self ? server.replication.offset : peer.offset;
  const host = addressOf(server, peer);
  return [
    bulk('id'),
    bulk(peer.id),
    bulk('port'),
    peer.port,
    bulk('ip'),
    host,
    bulk('endpoint'),
    host,
    bulk('role'),
    bulk(peer.role === 'replica' ? 'replica' : 'master'),
    bulk('replication-offset'),
    offset,
    bulk('health'),
    bulk(health(peer)),
  ];
}

export function clusterShards(server: ModelServer): RawReply {
  const reply: RawReply[] = [];
  for (const primary of server.peers.values()) {
    if (primary.role !== 'primary') continue;
    const { runs } = server.slotsOf(primary.mark);
    const nodes = [primary, ...replicasOf(server, primary)];
    reply.push([
      bulk('slots'),
      runs.flat(),
      bulk('nodes'),
      nodes.map((peer) => shardNode(server, peer)),
      // Redis 7.0 answers slots and nodes only.
      ...(server.can.shardIds ? [bulk('id'), bulk(primary.shardId)] : []),
    ]);
  }
  return reply;
}
