/**
 * Questions about a ClusterView that every plan asks. Pure. A node's own report counts first; what the others say of a
 * node counts only where it does not report, and is named `heard` so that nobody mistakes it for knowledge.
 */
import type { Known } from '@reeve/runtime';
import { SLOT_COUNT, type SlotRanges, unionSlots } from '../api/slots.ts';
import {
  type ClusterView,
  type Endpoint,
  formatEndpoint,
  type Heard,
  type NodeId,
  type NodeLine,
  type NodeRef,
  type NodeReport,
  type NodeView,
  type Role,
} from '../api/view.ts';

/** A node that was read itself. */
export type ReportedNode = NodeView & { readonly report: Known<NodeReport> };

export function isReported(node: NodeView): node is ReportedNode {
  return node.report.known;
}

export function reported(view: ClusterView): readonly ReportedNode[] {
  return view.nodes.filter(isReported);
}

export function nodeOf(view: ClusterView, id: NodeId): NodeView | undefined {
  return view.nodes.find((node) => node.id === id);
}

export function refOf(node: NodeView): NodeRef {
  return { id: node.id, endpoint: node.endpoint };
}

export function sameEndpoint(a: Endpoint, b: Endpoint): boolean {
  return a.host === b.host && a.port === b.port;
}

/**
 * MEET puts an entry with a made-up id into the sender's table until the other side answers. Such an id never belongs
 * to a node: it is not a member, it owns nothing, and it is no reason to act.
 */
export function isHandshake(line: NodeLine): boolean {
  return line.flags.includes('handshake');
}

/** Nodes that are really there or really were: all but the made-up ids of handshakes. */
export function members(view: ClusterView): readonly NodeView[] {
  return view.nodes.filter(isMember);
}

function isMember(node: NodeView): boolean {
  return node.report.known || node.heard.some(({ line }) => !isHandshake(line));
}

/**
 * The lines about a node, its own first. Of the others' lines those with the highest config epoch come first, because
 * gossip settles disputes that way; equal ones keep the order of the view.
 */
function linesAbout(node: NodeView): readonly NodeLine[] {
  if (node.report.known) return [node.report.value.self];
  return node.heard
    .map(({ line }) => line)
    .filter((line) => !isHandshake(line))
    .sort((a, b) => b.configEpoch - a.configEpoch);
}

/** By its own report, else as the others say. Undefined: nobody says. */
export function roleOf(node: NodeView): Role | undefined {
  return linesAbout(node)[0]?.role;
}

/** Whom it replicates, by its own report, else as the others say. Undefined for a primary. */
export function primaryIdOf(node: NodeView): NodeId | undefined {
  const line = linesAbout(node)[0];
  return line?.role === 'replica' ? line.primaryId : undefined;
}

/** All primaries, with or without slots, reporting or not. */
export function primaries(view: ClusterView): readonly NodeView[] {
  return view.nodes.filter((node) => roleOf(node) === 'primary');
}

export function reportedPrimaries(view: ClusterView): readonly ReportedNode[] {
  return reported(view).filter((node) => node.report.value.self.role === 'primary');
}

/** Replicas of a primary, reporting or not. */
export function replicasOf(view: ClusterView, id: NodeId): readonly NodeView[] {
  return view.nodes.filter((node) => primaryIdOf(node) === id);
}

/** The same for all primaries at once. */
export function replicasByPrimary(view: ClusterView): ReadonlyMap<NodeId, readonly NodeView[]> {
  const replicas = new Map<NodeId, NodeView[]>();
  for (const node of view.nodes) {
    const id = primaryIdOf(node);
    if (id === undefined) continue;
    const known = replicas.get(id);
    if (known) known.push(node);
    else replicas.set(id, [node]);
  }
  return replicas;
}

/** The slots a reporting primary says it owns; nothing for replicas and for nodes that were not read. */
export function ownSlots(node: NodeView): SlotRanges {
  if (!node.report.known) return [];
  const { self } = node.report.value;
  return self.role === 'primary' ? self.slots : [];
}

/** The slots that at least one other node says this node owns: all we have of a node that cannot be read. */
export function heardSlots(node: NodeView): SlotRanges {
  return unionSlots(...node.heard.map(({ line }) => line.slots));
}

/** Own slots where the node reports, heard ones where it does not. For counting and showing, never for destroying. */
export function likelySlots(node: NodeView): SlotRanges {
  return node.report.known ? ownSlots(node) : heardSlots(node);
}

/** For each slot the primaries that claim it in their own reports, in the order of the view. */
export function ownersBySlot(view: ClusterView): readonly (readonly NodeId[])[] {
  // Lists are shared between slots: thousands of slots have the same owners.
  const owners = new Array<readonly NodeId[]>(SLOT_COUNT).fill([]);
  for (const node of reportedPrimaries(view)) {
    const alone = [node.id];
    for (const [first, last] of node.report.value.self.slots) {
      for (let slot = first; slot <= last; slot++) {
        const others = owners[slot] as readonly NodeId[];
        owners[slot] = others.length === 0 ? alone : [...others, node.id];
      }
    }
  }
  return owners;
}

/** Does `by` have `about` in its node table, out of handshake? False also when `by` was not read. */
export function knows(view: ClusterView, by: NodeId, about: NodeId): boolean {
  if (by === about) return true;
  const node = nodeOf(view, by);
  if (!node || !isReported(node)) return false;
  return node.report.value.others.some((line) => line.id === about && !isHandshake(line));
}

export interface Quorum {
  /** Primaries with slots: what a majority is counted from. The highest number that anybody counts. */
  readonly size: number;
  /** Of those, the ones that we could read. */
  readonly reachable: number;
  readonly has: boolean;
}

/**
 * Whether a majority of the voters is there. The size is the highest that anybody counts: a node that lost sight of
 * others must not make the majority look smaller than it is.
 */
export function quorum(view: ClusterView): Quorum {
  const voters = primaries(view).filter((node) => likelySlots(node).length > 0);
  const size = Math.max(voters.length, ...reported(view).map((node) => node.report.value.info.size));
  const reachable = voters.filter(isReported).length;
  return { size, reachable, has: size > 0 && reachable > size / 2 };
}

/**
 * Groups of nodes that know each other, directly or through others, in one direction at least: one group for a
 * cluster, several for nodes that were never joined or are split. Biggest first, then by first id; ids sorted.
 */
export function components(view: ClusterView): readonly (readonly NodeId[])[] {
  const leader = new Map<NodeId, NodeId>(members(view).map((node) => [node.id, node.id]));
  const find = (id: NodeId): NodeId => {
    let root = id;
    for (let next = leader.get(root); next !== undefined && next !== root; next = leader.get(root)) root = next;
    leader.set(id, root);
    return root;
  };
  let apart = leader.size;
  for (const node of reported(view)) {
    // As a rule the first table joins all, and the other million lines need not be looked at.
    if (apart === 1) break;
    const own = find(node.id);
    for (const line of node.report.value.others) {
      if (!leader.has(line.id) || isHandshake(line)) continue;
      const other = find(line.id);
      if (other === own) continue;
      leader.set(other, own);
      apart--;
    }
  }
  const groups = new Map<NodeId, NodeId[]>();
  for (const id of [...leader.keys()].sort()) {
    const root = find(id);
    const group = groups.get(root);
    if (group) group.push(id);
    else groups.set(root, [id]);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length || compareText(a[0] ?? '', b[0] ?? ''));
}

/**
 * Nodes that belong to no cluster: they know nobody, nobody knows them, and they own no slot. A new node that was asked
 * beside the cluster is one; so is a node that was taken out and reset. They are not members and no split.
 */
export function loners(view: ClusterView): readonly ReportedNode[] {
  return reported(view).filter((node) => {
    const { self, others } = node.report.value;
    return others.every(isHandshake) && node.heard.length === 0 && self.slots.length === 0 && self.role === 'primary';
  });
}

/** The groups that are clusters: all but single nodes that belong to none. More than one: a split, or several clusters. */
export function clusters(view: ClusterView): readonly (readonly NodeId[])[] {
  const lonely = new Set(loners(view).map((node) => node.id));
  return components(view).filter((group) => group.some((id) => !lonely.has(id)));
}

/** The same view with only these nodes, and only what they say. */
export function restrictTo(view: ClusterView, ids: readonly NodeId[]): ClusterView {
  const kept = new Set(ids);
  if (view.nodes.every((node) => kept.has(node.id))) return view;
  return {
    ...view,
    nodes: view.nodes
      .filter((node) => kept.has(node.id))
      .map((node) => ({ ...node, heard: heardFrom(node.heard, (by) => kept.has(by)) })),
  };
}

/** The view as it is without one node: neither it nor what it says counts. */
export function withoutNode(view: ClusterView, id: NodeId): ClusterView {
  return {
    ...view,
    nodes: view.nodes
      .filter((node) => node.id !== id)
      .map((node) => ({ ...node, heard: heardFrom(node.heard, (by) => by !== id) })),
  };
}

/** Of what is heard, what these say. */
function heardFrom(heard: readonly Heard[], counts: (by: NodeId) => boolean): readonly Heard[] {
  return heard
    .map(({ line, by }) => ({ line, by: by.filter(counts) }))
    .filter(({ by }) => by.length > 0)
    .sort((a, b) => compareText(a.by[0] ?? '', b.by[0] ?? ''));
}

/** All who say one of these lines, sorted. */
export function whoSay(heard: readonly Heard[]): readonly NodeId[] {
  const [first, ...more] = heard;
  return more.length === 0 ? (first?.by ?? []) : heard.flatMap(({ by }) => by).sort(compareText);
}

/** Who of the others gives a node this flag. A node never flags itself. */
export function flaggedBy(node: NodeView, flag: string): readonly NodeId[] {
  return whoSay(node.heard.filter(({ line }) => line.flags.includes(flag)));
}

/** Sum over all databases; undefined when the node was not read. */
export function keyCount(node: NodeView): number | undefined {
  if (!node.report.known) return undefined;
  return Object.values(node.report.value.keyspace).reduce((sum, keys) => sum + keys, 0);
}

export const SHORT_ID = 8;

export function shortId(id: NodeId): string {
  return id.slice(0, SHORT_ID);
}

/** A node as messages name it: short id and address. */
export function nodeName(view: ClusterView, id: NodeId): string {
  const node = nodeOf(view, id);
  return node ? refName(refOf(node)) : shortId(id);
}

export function refName(ref: NodeRef): string {
  return `${shortId(ref.id)} (${formatEndpoint(ref.endpoint)})`;
}

/** Names of several nodes for a message, the first few of many. */
export function nodeNames(view: ClusterView, ids: readonly NodeId[], most = 5): string {
  const shown = ids.slice(0, most).map((id) => nodeName(view, id));
  return ids.length > most ? `${shown.join(', ')} and ${ids.length - most} more` : shown.join(', ');
}

/** Order by code units: the same everywhere, unlike a locale's. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
