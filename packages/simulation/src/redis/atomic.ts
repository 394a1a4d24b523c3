/** Valkey's atomic slot migration: the source pushes slots with their keys, the target takes them over at once. */
import { type EndState, isEnded, type Job, type Ranges } from './atomic-job.ts';
import { hexId } from './hex-id.ts';
import type { Entry } from './keyspace.ts';
import type { Network } from './network.ts';
import type { Peer } from './peer.ts';
import { replicateNow, write } from './replication.ts';
import type { ModelServer } from './server.ts';
import { deleteKeysInSlot } from './slots.ts';

const LOG_LENGTH = 1000;
const PAUSE_MS = 10_000;
const SILENCE_MS = 60_000;
/** Bytes of keys that a snapshot carries in one turn of a server. */
const SNAPSHOT_BYTES_PER_TURN = 10_000_000;

function running(server: ModelServer, operation: Job['operation']): Job[] {
  return server.atomic.jobs.filter((job) => job.operation === operation && !isEnded(job));
}

export function isExporting(server: ModelServer): boolean {
  return server.atomic.jobs.some((job) => job.operation === 'EXPORT' && !isEnded(job));
}

export function isImporting(server: ModelServer): boolean {
  return server.atomic.jobs.some((job) => job.operation === 'IMPORT' && !isEnded(job));
}

/** Whether a hand-over pauses writes now. */
export function pausesWrites(server: ModelServer, now: number): boolean {
  return server.atomic.jobs.some((job) => job.operation === 'EXPORT' && !isEnded(job) && job.pausedUntil > now);
}

export function includes(ranges: Ranges, slot: number): boolean {
  return ranges.some(([first, last]) => slot >= first && slot <= last);
}

export function eachSlot(ranges: Ranges, visit: (slot: number) => void): void {
  for (const [first, last] of ranges) for (let slot = first; slot <= last; slot++) visit(slot);
}

function newJob(
  operation: Job['operation'],
  of: Pick<Job, 'name' | 'ranges' | 'sourceId' | 'targetId'>,
  now: number,
): Job {
  return {
    ...of,
    operation,
    createdAt: now,
    updatedAt: now,
    lastContactAt: now,
    state: operation === 'EXPORT' ? 'connecting' : 'waiting-for-ack',
    message: '',
    otherRunId: '',
    pausedUntil: 0,
    received: [],
  };
}

export function startExport(server: ModelServer, target: Peer, ranges: Ranges, now: number): void {
  const of = { name: hexId(server.random), ranges, sourceId: server.id, targetId: target.id };
  server.atomic.jobs.unshift(newJob('EXPORT', of, now));
}

function enter(job: Job, state: Job['state'], now: number): void {
  job.state = state;
  job.updatedAt = now;
}

export function end(job: Job, state: EndState, message: string, now: number): void {
  enter(job, state, now);
  job.message = message;
  job.pausedUntil = 0;
  job.received = [];
}

/** Who owns all the slots in this server's view, if it is one node. */
function soleOwner(server: ModelServer, ranges: Ranges): Peer | undefined {
  let owner: Peer | undefined;
  let several = false;
  eachSlot(ranges, (slot) => {
    const found = server.ownerOf(slot);
    if (owner === undefined && found) owner = found;
    else if (found !== owner) several = true;
  });
  return several ? undefined : owner;
}

function serverOf(server: ModelServer, id: string, network: Network): ModelServer | undefined {
  const peer = server.peers.get(id);
  const found = peer && network.at(peer.host, peer.port);
  return found?.id === id ? found : undefined;
}

/** One turn of a server's jobs. */
export function atomicTurn(server: ModelServer, network: Network, now: number): void {
  if (server.atomic.jobs.length === 0) return;
  for (const job of running(server, 'EXPORT')) exportTurn(server, job, network, now);
  for (const job of running(server, 'IMPORT')) importTurn(server, job, network, now);
  while (server.atomic.jobs.length > LOG_LENGTH) server.atomic.jobs.pop();
}

function exportTurn(server: ModelServer, job: Job, network: Network, now: number): void {
  const owner = soleOwner(server, job.ranges);
  if (owner?.id === job.targetId) return end(job, 'success', '', now);
  if (owner !== server.self) return end(job, 'failed', 'Slots are no longer owned by myself', now);
  if (job.state === 'failover-granted') {
    if (now <= job.pausedUntil) return;
    const message = 'Unpaused before migration completed (migration may have succeeded with lost writes)';
    return end(job, 'failed', message, now);
  }
  const ordered = server.atomic.failNext;
  if (ordered && ordered.at === job.state) {
    server.atomic.failNext = undefined;
    return end(job, 'failed', ordered.message, now);
  }
  const target = serverOf(server, job.targetId, network);
  if (job.state === 'connecting') return connect(server, job, target, network, now);
  if (!target || target.process === 'down' || (job.otherRunId !== '' && target.runId !== job.otherRunId)) {
    const message =
      'Connection lost to target. Check CLUSTER GETSLOTMIGRATIONS on the target node for more information.';
    return end(job, 'failed', message, now);
  }
  if (!network.connected(server, target)) {
    if (now - job.lastContactAt > SILENCE_MS) {
      end(job, 'failed', 'Timed out after too long with no interaction', now);
    }
    return;
  }
  job.lastContactAt = now;
  if (job.state === 'reading-establish-response') return establish(server, job, target, now);
  const other = target.atomic.jobs.find(({ name }) => name === job.name);
  if (!other || isEnded(other)) {
    const message =
      'Connection lost to target. Check CLUSTER GETSLOTMIGRATIONS on the target node for more information.';
    return end(job, 'failed', message, now);
  }
  other.lastContactAt = now;
  advance(server, job, other, now);
}

function connect(server: ModelServer, job: Job, target: ModelServer | undefined, network: Network, now: number): void {
  const refused = !target || target.process === 'down';
  if (refused) return end(job, 'failed', 'Unable to connect to target node: Connection refused', now);
  if (!network.connected(server, target) && target.process !== 'paused') return;
  job.otherRunId = target.runId;
  enter(job, 'reading-establish-response', now);
  if (target.process === 'up') establish(server, job, target, now);
}

function establish(server: ModelServer, job: Job, target: ModelServer, now: number): void {
  const refusal = refusalOfImport(target, server, job.ranges);
  if (refusal) {
    return end(job, 'failed', `Received error during handshake to target: -ERR ${refusal}\r\n`, now);
  }
  const twin = newJob('IMPORT', job, now);
  twin.otherRunId = server.runId;
  target.atomic.jobs.unshift(twin);
  enter(job, 'waiting-to-snapshot', now);
}

function refusalOfImport(target: ModelServer, source: ModelServer, ranges: Ranges): string | undefined {
  const cannot = cannotStart(target);
  if (cannot) return cannot;
  const known = target.peers.get(source.id);
  if (!known) return 'Target node does not know the source node';
  const busy = running(target, 'IMPORT').some((job) =>
    job.ranges.some(([first, last]) => ranges.some(([from, to]) => first <= to && from <= last)),
  );
  if (busy) return 'Slot is already being imported on the target by a different migration';
  if (soleOwner(target, ranges) !== known) return 'Target node does not agree about current slot ownership';
  return undefined;
}

/** Why a server takes part in no atomic migration now. */
export function cannotStart(server: ModelServer): string | undefined {
  if (!server.isPrimary) return 'Slot migration can only be used on primary nodes.';
  if (server.importing.size > 0) return 'Slots are being manually imported';
  if (server.migrating.size > 0) return 'Slots are being manually migrated';
  return undefined;
}

/** The steps that need both sides, one at a turn. */
function advance(server: ModelServer, job: Job, other: Job, now: number): void {
  if (job.state === 'waiting-to-snapshot') {
    // One child at a time.
    if (server.atomic.jobs.some(({ state }) => state === 'snapshotting')) return;
    enter(job, 'snapshotting', now);
    enter(other, 'receiving-snapshot', now);
  } else if (job.state === 'snapshotting') {
    let bytes = 0;
    eachSlot(job.ranges, (slot) => {
      for (const keys of server.databases) bytes += keys.bytesInSlot(slot);
    });
    if ((now - job.updatedAt) * SNAPSHOT_BYTES_PER_TURN < bytes * 100) return;
    enter(job, 'replicating', now);
    enter(other, 'waiting-for-paused', now);
  } else if (job.state === 'replicating') {
    job.pausedUntil = now + PAUSE_MS;
    enter(job, 'failover-paused', now);
  } else if (job.state === 'failover-paused') {
    other.received = keysOf(server, job.ranges);
    enter(job, 'failover-granted', now);
    enter(other, 'failover-granted', now);
  }
}

/** Everything that is in the slots. */
export function keysOf(server: ModelServer, ranges: Ranges): Job['received'] {
  const found: { database: number; key: string; entry: Entry }[] = [];
  for (const [database, keys] of server.databases.entries()) {
    if (keys.size === 0) continue;
    eachSlot(ranges, (slot) => {
      for (const key of keys.keysInSlot(slot)) {
        const entry = keys.get(key, Number.NEGATIVE_INFINITY);
        if (entry) found.push({ database, key, entry });
      }
    });
  }
  return found;
}

function importTurn(server: ModelServer, job: Job, network: Network, now: number): void {
  if (!server.isPrimary) return end(job, 'failed', 'A failover occurred during slot import', now);
  const owner = soleOwner(server, job.ranges);
  if (owner?.id !== job.sourceId) return end(job, 'failed', 'Slots are no longer owned by source node', now);
  if (job.state === 'failover-granted') return takeOver(server, job, network, now);
  const source = serverOf(server, job.sourceId, network);
  const twin = source?.atomic.jobs.find(({ name }) => name === job.name);
  const lost = !source || source.process === 'down' || source.runId !== job.otherRunId || !twin || isEnded(twin);
  if (lost) {
    const message =
      'Connection lost to source. Check CLUSTER GETSLOTMIGRATIONS on the source node for more information.';
    return end(job, 'failed', message, now);
  }
  if (now - job.lastContactAt > SILENCE_MS) end(job, 'failed', 'Timed out after too long with no interaction', now);
}

/** The keys came before the ownership, also to the replicas: whoever sees the new owner finds them there. */
function takeOver(server: ModelServer, job: Job, network: Network, now: number): void {
  eachSlot(job.ranges, (slot) => deleteKeysInSlot(server, slot));
  for (const { database, key, entry } of job.received) write(server, { type: 'set', database, key, entry });
  replicateNow(server, network);
  server.bumpEpoch();
  eachSlot(job.ranges, (slot) => {
    server.unassign(slot);
    server.assign(slot, server.self);
  });
  server.broadcastSoon = true;
  end(job, 'success', '', now);
}

/** FLUSHALL and FLUSHDB end every migration. */
export function endAllForFlush(server: ModelServer, now: number): void {
  for (const job of server.atomic.jobs) if (!isEnded(job)) end(job, 'failed', 'Data was flushed', now);
}
