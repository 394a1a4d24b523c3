/**
 * How well a cluster is spread over failure domains, as one number: 0 is perfect, lower is better.
 *
 * A domain is a value of an annotation (`zone: a`, `host: 10.0.0.1`); `spreadBy` names the annotations in order of
 * weight. Four things count, each more than everything after it together:
 * 1. shared:   a replica in the domain of its primary (the domain's loss takes the data of the shard with it);
 * 2. majority: primaries beyond half of all in one domain (its loss takes the quorum with it);
 * 3. replicas: replicas of one primary that share a domain with each other;
 * 4. uneven:   primaries above or below an even share per domain.
 * Within each, a key weighs twice as much as the next one. Nodes without an annotation count as one domain: they may
 * be anywhere, so also all in the same place.
 */
import type { NodeId, Role } from '../api/view.ts';

export interface Placeable {
  readonly id: NodeId;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Placed extends Placeable {
  readonly role: Role;
  /** Of a replica. */
  readonly primaryId?: NodeId;
}

/** Nodes as numbers: `domains[k][n]` is the domain of node n under the k-th key. */
export interface Domains {
  readonly keys: readonly string[];
  readonly weights: readonly number[];
  readonly domains: readonly (readonly number[])[];
  /** How many different domains each key has. */
  readonly counts: readonly number[];
}

/** Larger than any weighted count of one kind in a cluster of a thousand nodes under three keys; four of them fit a double. */
const KIND = 10_000;
export const SHARED = KIND ** 3;
const MAJORITY = KIND ** 2;
const REPLICAS = KIND;
const UNEVEN = 1;

export function domainOf(node: Placeable, key: string): string {
  return node.annotations[key] ?? '';
}

export function encodeDomains(nodes: readonly Placeable[], spreadBy: readonly string[]): Domains {
  const keys = [...new Set(spreadBy)];
  const domains: number[][] = [];
  const counts: number[] = [];
  for (const key of keys) {
    const numbers = new Map<string, number>();
    domains.push(
      nodes.map((node) => {
        const value = domainOf(node, key);
        const number = numbers.get(value) ?? numbers.size;
        numbers.set(value, number);
        return number;
      }),
    );
    counts.push(numbers.size);
  }
  return { keys, weights: keys.map((_, k) => 2 ** (keys.length - 1 - k)), domains, counts };
}

/** What one shard adds to the score: `shared` and `replicas`. */
export function shardScore(encoded: Domains, shard: readonly number[], primary: number): number {
  let score = 0;
  for (let k = 0; k < encoded.domains.length; k++) {
    const domain = encoded.domains[k] as readonly number[];
    let shared = 0;
    let repeated = 0;
    for (let i = 0; i < shard.length; i++) {
      const node = shard[i] as number;
      if (node === primary) continue;
      const where = domain[node] as number;
      if (where === domain[primary]) shared++;
      for (let j = 0; j < i; j++) {
        const earlier = shard[j] as number;
        if (earlier !== primary && domain[earlier] === where) {
          repeated++;
          break;
        }
      }
    }
    score += (encoded.weights[k] as number) * (shared * SHARED + repeated * REPLICAS);
  }
  return score;
}

/** What `held` primaries in one domain of a key add to the score: `majority` and `uneven`. Convex in `held`. */
export function domainScore(encoded: Domains, k: number, held: number, primaries: number): number {
  const domains = encoded.counts[k] as number;
  const most = Math.ceil(primaries / domains);
  const least = Math.floor(primaries / domains);
  const majority = Math.max(0, held - Math.floor(primaries / 2));
  const uneven = Math.max(0, held - most) + Math.max(0, least - held);
  return (encoded.weights[k] as number) * (majority * MAJORITY + uneven * UNEVEN);
}

/** What the choice of primaries adds to the score, over all keys and domains. */
export function primariesScore(encoded: Domains, primaries: readonly number[]): number {
  let score = 0;
  for (let k = 0; k < encoded.domains.length; k++) {
    const held = new Array<number>(encoded.counts[k] as number).fill(0);
    for (const primary of primaries) {
      const where = (encoded.domains[k] as readonly number[])[primary] as number;
      held[where] = (held[where] as number) + 1;
    }
    for (const count of held) score += domainScore(encoded, k, count, primaries.length);
  }
  return score;
}

/** Members grouped by shard. Replicas whose primary is not among the members are left out: nothing can be said of them. */
export function shardsOf(
  members: readonly Placed[],
): readonly { readonly primary: number; readonly nodes: readonly number[] }[] {
  const shards = new Map<NodeId, { primary: number; nodes: number[] }>();
  for (const [index, member] of members.entries()) {
    if (member.role === 'primary') shards.set(member.id, { primary: index, nodes: [index] });
  }
  for (const [index, member] of members.entries()) {
    if (member.role === 'replica' && member.primaryId !== undefined) shards.get(member.primaryId)?.nodes.push(index);
  }
  return [...shards.values()];
}

/** 0 = perfect. Comparable between arrangements of the same nodes. */
export function placementScore(members: readonly Placed[], spreadBy: readonly string[]): number {
  const encoded = encodeDomains(members, spreadBy);
  const shards = shardsOf(members);
  const inShards = shards.reduce((sum, shard) => sum + shardScore(encoded, shard.nodes, shard.primary), 0);
  return (
    inShards +
    primariesScore(
      encoded,
      shards.map((shard) => shard.primary),
    )
  );
}

export interface PlacementProblem {
  readonly kind: 'shared' | 'majority' | 'replicas' | 'uneven';
  readonly key: string;
  readonly domain: string;
  /** shared: primary, then replicas; replicas: the replicas; majority, uneven: the primaries there. */
  readonly nodes: readonly NodeId[];
}

/** The same judgement in words' parts: what is wrong, by which key, where, with whom. Empty = score 0. */
export function placementProblems(
  members: readonly Placed[],
  spreadBy: readonly string[],
): readonly PlacementProblem[] {
  const problems: PlacementProblem[] = [];
  const shards = shardsOf(members).map((shard) => ({
    primary: members[shard.primary] as Placed,
    replicas: shard.nodes.filter((node) => node !== shard.primary).map((node) => members[node] as Placed),
  }));
  for (const key of new Set(spreadBy)) {
    const held = new Map<string, NodeId[]>(members.map((member) => [domainOf(member, key), []]));
    for (const { primary, replicas } of shards) {
      const where = domainOf(primary, key);
      held.get(where)?.push(primary.id);
      const byDomain = Map.groupBy(replicas, (replica) => domainOf(replica, key));
      const beside = byDomain.get(where) ?? [];
      if (beside.length > 0) {
        problems.push({ kind: 'shared', key, domain: where, nodes: [primary.id, ...beside.map((node) => node.id)] });
      }
      for (const [domain, together] of byDomain) {
        if (together.length > 1) {
          problems.push({ kind: 'replicas', key, domain, nodes: together.map((node) => node.id) });
        }
      }
    }
    const most = Math.ceil(shards.length / held.size);
    const least = Math.floor(shards.length / held.size);
    for (const [domain, nodes] of held) {
      if (nodes.length > shards.length / 2) problems.push({ kind: 'majority', key, domain, nodes });
      if (nodes.length > most || nodes.length < least) problems.push({ kind: 'uneven', key, domain, nodes });
    }
  }
  return problems;
}
