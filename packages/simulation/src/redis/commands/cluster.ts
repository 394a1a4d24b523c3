/** The CLUSTER command. */
import { SLOT_COUNT, slotOfKey } from '../crc16.ts';
import { countReports } from '../bus.ts';
import type { Features } from '../features.ts';
import { replacePrimary, startManualFailover } from '../failover.ts';
import { Bulk, bulk, err, OK, type RawReply, ServerError } from '../reply.ts';
import { hexId } from '../hex-id.ts';
import type { ModelServer } from '../server.ts';
import type { Call } from '../session.ts';
import { becomePrimary, setPrimary } from '../slots.ts';
import { cancelSlotMigrations, getSlotMigrations, migrateSlots } from './atomic.ts';
import { clusterInfo, clusterNodes, clusterShards, clusterSlots, replicaLines } from './describe.ts';
import { integer } from './keys.ts';
import { migration } from './migration.ts';
import { setSlot } from './setslot.ts';
import { parseSlot } from './slot-args.ts';
import { slotStats } from './slot-stats.ts';
import type { CommandSpec } from './table.ts';

const BAN_MS = 60_000;
const syntaxError = () => err('syntax error');

interface Subcommand {
  /** Words, `CLUSTER` and the subcommand included; negative = at least. */
  readonly arity: number;
  readonly run: (call: Call) => RawReply;
}

function slotList(call: Call): number[] {
  return call.args.slice(2).map(parseSlot);
}

function slotRanges(call: Call): number[] {
  const words = call.args.slice(2);
  if (words.length % 2 === 1) {
    throw err(`wrong number of arguments for 'cluster|${call.args[1]?.toLowerCase()}' command`);
  }
  const slots: number[] = [];
  for (let at = 0; at < words.length; at += 2) {
    const first = parseSlot(words[at]);
    const last = parseSlot(words[at + 1]);
    if (first > last) throw err(`start slot number ${first} is greater than end slot number ${last}`);
    for (let slot = first; slot <= last; slot++) slots.push(slot);
  }
  return slots;
}

function changeSlots(call: Call, slots: readonly number[], remove: boolean): RawReply {
  const { server } = call;
  const seen = new Uint8Array(SLOT_COUNT);
  for (const slot of slots) {
    const owner = server.ownerOf(slot);
    if (remove && !owner) throw err(`Slot ${slot} is already unassigned`);
    if (!remove && owner) throw err(`Slot ${slot} is already busy`);
    if (seen[slot]) throw err(`Slot ${slot} specified multiple times`);
    seen[slot] = 1;
  }
  for (const slot of slots) {
    if (remove) server.unassign(slot);
    else {
      server.importing.delete(slot);
      server.assign(slot, server.self);
    }
  }
  return OK;
}

function isAddress(host: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(host) || /^[0-9a-fA-F]*:[0-9a-fA-F:.]*$/.test(host);
}

function meet(call: Call): RawReply {
  const { server, args } = call;
  const host = args[2] as string;
  const valkey = server.can.pushesSlots;
  const kind = valkey ? '' : 'TCP ';
  if (!/^-?\d+$/.test(args[3] ?? '')) throw err(`Invalid ${kind}base port specified: ${args[3]}`);
  const port = Number(args[3]);
  if (args[4] !== undefined && !/^-?\d+$/.test(args[4])) throw err(`Invalid ${kind}bus port specified: ${args[4]}`);
  const busPort = args[4] === undefined ? port + 10_000 : Number(args[4]);
  if (valkey && (port <= 0 || port > 65_535)) throw err('Port number is out of range');
  const valid = isAddress(host) && port > 0 && port <= 65_535 && busPort > 0 && busPort <= 65_535;
  if (!valid) throw err(`Invalid node address specified: ${host}:${args[3]}`);
  for (const peer of server.peers.values()) {
    if (peer.handshake && peer.host === host && peer.port === port) return OK;
  }
  server.addPeer({ id: hexId(server.random), host, port, busPort, handshake: true, meet: true }, call.now);
  return OK;
}

function replicate(call: Call): RawReply {
  const { server, args } = call;
  const peer = server.peers.get(args[2] ?? '');
  if (!peer) throw err(`Unknown node ${args[2]}`);
  if (peer === server.self) throw err("Can't replicate myself");
  if (peer.role === 'replica') throw err('I can only replicate a master, not a replica.');
  if (server.isPrimary && (server.self.slotCount > 0 || server.keyCount() > 0)) {
    throw err('To set a master the node must be empty and without assigned slots.');
  }
  if (server.self.primary === peer) return OK;
  setPrimary(server, peer, true, call.now);
  server.broadcastSoon = true;
  return OK;
}

function forget(call: Call): RawReply {
  const { server, args } = call;
  const peer = server.peers.get(args[2] ?? '');
  if (!peer) {
    if (server.can.gossipsBans && server.isBanned(args[2] ?? '', call.now)) return OK;
    throw err(`Unknown node ${args[2]}`);
  }
  if (peer === server.self) throw err("I tried hard but I can't forget myself...");
  if (!server.isPrimary && server.self.primary === peer) throw err("Can't forget my master!");
  server.banned.set(peer.id, call.now + BAN_MS);
  server.removePeer(peer);
  return OK;
}

function setConfigEpoch(call: Call): RawReply {
  const { server } = call;
  const epoch = integer(call.args[2]);
  if (epoch < 0) throw err(`Invalid config epoch specified: ${epoch}`);
  if (server.peers.size > 1) {
    throw err('The user can assign a config epoch only when the node does not know any other node.');
  }
  if (server.self.configEpoch !== 0) throw err('Node config epoch is already non-zero');
  server.self.configEpoch = epoch;
  if (server.currentEpoch < epoch) server.currentEpoch = epoch;
  server.touch();
  return OK;
}

function reset(call: Call): RawReply {
  const { server } = call;
  const mode = (call.args[2] ?? 'SOFT').toUpperCase();
  if (mode !== 'SOFT' && mode !== 'HARD') throw syntaxError();
  if (server.isPrimary && server.keyCount() > 0) {
    throw err("CLUSTER RESET can't be called with master nodes containing keys");
  }
  if (!server.isPrimary) {
    becomePrimary(server);
    server.unlogged.drop(server.databases);
  }
  server.migrating.clear();
  server.importing.clear();
  server.manualFailover = undefined;
  server.election = undefined;
  for (let slot = 0; slot < SLOT_COUNT; slot++) server.unassign(slot);
  for (const peer of [...server.peers.values()]) if (peer !== server.self) server.removePeer(peer);
  server.banned.clear();
  if (mode === 'HARD') {
    server.currentEpoch = 0;
    server.lastVoteEpoch = 0;
    server.self.configEpoch = 0;
    server.renamePeer(server.self, hexId(server.random));
    server.self.shardId = hexId(server.random);
  }
  server.touch();
  return OK;
}

function failover(call: Call): RawReply {
  const { server, network } = call;
  const mode = call.args[2]?.toUpperCase();
  if (mode !== undefined && mode !== 'FORCE' && mode !== 'TAKEOVER') throw syntaxError();
  if (server.isPrimary) throw err('You should send CLUSTER FAILOVER to a replica');
  const { primary } = server.self;
  if (!primary) throw err("I'm a replica but my master is unknown to me");
  if (!mode && (primary.failing === 'failed' || !primary.linked)) {
    throw err('Master is down or failed, please use CLUSTER FAILOVER FORCE');
  }
  if (mode === 'TAKEOVER') {
    server.bumpEpoch();
    replacePrimary(server);
  } else startManualFailover(server, mode ? 'force' : 'graceful', network, call.now);
  return OK;
}

function countFailureReports(call: Call): RawReply {
  const peer = call.server.peers.get(call.args[2] ?? '');
  if (!peer) throw err(`Unknown node ${call.args[2]}`);
  return countReports(call.server, peer, call.now);
}

function keysInSlot(call: Call): RawReply {
  const slot = integer(call.args[2]);
  const limit = integer(call.args[3]);
  if (slot < 0 || slot >= SLOT_COUNT || limit < 0) throw err('Invalid slot or number of keys');
  return call.server
    .database(call.session.database)
    .keysInSlot(slot, limit)
    .map((key) => new Bulk(key));
}

function countInSlot(call: Call): RawReply {
  const slot = integer(call.args[2]);
  if (slot < 0 || slot >= SLOT_COUNT) throw err('Invalid slot');
  // The selected database only; what refuses to lose keys looks at all of them.
  return call.server.database(call.session.database).countInSlot(slot);
}

function flushSlots({ server }: Call): RawReply {
  if (server.database(0).size > 0) throw err('DB must be empty to perform CLUSTER FLUSHSLOTS.');
  server.unassignAllOf(server.self);
  return OK;
}

function replicas({ server, args }: Call): RawReply {
  const primary = server.peers.get(args[2] ?? '');
  if (!primary) throw err(`Unknown node ${args[2]}`);
  if (primary.role === 'replica') throw err('The specified node is not a master');
  return replicaLines(server, primary);
}

function bumpEpoch(call: Call): RawReply {
  const bumped = call.server.bumpEpoch();
  return `${bumped ? 'BUMPED' : 'STILL'} ${call.server.self.configEpoch}`;
}

const subcommands: Readonly<Record<string, Subcommand>> = {
  nodes: { arity: 2, run: ({ server }) => clusterNodes(server) },
  info: { arity: 2, run: ({ server }) => clusterInfo(server) },
  slots: { arity: 2, run: ({ server }) => clusterSlots(server) },
  shards: { arity: 2, run: ({ server }) => clusterShards(server) },
  myid: { arity: 2, run: ({ server }) => bulk(server.id) },
  myshardid: { arity: 2, run: ({ server }) => bulk(server.self.shardId) },
  meet: { arity: -4, run: meet },
  addslots: { arity: -3, run: (call) => changeSlots(call, slotList(call), false) },
  delslots: { arity: -3, run: (call) => changeSlots(call, slotList(call), true) },
  addslotsrange: { arity: -4, run: (call) => changeSlots(call, slotRanges(call), false) },
  delslotsrange: { arity: -4, run: (call) => changeSlots(call, slotRanges(call), true) },
  setslot: { arity: -4, run: setSlot },
  'set-config-epoch': { arity: 3, run: setConfigEpoch },
  bumpepoch: { arity: 2, run: bumpEpoch },
  replicate: { arity: 3, run: replicate },
  replicas: { arity: 3, run: replicas },
  flushslots: { arity: 2, run: flushSlots },
  forget: { arity: 3, run: forget },
  reset: { arity: -2, run: reset },
  failover: { arity: -2, run: failover },
  'count-failure-reports': { arity: 3, run: countFailureReports },
  countkeysinslot: { arity: 3, run: countInSlot },
  getkeysinslot: { arity: 4, run: keysInSlot },
  keyslot: { arity: 3, run: (call) => slotOfKey(call.args[2] as string) },
  saveconfig: { arity: 2, run: () => OK },
  migrateslots: { arity: -5, run: migrateSlots },
  getslotmigrations: { arity: 2, run: getSlotMigrations },
  cancelslotmigrations: { arity: 2, run: cancelSlotMigrations },
  'slot-stats': { arity: -4, run: slotStats },
  migration: { arity: -4, run: migration },
};

/** Subcommands that not every product has. */
const needs: Readonly<Record<string, keyof Features>> = {
  myshardid: 'shardIds',
  migrateslots: 'pushesSlots',
  getslotmigrations: 'pushesSlots',
  cancelslotmigrations: 'pushesSlots',
  'slot-stats': 'slotStats',
  migration: 'pullsSlots',
};

export function clusterSubcommand(server: ModelServer, name: string): Subcommand | undefined {
  const ability = needs[name];
  if (ability && !server.can[ability]) return undefined;
  return subcommands[name];
}

function cluster(call: Call): RawReply {
  const name = (call.args[1] ?? '').toLowerCase();
  const found = clusterSubcommand(call.server, name);
  if (!found) throw err(`unknown subcommand '${call.args[1]}'. Try CLUSTER HELP.`);
  const { arity } = found;
  if (arity > 0 ? call.args.length !== arity : call.args.length < -arity) {
    throw new ServerError(`ERR wrong number of arguments for 'cluster|${name}' command`);
  }
  return found.run(call);
}

export const clusterCommands: readonly CommandSpec[] = [{ name: 'cluster', arity: -2, run: cluster }];
