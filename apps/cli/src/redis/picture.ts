/** A cluster as people look at it: shards, each a primary with its replicas, and what stands beside them. */
import {
  type ClusterView,
  countSlots,
  formatEndpoint,
  formatSlots,
  type NodeView,
  SLOT_COUNT,
  unionSlots,
} from '@reeve/redis';

export interface NodePicture {
  readonly id: string;
  readonly address: string;
  readonly role: 'primary' | 'replica' | 'unknown';
  /** `up`: it answers. `replicating`, `link down`, `syncing` for replicas. Else why it could not be read. */
  readonly state: string;
  readonly reachable: boolean;
  readonly keys: number | null;
  readonly usedBytes: number | null;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ShardPicture {
  readonly slots: string;
  readonly slotCount: number;
  readonly primary: NodePicture;
  readonly replicas: readonly NodePicture[];
}

export interface ClusterPicture {
  readonly servers: readonly string[];
  readonly state: 'ok' | 'fail' | 'unknown';
  readonly slotsCovered: number;
  readonly currentEpoch: number;
  readonly keys: number;
  readonly shards: readonly ShardPicture[];
  /** Replicas whose primary nobody knows, and nodes that only others mention. */
  readonly others: readonly NodePicture[];
  readonly silent: readonly { readonly address: string; readonly code: string; readonly why: string }[];
}

/** The line that counts: its own, else what the others say, the highest epoch first. */
function lineOf(node: NodeView) {
  if (node.report.known) return node.report.value.self;
  return node.heard
    .map(({ line }) => line)
    .filter((line) => !line.flags.includes('handshake'))
    .sort((a, b) => b.configEpoch - a.configEpoch)[0];
}

function stateOf(node: NodeView): string {
  if (!node.report.known) return node.heard.some(({ line }) => line.flags.includes('fail')) ? 'failed' : 'unreachable';
  const { self, replication } = node.report.value;
  if (self.role === 'primary') return 'up';
  if (replication.syncInProgress) return 'syncing';
  return replication.linkUp ? 'replicating' : 'link down';
}

function pictureOf(node: NodeView): NodePicture {
  const report = node.report.known ? node.report.value : undefined;
  return {
    id: node.id,
    address: formatEndpoint(node.endpoint),
    role: lineOf(node)?.role ?? 'unknown',
    state: stateOf(node),
    reachable: node.report.known,
    keys: report ? Object.values(report.keyspace).reduce((sum, keys) => sum + keys, 0) : null,
    usedBytes: report ? report.memory.usedBytes : null,
    annotations: node.annotations,
  };
}

export function clusterPicture(view: ClusterView): ClusterPicture {
  const nodes = view.nodes.filter((node) => lineOf(node) !== undefined);
  const reports = nodes.flatMap((node) => (node.report.known ? [node.report.value] : []));
  const primaries = nodes.filter((node) => lineOf(node)?.role === 'primary');
  const shards = primaries
    .map((node) => {
      const slots = lineOf(node)?.slots ?? [];
      const replicas = nodes.filter(
        (other) => lineOf(other)?.role === 'replica' && lineOf(other)?.primaryId === node.id,
      );
      return { first: slots[0]?.[0] ?? SLOT_COUNT, slots, node, replicas };
    })
    .sort((a, b) => a.first - b.first || (a.node.id < b.node.id ? -1 : 1));
  const shown = new Set(shards.flatMap(({ node, replicas }) => [node.id, ...replicas.map(({ id }) => id)]));
  return {
    servers: [...new Set(reports.map(({ server }) => `${server.product} ${server.version}`))].sort(),
    state: reports.length === 0 ? 'unknown' : reports.every(({ info }) => info.state === 'ok') ? 'ok' : 'fail',
    slotsCovered: countSlots(unionSlots(...shards.map(({ slots }) => slots))),
    currentEpoch: Math.max(0, ...reports.map(({ info }) => info.currentEpoch)),
    keys: shards.reduce((sum, { node }) => sum + (pictureOf(node).keys ?? 0), 0),
    shards: shards.map(({ slots, node, replicas }) => ({
      slots: formatSlots(slots),
      slotCount: countSlots(slots),
      primary: pictureOf(node),
      replicas: replicas.map(pictureOf),
    })),
    others: nodes.filter(({ id }) => !shown.has(id)).map(pictureOf),
    silent: view.silent.map(({ endpoint, code, why }) => ({ address: formatEndpoint(endpoint), code, why })),
  };
}
