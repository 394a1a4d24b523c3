/** CLUSTER SETSLOT with every refusal; on Valkey the replicas take it first. */
import { isExporting, isImporting } from '../atomic.ts';
import type { Peer } from '../peer.ts';
import { onlineReplicas, replicateNow } from '../replication.ts';
import { err, OK, type RawReply, ServerCrash, ServerError } from '../reply.ts';
import type { ModelServer } from '../server.ts';
import type { Call } from '../session.ts';
import { setPrimary } from '../slots.ts';
import { parseSlot } from './slot-args.ts';

type Action = 'MIGRATING' | 'IMPORTING' | 'STABLE' | 'NODE';

interface Change {
  readonly slot: number;
  readonly action: Action;
  /** Absent for STABLE. */
  readonly peer: Peer | undefined;
}

function knownPrimary(server: ModelServer, id: string | undefined, unknown: string): Peer {
  const peer = server.peers.get(id ?? '');
  if (!peer) throw err(`${unknown} ${id}`);
  if (peer.role === 'replica') throw err('Target node is not a master');
  return peer;
}

function parse(call: Call): Change {
  const { server, args } = call;
  if (!server.isPrimary) throw err('Please use SETSLOT only with masters.');
  if (isImporting(server)) throw err('Slot import in progress.');
  if (isExporting(server)) throw err('Slot export in progress.');
  const slot = parseSlot(args[2]);
  const action = args[3]?.toUpperCase();
  const words = action === 'STABLE' ? 4 : 5;
  const fits = server.can.replicatedSlotState ? args.length >= words : args.length === words;
  if (action === 'MIGRATING' && fits) {
    if (server.ownerOf(slot) !== server.self) throw err(`I'm not the owner of hash slot ${slot}`);
    return { slot, action, peer: knownPrimary(server, args[4], "I don't know about node") };
  }
  if (action === 'IMPORTING' && fits) {
    if (server.ownerOf(slot) === server.self) throw err(`I'm already the owner of hash slot ${slot}`);
    return { slot, action, peer: knownPrimary(server, args[4], "I don't know about node") };
  }
  if (action === 'STABLE' && fits) return { slot, action, peer: undefined };
  if (action === 'NODE' && fits) {
    const peer = knownPrimary(server, args[4], 'Unknown node');
    if (server.ownerOf(slot) === server.self && peer !== server.self && server.countKeysInSlot(slot) > 0) {
      throw err(`Can't assign hashslot ${slot} to a different node while I still hold keys for this hash slot.`);
    }
    return { slot, action, peer };
  }
  throw err('Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP');
}

export function setSlot(call: Call): RawReply {
  const change = parse(call);
  const { server, network } = call;
  if (server.can.replicatedSlotState) {
    // Valkey 9.1 must block here, must not inside EXEC, and ends with a failed assertion.
    if (call.inTransaction && onlineReplicas(server, network).length > 0) throw new ServerCrash();
    tellReplicas(call, change);
  }
  perform(server, change, call.now);
  return OK;
}

/** Valkey replicates SETSLOT and waits for all online replicas before it acts itself. */
function tellReplicas(call: Call, change: Change): void {
  const online = onlineReplicas(call.server, call.network);
  const reached = replicateNow(call.server, call.network);
  for (const replica of reached) performOn(replica, change, call.now);
  if (reached.length < online.length) throw new ServerError('NOREPLICAS Not enough good replicas to write.');
}

function performOn(replica: ModelServer, change: Change, now: number): void {
  const peer = change.peer && replica.peers.get(change.peer.id);
  if (change.peer && !peer) return;
  perform(replica, { ...change, peer }, now);
}

function perform(server: ModelServer, { slot, action, peer }: Change, now: number): void {
  server.touch();
  if (action === 'STABLE' || !peer) {
    server.migrating.delete(slot);
    server.importing.delete(slot);
  } else if (action === 'MIGRATING') server.migrating.set(slot, peer);
  else if (action === 'IMPORTING') server.importing.set(slot, peer);
  else assignTo(server, slot, peer, now);
}

function assignTo(server: ModelServer, slot: number, peer: Peer, now: number): void {
  if (server.countKeysInSlot(slot) === 0) server.migrating.delete(slot);
  const shardPrimary = server.can.replicatedSlotState ? server.shardPrimary() : server.self;
  const wasOurs = server.ownerOf(slot) === shardPrimary;
  server.unassign(slot);
  server.assign(slot, peer);
  if (server.settings.allowReplicaMigration && wasOurs && peer !== shardPrimary && shardPrimary.slotCount === 0) {
    setPrimary(server, peer, true, now);
    server.broadcastSoon = true;
  }
  const arrived = peer === server.self || (server.can.replicatedSlotState && peer === server.self.primary);
  if (arrived && server.importing.delete(slot) && peer === server.self) {
    server.bumpEpoch();
    server.broadcastSoon = true;
  }
}
