/**
 * ClusterViews for tests, without a server. A cluster is a list of TestNodes; `viewOfNodes` derives from it what
 * every node would report, so that a test changes one thing (a slot, a flag, a dead node) and gets a whole view.
 */
import { type Knowledge, known, unknown } from '@reeve/runtime';
import { countSlots, formatSlots, parseSlots, type SlotRanges } from '../api/slots.ts';
import type {
  AtomicJob,
  ClusterView,
  Heard,
  NodeId,
  NodeLine,
  NodeReport,
  NodeView,
  OpenSlot,
  Role,
  SlotMeasure,
} from '../api/view.ts';
import { evenSlots } from './create-slots.ts';

export interface TestNode {
  readonly id: NodeId;
  readonly host: string;
  readonly port: number;
  readonly role: Role;
  readonly primaryId?: NodeId;
  /** Text, `0-5460,5462`. */
  readonly slots: string;
  readonly epoch: number;
  readonly annotations: Readonly<Record<string, string>>;
  /** Set: the node cannot be read, for this reason. The others still have lines about it. */
  readonly unreachable?: string;
  /** Flags in the others' lines beyond the role: `fail`, `fail?`, `nofailover`. */
  readonly flags: readonly string[];
  /** Ids in its node table; undefined = every node of the list that is not alone (`knows: []`). */
  readonly knows?: readonly NodeId[];
  readonly migrating: readonly OpenSlot[];
  readonly importing: readonly OpenSlot[];
  /** Keys per slot: they make up the keyspace (database 0) and the slot measures. */
  readonly keys: Readonly<Record<number, number>>;
  readonly measures?: Readonly<Record<number, SlotMeasure>>;
  readonly linkUp: boolean;
  readonly usedBytes: number;
  readonly maxBytes: number;
  readonly functionLibraries: Knowledge<number>;
  readonly keysBeyondSlots: Knowledge<number>;
  readonly misplacedInShards: readonly NodeId[];
  readonly atomicJobs: readonly AtomicJob[];
  readonly product: 'redis' | 'valkey';
  readonly version: string;
  readonly state?: 'ok' | 'fail';
  /** Last word: changes the finished report of this node. */
  readonly report?: (report: NodeReport) => NodeReport;
}

export interface ViewOptions {
  readonly primaries: number;
  /** Of each primary. */
  readonly replicas?: number;
  readonly product?: 'redis' | 'valkey';
  /** Changes by name: `p0`, `p1` … are the primaries, `p0r0` … their replicas. */
  readonly nodes?: Readonly<Record<string, Partial<TestNode>>>;
  /** More nodes, for example `freshNode('new')`. */
  readonly extra?: readonly TestNode[];
  readonly observedAt?: number;
  readonly silent?: ClusterView['silent'];
}

/** The id of a test node: its name in hex, filled up with zeros. */
export function idOf(name: string): NodeId {
  return Buffer.from(name, 'utf8').toString('hex').padEnd(40, '0');
}

export function testNode(name: string, changes: Partial<TestNode> = {}): TestNode {
  const port = changes.port ?? 7000;
  const host = changes.host ?? '127.0.0.1';
  return {
    id: idOf(name),
    host,
    port,
    role: 'primary',
    slots: '',
    epoch: 0,
    annotations: { host },
    flags: [],
    migrating: [],
    importing: [],
    keys: {},
    linkUp: true,
    usedBytes: 1_000_000,
    maxBytes: 0,
    functionLibraries: known(0),
    keysBeyondSlots: known(0),
    misplacedInShards: [],
    atomicJobs: [],
    product: 'valkey',
    version: '9.1.2',
    ...changes,
  };
}

/** A node that was never in a cluster. */
export function freshNode(name: string, changes: Partial<TestNode> = {}): TestNode {
  return testNode(name, { knows: [], ...changes });
}

/** A healthy cluster: even slots, epochs 1…n, host `10.0.0.<n>` each (so that placement is clean), port 7000. */
export function clusterNodes(options: ViewOptions): readonly TestNode[] {
  const nodes: TestNode[] = [];
  const base: Partial<TestNode> = options.product === 'redis' ? { product: 'redis', version: '7.4.2' } : {};
  const add = (name: string, changes: Partial<TestNode>) => {
    const host = `10.0.0.${nodes.length + 1}`;
    nodes.push(testNode(name, { ...base, host, ...changes, ...options.nodes?.[name] }));
  };
  const slots = evenSlots(options.primaries).map((range) => formatSlots([range]));
  for (let p = 0; p < options.primaries; p++) {
    add(`p${p}`, { slots: slots[p] ?? '', epoch: p + 1 });
    for (let r = 0; r < (options.replicas ?? 0); r++) {
      add(`p${p}r${r}`, { role: 'replica', primaryId: idOf(`p${p}`), epoch: p + 1 });
    }
  }
  return [...nodes, ...(options.extra ?? [])];
}

/** The view of a healthy cluster with the given changes. */
export function viewOf(options: ViewOptions): ClusterView {
  return viewOfNodes(clusterNodes(options), options);
}

export function viewOfNodes(
  nodes: readonly TestNode[],
  options: { readonly observedAt?: number; readonly silent?: ClusterView['silent'] } = {},
): ClusterView {
  const lines = new Map(nodes.map((node) => [node, lineOf(node, nodes)]));
  const views = nodes.map(
    (node): Omit<NodeView, 'heard'> => ({
      id: node.id,
      endpoint: { host: node.host, port: node.port },
      report: node.unreachable === undefined ? known(reportOf(node, nodes, lines)) : unknown(node.unreachable),
      annotations: node.annotations,
    }),
  );
  views.sort((a, b) => (a.id < b.id ? -1 : 1));
  // From the finished reports, so that what a test edited there is also what is heard.
  const heard = heardIn(views);
  return {
    observedAt: options.observedAt ?? 1_000,
    nodes: views.map((node) => ({ ...node, heard: heard.get(node.id) ?? [] })),
    silent: options.silent ?? [],
  };
}

/** As an observation has it: equal lines are one object there, and said once by many. */
function heardIn(views: readonly Omit<NodeView, 'heard'>[]): ReadonlyMap<NodeId, readonly Heard[]> {
  const listeners = new Map<NodeLine, NodeId[]>();
  const heard = new Map<NodeId, Heard[]>();
  for (const { id, report } of views) {
    for (const line of report.known ? report.value.others : []) {
      const known = listeners.get(line);
      if (known) {
        known.push(id);
        continue;
      }
      const by = [id];
      listeners.set(line, by);
      heard.set(line.id, [...(heard.get(line.id) ?? []), { line, by }]);
    }
  }
  return heard;
}

function tableOf(node: TestNode, nodes: readonly TestNode[]): readonly NodeId[] {
  return node.knows ?? nodes.filter((other) => other.knows?.length !== 0).map((other) => other.id);
}

function rangesFromText(text: string): SlotRanges {
  const ranges = parseSlots(text);
  if (!ranges) throw new Error(`not slots: ${text}`);
  return ranges;
}

function lineOf(node: TestNode, nodes: readonly TestNode[]): NodeLine {
  const primary = nodes.find((other) => other.id === node.primaryId);
  return {
    id: node.id,
    host: node.host,
    port: node.port,
    busPort: node.port + 10_000,
    flags: [node.role === 'primary' ? 'master' : 'slave', ...node.flags],
    role: node.role,
    ...(node.role === 'replica' && node.primaryId !== undefined ? { primaryId: node.primaryId } : {}),
    // A replica shows the epoch of its primary.
    configEpoch: node.role === 'replica' && primary ? primary.epoch : node.epoch,
    linkUp: node.unreachable === undefined,
    slots: node.role === 'primary' ? rangesFromText(node.slots) : [],
    migrating: [],
    importing: [],
  };
}

function reportOf(node: TestNode, nodes: readonly TestNode[], lines: ReadonlyMap<TestNode, NodeLine>): NodeReport {
  const ids = new Set(tableOf(node, nodes));
  const table = nodes.filter((other) => ids.has(other.id) || other.id === node.id);
  const owners = table.filter((other) => other.role === 'primary' && other.slots !== '');
  const assigned = owners.reduce((sum, owner) => sum + countSlots(rangesFromText(owner.slots)), 0);
  const keys = Object.values(node.keys).reduce((sum, count) => sum + count, 0);
  const line = lineOf(node, nodes);
  const valkey9 = node.product === 'valkey' && Number(node.version.split('.')[0]) >= 9;
  const report: NodeReport = {
    server: {
      product: node.product,
      version: node.version,
      capabilities: {
        atomicMigration: valkey9,
        redisAtomicMigration: false,
        slotStats: node.product === 'valkey',
        functions: true,
      },
      nodeTimeoutMs: known(15_000),
    },
    self: {
      ...line,
      flags: ['myself', ...line.flags.filter((flag) => !flag.startsWith('fail'))],
      linkUp: true,
      migrating: node.migrating,
      importing: node.importing,
    },
    others: table.filter((other) => other.id !== node.id).map((other) => lines.get(other) ?? lineOf(other, nodes)),
    info: {
      state: node.state ?? (assigned >= 16_384 ? 'ok' : 'fail'),
      size: owners.length,
      currentEpoch: Math.max(0, ...table.map((other) => other.epoch)),
    },
    replication: {
      role: node.role,
      offset: 100,
      ...(node.role === 'replica'
        ? {
            linkUp: node.linkUp,
            syncInProgress: false,
          }
        : {}),
    },
    memory: { usedBytes: node.usedBytes, maxBytes: node.maxBytes, systemBytes: 0 },
    keyspace: keys > 0 ? { 0: keys } : {},
    functionLibraries: node.functionLibraries,
    slotMeasures:
      node.measures ?? Object.fromEntries(Object.entries(node.keys).map(([slot, count]) => [slot, { keys: count }])),
    keysBeyondSlots: node.keysBeyondSlots,
    misplacedInShards: known(node.misplacedInShards),
    atomicJobs: known(node.atomicJobs),
  };
  return node.report ? node.report(report) : report;
}
