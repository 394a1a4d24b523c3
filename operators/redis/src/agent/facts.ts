/**
 * What an agent reports of its server: the node's own facts, bounded, and nothing that must stay secret. Pure. What a node thinks of the
 * others is a digest (view-digest.ts), and here how many of them it misses.
 */
import { digest, type Knowledge, known, type Member, unknown } from '@reeve/runtime';
import { countSlots, formatSlots } from '../api/slots.ts';
import type { Capabilities, NodeId, NodeLine, NodeReport, ReplicationInfo, Role } from '../api/view.ts';

export interface RedisFacts {
  readonly node: NodeId;
  /** New with each start of the server. */
  readonly run: string;
  /** As it announces itself, `10.0.0.1:6379@16379`; without a host while it does not know its own. */
  readonly address: string;
  /** The cluster that the agent was told its node belongs to. */
  readonly cluster?: string;
  readonly role: Role;
  /** Replicas only. */
  readonly primary?: NodeId;
  readonly link?: 'up' | 'syncing' | 'down';
  readonly slotCount: number;
  /** `0-5460,5462`; left out where it would be too long: then there is a digest of it. */
  readonly slots?: string;
  readonly slotRanges?: number;
  readonly slotsDigest?: string;
  /** Slots that it is migrating or importing. */
  readonly openSlots: number;
  /** Atomic migrations that have not ended; absent when the server does not tell. */
  readonly jobs?: number;
  readonly configEpoch: number;
  readonly currentEpoch: number;
  readonly state: 'ok' | 'fail';
  /** Primaries with slots, by its own count. */
  readonly size: number;
  readonly product: 'redis' | 'valkey';
  readonly version: string;
  readonly capabilities: readonly (keyof Capabilities)[];
  readonly nodeTimeoutMs?: number;
  readonly functions?: number;
  readonly keys: number;
  readonly usedBytes: number;
  readonly maxBytes: number;
  readonly offset: number;
  readonly others: OthersSeen;
  /** Where it lives: `zone`, `host`, whatever else the agent was told. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** How a node sees the others. Who is taken for failed is named, as far as there is room. */
export interface OthersSeen {
  readonly known: number;
  readonly failed: number;
  readonly suspected: number;
  readonly handshakes: number;
  readonly unlinked: number;
  /** Ids of failed and suspected nodes, failed ones first. */
  readonly missing?: readonly NodeId[];
}

export interface Told {
  readonly cluster?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Together with everything else below the 2 KB of a report. */
const MOST_SLOTS_TEXT = 320;
const MOST_MISSING = 5;
const MOST_TEXT = 64;
/** Of the annotations as JSON: an agent is not started with more. */
export const MOST_ANNOTATION_BYTES = 512;

/** By the order of their keys as many as fit: labels of worker nodes are as long as somebody made them. */
export function boundedAnnotations(all: NonNullable<Told['annotations']>): NonNullable<Told['annotations']> {
  let kept: Readonly<Record<string, string>> = {};
  for (const key of Object.keys(all).sort()) {
    const more = { ...kept, [key]: all[key] ?? '' };
    if (Buffer.byteLength(JSON.stringify(more)) <= MOST_ANNOTATION_BYTES) kept = more;
  }
  return kept;
}

export function factsOf(report: NodeReport, run: string, told: Told = {}): RedisFacts {
  const { self, server, info, replication, memory, atomicJobs, functionLibraries } = report;
  return {
    node: self.id,
    run: run.slice(0, MOST_TEXT),
    address: `${self.host}:${self.port}@${self.busPort}`.slice(0, MOST_TEXT),
    ...(told.cluster !== undefined && { cluster: told.cluster }),
    role: self.role,
    ...(self.role === 'replica' && { ...(self.primaryId && { primary: self.primaryId }), link: linkOf(replication) }),
    ...slotFacts(self),
    openSlots: self.migrating.length + self.importing.length,
    ...(atomicJobs.known && { jobs: atomicJobs.value.length }),
    configEpoch: self.configEpoch,
    currentEpoch: info.currentEpoch,
    state: info.state,
    size: info.size,
    product: server.product,
    version: server.version.slice(0, MOST_TEXT),
    capabilities: abilities.filter((ability) => server.capabilities[ability]),
    ...(server.nodeTimeoutMs.known && { nodeTimeoutMs: server.nodeTimeoutMs.value }),
    ...(functionLibraries.known && { functions: functionLibraries.value }),
    keys: Object.values(report.keyspace).reduce((sum, keys) => sum + keys, 0),
    usedBytes: memory.usedBytes,
    maxBytes: memory.maxBytes,
    offset: replication.offset,
    others: othersSeen(report.others),
    ...(told.annotations && { annotations: told.annotations }),
  };
}

const abilities: readonly (keyof Capabilities)[] = [
  'atomicMigration',
  'redisAtomicMigration',
  'slotStats',
  'functions',
];

function linkOf({ linkUp, syncInProgress }: ReplicationInfo): NonNullable<RedisFacts['link']> {
  if (linkUp) return 'up';
  return syncInProgress ? 'syncing' : 'down';
}

/** A node that was resharded often has thousands of ranges: their number and a digest tell whether they changed. */
function slotFacts({ slots }: NodeLine): Pick<RedisFacts, 'slotCount' | 'slots' | 'slotRanges' | 'slotsDigest'> {
  const slotCount = countSlots(slots);
  const text = formatSlots(slots);
  if (text.length <= MOST_SLOTS_TEXT) return { slotCount, slots: text };
  return { slotCount, slotRanges: slots.length, slotsDigest: digest(text) };
}

function othersSeen(lines: readonly NodeLine[]): OthersSeen {
  const has = (flag: string) => (line: NodeLine) => line.flags.includes(flag);
  const members = lines.filter((line) => !has('handshake')(line));
  const failed = members.filter(has('fail'));
  const suspected = members.filter(has('fail?'));
  const missing = [failed, suspected].flatMap((some) => some.map(({ id }) => id).sort()).slice(0, MOST_MISSING);
  return {
    known: members.length,
    failed: failed.length,
    suspected: suspected.length,
    handshakes: lines.length - members.length,
    unlinked: members.filter(({ linkUp }) => !linkUp).length,
    ...(missing.length > 0 && { missing }),
  };
}

/** What a member's agent last told, as the manager reads it: what cannot be relied upon is unknown, with the reason. */
export function reportedFacts({ metadata, status }: Member): Knowledge<RedisFacts> {
  const report = status?.report;
  if (!report) return unknown(`the agent of ${metadata.name} has not reported yet`);
  if (report.unknown !== undefined) return unknown(report.unknown);
  const facts = report.facts as Partial<RedisFacts> | undefined;
  const isSound =
    /^[0-9a-f]{40}$/.test(String(facts?.node)) &&
    (facts?.role === 'primary' || facts?.role === 'replica') &&
    typeof facts.slotCount === 'number' &&
    typeof facts.configEpoch === 'number' &&
    typeof facts.others === 'object';
  return isSound ? known(facts as RedisFacts) : unknown(`what the agent of ${metadata.name} reports cannot be read`);
}
