/**
 * CLUSTER SHARDS is what clients read to learn which replicas belong to which slots. A server groups it by shard ids,
 * which a node can carry wrongly after it changed its primary: then clients are sent elsewhere than CLUSTER NODES says.
 * Compared at once with the node table read beside it, because at 1,000 nodes each reply is some 14,000 elements.
 */
import type { Reply } from '../api/port.ts';
import { countSlots, minusSlots, type SlotRange, type SlotRanges, unionSlots } from '../api/slots.ts';
import type { NodeId, NodeLine } from '../api/view.ts';
import { fieldsOf } from './jobs.ts';

interface Shard {
  readonly ids: ReadonlySet<NodeId>;
  readonly slots: SlotRanges;
}

function shardOf(reply: Reply): Shard {
  const fields = fieldsOf(reply);
  const bounds = (fields.get('slots') ?? []) as readonly Reply[];
  const ranges: SlotRange[] = [];
  for (let at = 0; at + 1 < bounds.length; at += 2) ranges.push([Number(bounds[at]), Number(bounds[at + 1])]);
  const nodes = (fields.get('nodes') ?? []) as readonly Reply[];
  return { ids: new Set(nodes.map((node) => String(fieldsOf(node).get('id')))), slots: unionSlots(ranges) };
}

/** Gone or not quite there: the two commands need not agree on such nodes. */
function isPassing(line: NodeLine): boolean {
  return line.flags.some((flag) => flag.startsWith('fail') || flag === 'handshake' || flag === 'noaddr');
}

/** Nodes that CLUSTER SHARDS puts into another shard, or gives other slots, than the lines of the same server do. */
export function misplacedInShards(reply: Reply, lines: readonly NodeLine[]): readonly NodeId[] {
  const shards = (Array.isArray(reply) ? (reply as readonly Reply[]) : []).map(shardOf);
  const present = new Map(lines.filter((line) => !isPassing(line)).map((line) => [line.id, line]));
  const misplaced: NodeId[] = [];
  for (const line of present.values()) {
    const shard = shards.find(({ ids }) => ids.has(line.id));
    if (line.role === 'replica') {
      const primary = line.primaryId === undefined ? undefined : present.get(line.primaryId);
      if (primary && !shard?.ids.has(primary.id)) misplaced.push(line.id);
    } else if (countSlots(minusSlots(line.slots, shard?.slots ?? [])) > 0) {
      misplaced.push(line.id);
    }
  }
  return misplaced.sort();
}
