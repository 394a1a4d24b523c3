/**
 * Redis' atomic slot migration: the target pulls, and tries again by itself. Made from the documentation and the
 * source of Redis 8.4; no such server was at hand, so nothing here was compared with one.
 */
import { eachSlot, keysOf } from './atomic.ts';
import type { Ranges } from './atomic-job.ts';
import { hexId } from './hex-id.ts';
import type { Network } from './network.ts';
import type { Peer } from './peer.ts';
import type { Task } from './pull-task.ts';
import { replicateNow, write } from './replication.ts';
import type { ModelServer } from './server.ts';
import { deleteKeysInSlot } from './slots.ts';

const ARCHIVE_LENGTH = 32;
const RETRY_MS = 1000;
const WRITE_PAUSE_LIMIT_MS = 10_000;

function newTask(
  operation: Task['operation'],
  of: Pick<Task, 'id' | 'ranges' | 'sourceId' | 'destId'>,
  now: number,
): Task {
  return {
    ...of,
    operation,
    state: operation === 'import' ? 'none' : 'wait-rdbchannel',
    error: '',
    retries: 0,
    createdAt: now,
    startedAt: operation === 'import' ? -1 : now,
    endedAt: -1,
    pausedAt: 0,
    changedAt: now,
    received: [],
  };
}

function archive(server: ModelServer, task: Task, state: 'canceled' | 'failed' | 'completed', now: number): void {
  task.state = state;
  task.endedAt = now;
  task.received = [];
  if (server.pull.current === task) server.pull.current = undefined;
  server.pull.archived.unshift(task);
  server.pull.archived.length = Math.min(server.pull.archived.length, ARCHIVE_LENGTH);
}

function enter(task: Task, state: Task['state'], now: number): void {
  task.state = state;
  task.changedAt = now;
}

function fail(task: Task, error: string, now: number): void {
  task.error = `${error} (state: ${task.state}, rdb_channel_state: none)`;
  task.received = [];
  enter(task, 'failed', now);
}

/** The source of an import of these slots, or why there can be none. */
function sourceOf(server: ModelServer, ranges: Ranges): Peer | string {
  if (!server.isPrimary) return 'slot migration not allowed on replica.';
  if (server.importing.size > 0 || server.migrating.size > 0) {
    return 'all slot states must be STABLE to start a slot migration task.';
  }
  let source: Peer | undefined;
  let refusal: string | undefined;
  eachSlot(ranges, (slot) => {
    const owner = server.ownerOf(slot);
    if (!owner) refusal ??= `slot has no owner: ${slot}`;
    else if (source && source !== owner) refusal ??= 'slots belong to different source nodes';
    source ??= owner;
  });
  return refusal ?? source ?? 'slot has no owner: 0';
}

/** Creates the task, or says why not. */
export function startImport(server: ModelServer, ranges: Ranges, now: number): Task | string {
  const source = sourceOf(server, ranges);
  if (typeof source === 'string') return source;
  if (source === server.self) return 'this node is already the owner of the slot range';
  const { current } = server.pull;
  if (current && current.state !== 'failed') return 'another ASM task is already in progress';
  if (current) {
    fail(current, 'Cancelled due to new import requested', now);
    archive(server, current, 'canceled', now);
  }
  const task = newTask('import', { id: hexId(server.random), ranges, sourceId: source.id, destId: server.id }, now);
  server.pull.current = task;
  return task;
}

export function cancelTask(server: ModelServer, id: string | undefined, now: number): number {
  const { current } = server.pull;
  if (!current || (id !== undefined && current.id !== id)) return 0;
  fail(current, 'Cancelled due to user request', now);
  archive(server, current, 'canceled', now);
  return 1;
}

export function pullPausesWrites(server: ModelServer): boolean {
  const { current } = server.pull;
  return current?.operation === 'migrate' && (current.state === 'handoff' || current.state === 'stream-eof');
}

export function pullTurn(server: ModelServer, network: Network, now: number): void {
  const { current } = server.pull;
  if (!current) return;
  if (current.operation === 'import') importTurn(server, current, network, now);
  else migrateTurn(server, current, network, now);
}

function importTurn(server: ModelServer, task: Task, network: Network, now: number): void {
  if (!server.isPrimary) {
    fail(task, 'Cancelled due to node is not a master', now);
    return archive(server, task, 'canceled', now);
  }
  if (task.state === 'failed') {
    if (now - task.changedAt < RETRY_MS) return;
    task.retries++;
    enter(task, 'none', now);
  }
  const owner = sourceOf(server, task.ranges);
  if (typeof owner === 'string' || owner === server.self) {
    fail(task, `Cancelled due to ${typeof owner === 'string' ? owner : 'slots configuration updated'}`, now);
    return archive(server, task, 'canceled', now);
  }
  task.sourceId = owner.id;
  const source = network.at(owner.host, owner.port);
  if (task.state === 'takeover') return takeOver(server, task, network, now);
  if (!source || source.id !== owner.id || !network.connected(server, source)) {
    return fail(task, 'Main channel - Failed to sync with source node: Connection refused', now);
  }
  if (task.state === 'none') {
    task.startedAt = now;
    enter(task, 'connecting', now);
  } else if (task.state === 'connecting') requestSync(server, task, source, now);
  else followSource(task, source, now);
}

function requestSync(server: ModelServer, task: Task, source: ModelServer, now: number): void {
  const busy = source.pull.current;
  if (busy && busy.state !== 'failed') {
    const error = '-ERR another ASM task is already in progress';
    return fail(
      task,
      `Main channel - Failed to sync with source node: Error reply to CLUSTER SYNCSLOTS SYNC from the source: ${error}`,
      now,
    );
  }
  if (busy) archive(source, busy, 'failed', now);
  source.pull.current = newTask('migrate', { ...task, sourceId: source.id, destId: server.id }, now);
  enter(task, 'accumulate-buffer', now);
}

/** The target's side of what the source does next. */
function followSource(task: Task, source: ModelServer, now: number): void {
  const twin = source.pull.current;
  if (twin?.id !== task.id || twin.state === 'failed') {
    return fail(task, 'Main channel - Connection is closed', now);
  }
  if (twin.state === 'send-stream' && task.state === 'accumulate-buffer') enter(task, 'streaming-buffer', now);
  else if (twin.state === 'handoff' && task.state === 'streaming-buffer') enter(task, 'wait-stream-eof', now);
  else if (twin.state === 'stream-eof' && task.state === 'wait-stream-eof') {
    task.received = keysOf(source, task.ranges);
    enter(task, 'takeover', now);
  }
}

function migrateTurn(server: ModelServer, task: Task, network: Network, now: number): void {
  const peer = server.peers.get(task.destId);
  const dest = peer && network.at(peer.host, peer.port);
  let owned = true;
  let given = true;
  eachSlot(task.ranges, (slot) => {
    const owner = server.ownerOf(slot);
    if (owner !== server.self) owned = false;
    if (owner?.id !== task.destId) given = false;
  });
  if (given) return archive(server, task, 'completed', now);
  if (task.state === 'failed') {
    if (now - task.changedAt > WRITE_PAUSE_LIMIT_MS) archive(server, task, 'failed', now);
    return;
  }
  if (!owned) return fail(task, 'Cancelled due to slots configuration updated', now);
  // After the last byte was sent, only the new configuration or the limit of the pause ends it.
  const twin = dest?.id === task.destId && network.connected(server, dest) ? dest.pull.current : undefined;
  if (task.state !== 'stream-eof' && (twin?.id !== task.id || twin.state === 'failed')) {
    return fail(task, 'Main and RDB channel clients are disconnected.', now);
  }
  if (task.pausedAt > 0 && now - task.pausedAt > WRITE_PAUSE_LIMIT_MS) {
    return fail(task, 'Server paused timeout', now);
  }
  step(task, twin, now);
}

function step(task: Task, twin: Task | undefined, now: number): void {
  if (task.state === 'wait-rdbchannel') enter(task, 'send-bulk-and-stream', now);
  else if (task.state === 'send-bulk-and-stream') enter(task, 'send-stream', now);
  else if (task.state === 'send-stream' && twin?.state === 'streaming-buffer') {
    task.pausedAt = now;
    enter(task, 'handoff', now);
  } else if (task.state === 'handoff' && twin?.state === 'wait-stream-eof') enter(task, 'stream-eof', now);
}

function takeOver(server: ModelServer, task: Task, network: Network, now: number): void {
  eachSlot(task.ranges, (slot) => deleteKeysInSlot(server, slot));
  for (const { database, key, entry } of task.received) write(server, { type: 'set', database, key, entry });
  replicateNow(server, network);
  server.bumpEpoch();
  eachSlot(task.ranges, (slot) => {
    server.unassign(slot);
    server.assign(slot, server.self);
  });
  server.broadcastSoon = true;
  archive(server, task, 'completed', now);
}
