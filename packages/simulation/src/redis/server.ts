import type { Random } from '@reeve/runtime';
import { SLOT_COUNT } from './crc16.ts';
import { type AtomicState, createAtomicState } from './atomic-job.ts';
import type { ManualFailover } from './failover.ts';
import { type Features, featuresOf, type Flavour } from './features.ts';
import { hexId } from './hex-id.ts';
import { Keyspace } from './keyspace.ts';
import { Unlogged } from './unlogged.ts';
import { noSlots, type SlotRuns, slotRuns } from './slot-runs.ts';
import { createPeer, type Peer, type PeerSeed } from './peer.ts';
import { createPullState, type PullState } from './pull-task.ts';
import { createReplication, type Replication } from './replication.ts';

export interface ServerOptions extends Readonly<Settings> {
  readonly host: string;
  readonly port: number;
  readonly flavour: Flavour;
  /** cluster-databases (Valkey 9). */
  readonly databases: number;
  /** Data survives a kill (append-only file with fsync always). */
  readonly persistence: boolean;
}

/** What CONFIG SET can change. */
export interface Settings {
  nodeTimeoutMs: number;
  /** cluster-allow-replica-migration: a primary that loses its last slot becomes a replica of the new owner. */
  allowReplicaMigration: boolean;
  requireFullCoverage: boolean;
  /** 0 = no limit. */
  maxMemory: number;
  /** cluster-slot-stats-enabled: bytes and load by slot, not only key counts. */
  slotStats: boolean;
}

export type ProcessState = 'up' | 'paused' | 'down';

const BUS_OFFSET = 10_000;
const EMPTY_SERVER_BYTES = 1_000_000;

/** One server process: its node table, its slots, its keys. Behaviour lives in the files beside this one. */
export class ModelServer {
  readonly options: ServerOptions;
  readonly settings: Settings;
  readonly random: Random;
  process: ProcessState = 'up';
  host: string;
  port: number;
  startedAt: number;
  /** It reads its file: on the bus it is alive, clients are refused. */
  loadingUntil = Number.NEGATIVE_INFINITY;
  /** Another one for each process. */
  runId: string;

  /** Our own entry of the node table. */
  self: Peer;
  /** By id, ourselves included. */
  peers = new Map<string, Peer>();
  /** For each slot the mark of its owner in our view, 0 = nobody. */
  readonly owners = new Uint16Array(SLOT_COUNT);
  readonly migrating = new Map<number, Peer>();
  readonly importing = new Map<number, Peer>();
  /** Slots that their owner no longer claims; they stay bound to it until somebody else claims them. */
  readonly unclaimed = new Set<number>();
  /** FORGET: ids that gossip may not bring back, with the time when the ban ends. */
  readonly banned = new Map<string, number>();

  currentEpoch = 0;
  lastVoteEpoch = 0;
  state: 'ok' | 'fail' = 'fail';
  minoritySince = Number.NEGATIVE_INFINITY;
  /** Primaries with slots, from the last look at the table. */
  size = 1;
  /** Bumped by every change that gossip would carry or that changes how gossip is taken. */
  version = 0;
  /** A change to be told to everybody at the next turn instead of by and by. */
  broadcastSoon = false;
  stateDirty = true;
  nextPingAt = 0;

  databases: Keyspace[];
  readonly unlogged = new Unlogged();
  readonly replication: Replication;
  functions: string[] = [];
  manualFailover: ManualFailover | undefined;
  election: { at: number; epoch: number; sent: boolean } | undefined;
  readonly atomic: AtomicState = createAtomicState();
  readonly pull: PullState = createPullState();
  /** What waits in the sockets of a stopped process. */
  readonly whenResumed: ((now: number) => void)[] = [];
  readonly cpuBySlot = new Map<number, number>();

  readonly #byMark: (Peer | undefined)[] = [undefined];
  /** Runs of slots by owner's mark, until a slot changes hands. */
  #runs: ReadonlyMap<number, SlotRuns> | undefined;

  constructor(options: ServerOptions, random: Random, now: number) {
    this.options = options;
    const { nodeTimeoutMs, allowReplicaMigration, requireFullCoverage, maxMemory, slotStats } = options;
    this.settings = { nodeTimeoutMs, allowReplicaMigration, requireFullCoverage, maxMemory, slotStats };
    this.random = random;
    this.host = options.host;
    this.port = options.port;
    this.startedAt = now;
    this.runId = hexId(random);
    // A fresh server does not know its own address until somebody meets it.
    this.self = this.addPeer(
      { id: hexId(random), host: '', port: this.port, busPort: this.busPort, role: 'primary', shardId: hexId(random) },
      now,
    );
    this.self.linked = true;
    this.databases = Array.from({ length: options.databases }, () => new Keyspace());
    this.replication = createReplication();
  }

  get id(): string {
    return this.self.id;
  }

  get busPort(): number {
    return this.port + BUS_OFFSET;
  }

  get endpoint(): string {
    return `${this.host}:${this.port}`;
  }

  get isPrimary(): boolean {
    return this.self.role === 'primary';
  }

  get can(): Features {
    return featuresOf[this.options.flavour];
  }

  touch(): void {
    this.version++;
    this.stateDirty = true;
  }

  // --- the node table

  addPeer(seed: PeerSeed, now: number): Peer {
    const peer = createPeer(seed, this.#byMark.length, now);
    this.#byMark.push(peer);
    this.peers.set(peer.id, peer);
    this.touch();
    return peer;
  }

  /** Forgets a node: its slots become unassigned, its replicas have no known primary, its reports are void. */
  removePeer(peer: Peer): void {
    this.unassignAllOf(peer);
    for (const [slot, target] of this.migrating) if (target === peer) this.migrating.delete(slot);
    for (const [slot, source] of this.importing) if (source === peer) this.importing.delete(slot);
    for (const other of this.peers.values()) {
      other.reports.delete(peer);
      if (other.primary === peer) other.primary = undefined;
    }
    this.peers.delete(peer.id);
    this.#byMark[peer.mark] = undefined;
    this.touch();
  }

  renamePeer(peer: Peer, id: string): void {
    this.peers.delete(peer.id);
    peer.id = id;
    this.peers.set(id, peer);
    this.touch();
  }

  peerByMark(mark: number): Peer | undefined {
    return this.#byMark[mark];
  }

  isBanned(id: string, now: number): boolean {
    const until = this.banned.get(id);
    return until !== undefined && until > now;
  }

  // --- slots

  ownerOf(slot: number): Peer | undefined {
    return this.#byMark[this.owners[slot] as number];
  }

  assign(slot: number, peer: Peer): void {
    this.#runs = undefined;
    this.owners[slot] = peer.mark;
    peer.slotCount++;
    this.touch();
  }

  /** A run of slots that all belong to `from` (or nobody) goes to another owner at once. */
  reassign(first: number, last: number, from: Peer | undefined, to: Peer): void {
    const count = last - first + 1;
    if (from) from.slotCount -= count;
    to.slotCount += count;
    this.owners.fill(to.mark, first, last + 1);
    this.#runs = undefined;
    if (this.unclaimed.size > 0) for (let slot = first; slot <= last; slot++) this.unclaimed.delete(slot);
    this.touch();
  }

  unassign(slot: number): boolean {
    const owner = this.ownerOf(slot);
    if (!owner) return false;
    owner.slotCount--;
    this.#runs = undefined;
    this.owners[slot] = 0;
    this.unclaimed.delete(slot);
    this.touch();
    return true;
  }

  /** The slots of an owner, as runs and as the text of CLUSTER NODES. */
  slotsOf(mark: number): SlotRuns {
    this.#runs ??= slotRuns(this.owners);
    return this.#runs.get(mark) ?? noSlots;
  }

  /** Nobody has it, or its owner stopped claiming it. */
  isUnclaimed(slot: number): boolean {
    return this.owners[slot] === 0 || this.unclaimed.has(slot);
  }

  unassignAllOf(peer: Peer): void {
    if (peer.slotCount === 0) return;
    for (let slot = 0; slot < SLOT_COUNT; slot++) if (this.owners[slot] === peer.mark) this.unassign(slot);
  }

  /** Ourselves, or our primary if we are a replica that knows it. */
  shardPrimary(): Peer {
    return this.self.role === 'replica' && this.self.primary ? this.self.primary : this.self;
  }

  // --- keys

  database(index: number): Keyspace {
    return this.databases[index] as Keyspace;
  }

  keyCount(): number {
    let count = 0;
    for (const keys of this.databases) count += keys.size;
    return count;
  }

  countKeysInSlot(slot: number): number {
    let count = 0;
    for (const keys of this.databases) count += keys.countInSlot(slot);
    return count;
  }

  usedBytes(): number {
    let bytes = EMPTY_SERVER_BYTES;
    for (const keys of this.databases) bytes += keys.bytes;
    return bytes;
  }

  // --- the process

  /** A new process reads nodes.conf: table, slots, epochs and votes are kept, links and handshakes are not. */
  restart(now: number, loadingMs = 0): void {
    this.process = 'up';
    this.startedAt = now;
    this.loadingUntil = now + loadingMs;
    this.runId = hexId(this.random);
    this.state = 'fail';
    this.minoritySince = Number.NEGATIVE_INFINITY;
    this.manualFailover = undefined;
    this.election = undefined;
    this.nextPingAt = 0;
    this.self.port = this.port;
    this.self.busPort = this.busPort;
    this.whenResumed.length = 0;
    this.unclaimed.clear();
    this.banned.clear();
    for (const peer of [...this.peers.values()]) {
      if (peer.handshake) this.removePeer(peer);
      peer.linked = peer === this.self;
      peer.pingSentAt = 0;
      peer.pongReceivedAt = 0;
      peer.reports.clear();
      if (peer.failing !== 'no') peer.failedAt = now;
    }
    if (this.options.persistence) this.unlogged.restore(this.databases);
    else {
      for (const keys of this.databases) keys.clear();
      this.functions = [];
    }
    Object.assign(this.atomic, createAtomicState());
    Object.assign(this.pull, createPullState());
    Object.assign(this.replication, createReplication(), { log: [] });
    if (!this.isPrimary) this.replication.link = 'connecting';
    this.#settleKeysWithSlots();
    this.touch();
  }

  /** At start a server takes slots that it has keys of and nobody owns. Keys of others' slots: see `dropsStrayKeys`. */
  #settleKeysWithSlots(): void {
    if (!this.isPrimary) return;
    for (const keys of this.databases) {
      for (const slot of keys.slots()) {
        const owner = this.ownerOf(slot);
        if (owner === this.self || this.importing.has(slot)) continue;
        if (!owner) this.assign(slot, this.self);
        else if (this.can.dropsStrayKeys) for (const key of keys.keysInSlot(slot)) keys.delete(key);
        else this.importing.set(slot, owner);
      }
    }
  }

  // --- epochs

  maxEpoch(): number {
    let max = this.currentEpoch;
    for (const peer of this.peers.values()) if (peer.configEpoch > max) max = peer.configEpoch;
    return max;
  }

  /** A new config epoch without asking anybody. False when ours is already the greatest. */
  bumpEpoch(): boolean {
    const max = this.maxEpoch();
    if (this.self.configEpoch !== 0 && this.self.configEpoch === max) return false;
    this.currentEpoch++;
    this.self.configEpoch = this.currentEpoch;
    this.touch();
    return true;
  }
}
