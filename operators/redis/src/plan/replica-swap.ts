/**
 * Two replicas that change places, so that shards can have a primary with which no replica shares a host or a zone: what failovers alone
 * cannot reach. A shard is judged by the best primary that it could have; failovers come after it. Each pair makes the sum of that
 * better, so that this ends.
 */
import type { NodeId } from '../api/view.ts';
import { encodeDomains, type Placed, SHARED, shardScore, shardsOf } from './placement-score.ts';

export interface ReplicaMove {
  readonly replica: NodeId;
  readonly from: NodeId;
  readonly to: NodeId;
}

export interface SwapRules {
  /** Whether a replica can be spared where it is. */
  mayMove(id: NodeId): boolean;
  /** Whether a primary is to stay one. */
  isKept(id: NodeId): boolean;
}

/** The best pair for the first shard that has one, in the order of its moves. None: no pair lets fewer replicas share something. */
export function replicaSwap(
  members: readonly Placed[],
  spreadBy: readonly string[],
  { mayMove, isKept }: SwapRules,
): readonly ReplicaMove[] {
  const encoded = encodeDomains(members, spreadBy);
  const idOf = (node: number) => (members[node] as Placed).id;
  const shards = shardsOf(members).map(({ primary, nodes }) => {
    const replicas = nodes.filter((node) => node !== primary && mayMove(idOf(node)));
    return { primary, nodes, replicas, canChange: !isKept(idOf(primary)) };
  });
  type Shard = (typeof shards)[number];
  /** Of the best primary. */
  const scoreOf = ({ primary, canChange }: Shard, nodes: readonly number[]) =>
    Math.min(...(canChange ? nodes : [primary]).map((one) => shardScore(encoded, nodes, one)));
  const without = ({ nodes }: Shard, leaves: number, comes: number) => [
    ...nodes.filter((node) => node !== leaves),
    comes,
  ];
  for (const shard of shards) {
    const own = scoreOf(shard, shard.nodes);
    if (own < SHARED) continue;
    let best = { gain: 0, moves: [] as readonly ReplicaMove[] };
    for (const other of shards) {
      if (other === shard) continue;
      const before = own + scoreOf(other, other.nodes);
      for (const one of shard.replicas) {
        for (const two of other.replicas) {
          const gain = before - scoreOf(shard, without(shard, one, two)) - scoreOf(other, without(other, two, one));
          if (gain < SHARED || gain <= best.gain) continue;
          const [here, there] = [idOf(shard.primary), idOf(other.primary)];
          best = {
            gain,
            moves: [
              { replica: idOf(two), from: there, to: here },
              { replica: idOf(one), from: here, to: there },
            ],
          };
        }
      }
    }
    if (best.gain > 0) return best.moves;
  }
  return [];
}
