/** What changed between two looks at a cluster, a line each. */
import type { ClusterPicture, NodePicture } from './picture.ts';

export interface Look {
  readonly picture: ClusterPicture;
  /** As lines. */
  readonly findings: readonly string[];
}

interface Known extends NodePicture {
  readonly slots: string;
  readonly primary: string;
}

function nodesOf(picture: ClusterPicture): ReadonlyMap<string, Known> {
  const nodes = new Map<string, Known>();
  for (const { primary, replicas, slots } of picture.shards) {
    nodes.set(primary.id, { ...primary, slots, primary: '' });
    for (const replica of replicas) nodes.set(replica.id, { ...replica, slots: '', primary: primary.address });
  }
  for (const node of picture.others) nodes.set(node.id, { ...node, slots: '', primary: '' });
  return nodes;
}

export function changesBetween(before: Look, now: Look): readonly string[] {
  const old = nodesOf(before.picture);
  const young = nodesOf(now.picture);
  const lines: string[] = [];
  if (before.picture.state !== now.picture.state)
    lines.push(`cluster_state ${before.picture.state} → ${now.picture.state}`);
  for (const [id, node] of young) {
    const was = old.get(id);
    const name = `${node.address} (${id.slice(0, 8)})`;
    if (!was) lines.push(`${name} is new: ${node.role}, ${node.state}`);
    else lines.push(...nodeChanges(name, was, node));
  }
  for (const [id, node] of old) if (!young.has(id)) lines.push(`${node.address} (${id.slice(0, 8)}) is gone`);
  for (const finding of now.findings) if (!before.findings.includes(finding)) lines.push(`found: ${finding.trim()}`);
  for (const finding of before.findings) if (!now.findings.includes(finding)) lines.push(`over: ${finding.trim()}`);
  return lines;
}

function nodeChanges(name: string, was: Known, node: Known): readonly string[] {
  const lines: string[] = [];
  const compare = (what: string, a: string, b: string) => {
    if (a !== b) lines.push(`${name} ${what} ${a || 'none'} → ${b || 'none'}`);
  };
  compare('address', was.address, node.address);
  compare('role', was.role, node.role);
  compare('state', was.state, node.state);
  if (node.role === 'primary' && was.role === 'primary') compare('slots', was.slots, node.slots);
  if (node.role === 'replica' && was.role === 'replica') compare('replicates', was.primary, node.primary);
  return lines;
}
