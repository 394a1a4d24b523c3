/** Replication: a primary's stream of changes, and replicas that follow it with a lag. */
import type { Entry } from './keyspace.ts';
import type { Network } from './network.ts';
import type { Peer } from './peer.ts';
import type { ModelServer } from './server.ts';

export type Change =
  | { readonly type: 'set'; readonly database: number; readonly key: string; readonly entry: Entry }
  | { readonly type: 'delete'; readonly database: number; readonly key: string }
  | { readonly type: 'flush' }
  | { readonly type: 'functions'; readonly libraries: readonly string[] };

export interface Replication {
  /** Bytes written to the stream so far (a primary), or taken from it (a replica). */
  offset: number;
  /** Changes that some replica has not taken yet; the first one has the number `logStart`. */
  readonly log: { readonly change: Change; readonly offset: number }[];
  logStart: number;
  link: 'none' | 'connecting' | 'syncing' | 'up';
  /** When a full sync that has begun will be complete. */
  syncedAt: number;
  /** Number of the next change to take from the primary's log. */
  position: number;
  /** The stream's owner when the link came up: a restarted primary starts a new stream. */
  source: ModelServer | undefined;
  sourceStartedAt: number;
  linkDownSince: number;
  lastContactAt: number;
}

const FULL_SYNC_MS = 300;
const PING_BYTES = 14;

export function createReplication(): Replication {
  return {
    offset: 0,
    log: [],
    logStart: 0,
    link: 'none',
    syncedAt: 0,
    position: 0,
    source: undefined,
    sourceStartedAt: 0,
    linkDownSince: 0,
    lastContactAt: 0,
  };
}

function apply(server: ModelServer, change: Change): void {
  if (change.type === 'set') {
    server.database(change.database).set(change.key, change.entry);
    server.unlogged.logged(change.database, change.key);
  } else if (change.type === 'delete') server.database(change.database).delete(change.key);
  else if (change.type === 'functions') server.functions = [...change.libraries];
  else {
    for (const keys of server.databases) keys.clear();
    server.unlogged.rewritten();
  }
}

function sizeOf(change: Change): number {
  if (change.type === 'set') return change.key.length + change.entry.value.length + 40;
  return change.type === 'delete' ? change.key.length + 24 : 32;
}

/** A change made on a primary: done here at once, on its replicas when they take it from the stream. */
export function write(server: ModelServer, change: Change): void {
  apply(server, change);
  const { replication } = server;
  replication.offset += sizeOf(change);
  replication.log.push({ change, offset: replication.offset });
}

/** Points a server at a primary (or a replica at another one). Its own data stay until the full sync replaces them. */
export function follow(server: ModelServer, now: number): void {
  const { replication } = server;
  replication.link = 'connecting';
  replication.source = undefined;
  replication.linkDownSince = now;
}

export function unfollow(server: ModelServer): void {
  const { replication } = server;
  replication.link = 'none';
  replication.source = undefined;
  replication.logStart += replication.log.length;
  replication.log.length = 0;
}

function catchUp(server: ModelServer, source: ModelServer): void {
  const { replication } = server;
  const { log, logStart } = source.replication;
  for (let at = replication.position - logStart; at < log.length; at++) {
    const item = log[at];
    if (item) apply(server, item.change);
  }
  replication.position = logStart + log.length;
  replication.offset = source.replication.offset;
}

function linkBroke(server: ModelServer, now: number): void {
  if (server.replication.link === 'up' || server.replication.link === 'syncing') server.replication.linkDownSince = now;
  server.replication.link = 'connecting';
  server.replication.source = undefined;
}

/** One turn of a replica: connect, sync, or take what is in the stream. */
export function replicate(server: ModelServer, network: Network, now: number): void {
  const { replication } = server;
  const primary: Peer | undefined = server.self.primary;
  if (server.isPrimary || !primary) return;
  const source = network.at(primary.host, primary.port);
  if (!source || source === server || !network.connected(server, source)) {
    // A stopped process keeps its sockets: the replica notices only after a while, which the contact time shows.
    if (!source || source.process !== 'paused') linkBroke(server, now);
    return;
  }
  if (replication.source !== source || replication.sourceStartedAt !== source.startedAt) {
    if (replication.source) linkBroke(server, now);
    replication.source = source;
    replication.sourceStartedAt = source.startedAt;
    replication.link = 'syncing';
    replication.syncedAt = now + FULL_SYNC_MS;
    return;
  }
  // A replica in sync cannot be copied from before it is in sync itself.
  if (!source.isPrimary && source.replication.link !== 'up') return;
  replication.lastContactAt = now;
  if (replication.link === 'syncing') {
    if (now < replication.syncedAt) return;
    for (const [index, keys] of source.databases.entries()) server.databases[index]?.copyFrom(keys);
    server.unlogged.rewritten();
    server.functions = [...source.functions];
    if (server.can.replicatedSlotState) copyOpenSlots(server, source);
    // The stream begins with a ping of the primary.
    source.replication.offset += PING_BYTES;
    replication.position = source.replication.logStart + source.replication.log.length;
    replication.offset = source.replication.offset;
    replication.link = 'up';
    return;
  }
  catchUp(server, source);
}

/** Valkey sends the open slots with a full sync, so that a promoted replica knows them. */
function copyOpenSlots(server: ModelServer, source: ModelServer): void {
  for (const [own, theirs] of [
    [server.migrating, source.migrating],
    [server.importing, source.importing],
  ] as const) {
    own.clear();
    for (const [slot, peer] of theirs) {
      const known = server.peers.get(peer.id);
      if (known) own.set(slot, known);
    }
  }
}

/** Replicas whose link to this primary is up and that answer now. */
export function onlineReplicas(server: ModelServer, network: Network): ModelServer[] {
  return network.servers.filter(
    (other) => other.replication.source === server && other.replication.link === 'up' && other.process !== 'down',
  );
}

/** Drops the part of the log that every follower has taken. */
export function trimLog(server: ModelServer, network: Network): void {
  const { replication } = server;
  if (replication.log.length === 0) return;
  let taken = replication.logStart + replication.log.length;
  for (const other of network.servers) {
    if (other.replication.source === server && other.replication.link === 'up') {
      taken = Math.min(taken, other.replication.position);
    }
  }
  replication.log.splice(0, taken - replication.logStart);
  replication.logStart = taken;
}

/** WAIT and the acknowledged form of SETSLOT: replicas that can be reached take everything now. */
export function replicateNow(server: ModelServer, network: Network): ModelServer[] {
  const caughtUp: ModelServer[] = [];
  for (const replica of onlineReplicas(server, network)) {
    if (!network.connected(server, replica)) continue;
    catchUp(replica, server);
    caughtUp.push(replica);
  }
  return caughtUp;
}
