/**
 * What is known of a cluster, as one plain value. Collected by observe/, judged by plan/.
 * `docs/observed-fields.md` names for each field the decision, condition or metric that uses it.
 */
import type { Knowledge } from '@reeve/runtime';
import type { SlotRanges } from './slots.ts';

/** 40 hex digits; the only identity of a node. Addresses change, names lie. */
export type NodeId = string;

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export function formatEndpoint(endpoint: Endpoint): string {
  return endpoint.host.includes(':') ? `[${endpoint.host}]:${endpoint.port}` : `${endpoint.host}:${endpoint.port}`;
}

/** A node as commands name it: who it must be, and where it was when observed. */
export interface NodeRef {
  readonly id: NodeId;
  readonly endpoint: Endpoint;
}

export type Role = 'primary' | 'replica';

/** An open slot in a node's own line: `[s->-peer]` (migrating) or `[s-<-peer]` (importing). */
export interface OpenSlot {
  readonly slot: number;
  readonly peer: NodeId;
}

/** One line of CLUSTER NODES: what one node thinks of itself or of another. */
export interface NodeLine {
  readonly id: NodeId;
  readonly host: string; // empty when the reporter does not know it
  readonly port: number;
  readonly busPort: number;
  /** `fail`, `fail?`, `handshake`, `noaddr`, `nofailover`, `myself`, `master`, `slave`, `noflags` as sent. */
  readonly flags: readonly string[];
  readonly role: Role;
  readonly primaryId?: NodeId;
  readonly configEpoch: number;
  readonly linkUp: boolean;
  readonly slots: SlotRanges;
  /** Only in a node's own line. */
  readonly migrating: readonly OpenSlot[];
  readonly importing: readonly OpenSlot[];
}

/** CLUSTER INFO. */
export interface ClusterInfo {
  readonly state: 'ok' | 'fail';
  /** Primaries with slots: what a majority is counted from. */
  readonly size: number;
  readonly currentEpoch: number;
}

/** INFO replication. */
export interface ReplicationInfo {
  readonly role: Role;
  /** Replicas only. */
  readonly linkUp?: boolean;
  readonly syncInProgress?: boolean;
  /** A primary's master_repl_offset, a replica's slave_repl_offset. */
  readonly offset: number;
}

export interface MemoryInfo {
  readonly usedBytes: number;
  /** 0 = no limit set. */
  readonly maxBytes: number;
  /** Of the machine, 0 if not told. */
  readonly systemBytes: number;
}

/** What the server can do, found out by asking it (COMMAND INFO, CONFIG GET), never by its version. */
export interface Capabilities {
  /** CLUSTER MIGRATESLOTS (Valkey 9). */
  readonly atomicMigration: boolean;
  /** CLUSTER MIGRATION IMPORT (Redis 8.4+). */
  readonly redisAtomicMigration: boolean;
  readonly slotStats: boolean;
  readonly functions: boolean;
}

export interface ServerInfo {
  readonly product: 'redis' | 'valkey';
  readonly version: string;
  readonly capabilities: Capabilities;
  /** cluster-node-timeout, for safe MIGRATE timeouts; unknown when CONFIG is denied. */
  readonly nodeTimeoutMs: Knowledge<number>;
}

/** Per-slot measurements (CLUSTER SLOT-STATS, or COUNTKEYSINSLOT for the slots asked about). */
export interface SlotMeasure {
  readonly keys: number;
  readonly bytes?: number;
  readonly cpuUsec?: number;
  readonly networkBytesIn?: number;
  readonly networkBytesOut?: number;
}

/** A node's own view, read from itself in one pass. */
export interface NodeReport {
  readonly server: ServerInfo;
  /** Its own `myself` line. */
  readonly self: NodeLine;
  /** Its lines about all others. */
  readonly others: readonly NodeLine[];
  readonly info: ClusterInfo;
  readonly replication: ReplicationInfo;
  readonly memory: MemoryInfo;
  /** Keys per database, all databases: {0: 12}. Empty object = no key anywhere. */
  readonly keyspace: Readonly<Record<number, number>>;
  /** Number of function libraries; unknown where FUNCTION does not exist or is denied. */
  readonly functionLibraries: Knowledge<number>;
  /** Only the slots that were asked about (or all, when measured); absent slot = not asked. */
  readonly slotMeasures: Readonly<Record<number, SlotMeasure>>;
  /** All keys less those in the slots that the node serves, counted at one moment, when asked. */
  readonly keysBeyondSlots: Knowledge<number>;
  /** Nodes that its CLUSTER SHARDS, which clients read, places elsewhere than its CLUSTER NODES; only when asked for. */
  readonly misplacedInShards: Knowledge<readonly NodeId[]>;
  /** CLUSTER GETSLOTMIGRATIONS: jobs that have not ended. A server that cannot have any has none; denied is unknown. */
  readonly atomicJobs: Knowledge<readonly AtomicJob[]>;
}

export interface AtomicJob {
  readonly name: string;
  readonly operation: 'export' | 'import';
  readonly slots: SlotRanges;
  readonly sourceId: NodeId;
  readonly targetId: NodeId;
  readonly state: string;
  readonly message: string;
}

/** What some of the others say of a node: one line, and all who say it. */
export interface Heard {
  readonly line: NodeLine;
  /** Sorted. */
  readonly by: readonly NodeId[];
}

/** One node of the merged view: its own report if it could be read, and what the others say of it. */
export interface NodeView {
  readonly id: NodeId;
  /** Where we reached it; where the others say it is, if we did not. */
  readonly endpoint: Endpoint;
  readonly report: Knowledge<NodeReport>;
  /**
   * What is said of it in the reports of others: each different line once, in the order of who says it first. Disagreements are kept.
   * Nearly all say the same of a node, so whoever asks what is said of it looks at a line or two and not at a thousand tables.
   */
  readonly heard: readonly Heard[];
  /** Host annotations: `host` defaults to the address; `zone` and any other key as given. */
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ClusterView {
  /** When this observation began (our clock): an observation that began before a change says nothing about it. */
  readonly observedAt: number;
  /** Sorted by id. Every node that reported or was heard of. */
  readonly nodes: readonly NodeView[];
  /** Addresses we asked that did not answer, so that we cannot say which node is there. */
  readonly silent: readonly { readonly endpoint: Endpoint; readonly code: string; readonly why: string }[];
}
