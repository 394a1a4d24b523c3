/**
 * Who is primary and who replicates whom, spread over hosts, zones or whatever the annotations say. Deterministic.
 *
 * 1. Shards. Nodes are sorted by domain and dealt to the shards in turn, like cards: then every domain is cut over as
 *    many shards as it can be, for every key at once when domains lie inside each other (hosts in zones).
 * 2. Primaries. Which node of each shard is its primary is a minimum cost flow: shard → node → host → zone → sink,
 *    where the n-th primary in a domain costs what it adds to the score. Exact for domains that lie inside each other.
 * 3. Swaps of two nodes while one helps: for domains that cross each other (zone and power feed), where 1 and 2 only
 *    come close.
 * placement.test.ts compares with every arrangement there is.
 */
import type { NodeId } from '../api/view.ts';
import { type Cost, FlowNetwork } from './placement-flow.ts';
import {
  type Domains,
  domainScore,
  encodeDomains,
  type Placeable,
  type Placed,
  primariesScore,
  shardScore,
} from './placement-score.ts';

interface Arrangement {
  /** Numbers of nodes. */
  readonly shards: number[][];
  /** The primary of each shard. */
  readonly primaries: number[];
}

/** All nodes with their roles, in the order given; with `count` primaries, replicas as even as possible. */
export function placeNodes(nodes: readonly Placeable[], count: number, spreadBy: readonly string[]): readonly Placed[] {
  const encoded = encodeDomains(nodes, spreadBy);
  const shards = deal(encoded, nodes.length, count);
  let arrangement: Arrangement = { shards, primaries: choosePrimaries(encoded, shards, (node) => node) };
  improve(encoded, arrangement);
  arrangement = explore(encoded, arrangement);
  const placed = new Array<Placed>(nodes.length);
  for (const [index, shard] of arrangement.shards.entries()) {
    const primary = arrangement.primaries[index] as number;
    const primaryId = (nodes[primary] as Placeable).id;
    for (const node of shard) {
      const { id, annotations } = nodes[node] as Placeable;
      placed[node] =
        node === primary ? { id, annotations, role: 'primary' } : { id, annotations, role: 'replica', primaryId };
    }
  }
  return placed;
}

/**
 * The best primaries for shards whose members stay as they are: what graceful failovers can reach. Of equally good
 * choices the one that changes fewest of `current`. In the order of the shards.
 */
export function bestPrimaries(
  shards: readonly (readonly Placeable[])[],
  current: ReadonlySet<NodeId>,
  spreadBy: readonly string[],
): readonly NodeId[] {
  const nodes = shards.flat();
  const encoded = encodeDomains(nodes, spreadBy);
  let next = 0;
  const numbered = shards.map((shard) => shard.map(() => next++));
  const chosen = choosePrimaries(encoded, numbered, (node) => (current.has((nodes[node] as Placeable).id) ? 0 : 1));
  return chosen.map((node) => (nodes[node] as Placeable).id);
}

/** Keys from the one with fewest domains to the one with most: zones before hosts, whatever their weights. */
function coarsestFirst(encoded: Domains): readonly number[] {
  return encoded.keys
    .map((_, k) => k)
    .sort((a, b) => (encoded.counts[a] as number) - (encoded.counts[b] as number) || a - b);
}

function deal(encoded: Domains, nodes: number, count: number): number[][] {
  const keys = coarsestFirst(encoded);
  const sizes = encoded.domains.map((domain, k) => {
    const size = new Array<number>(encoded.counts[k] as number).fill(0);
    for (const where of domain) size[where] = (size[where] as number) + 1;
    return size;
  });
  const order = Array.from({ length: nodes }, (_, node) => node);
  // Big domains first: then the small ones, dealt last, land in different shards and can each have a primary.
  // Domains are numbered by first appearance, so the order given by the person decides where nothing else does.
  order.sort((a, b) => {
    for (const k of keys) {
      const domain = encoded.domains[k] as readonly number[];
      const [whereA, whereB] = [domain[a] as number, domain[b] as number];
      const size = sizes[k] as readonly number[];
      const difference = (size[whereB] as number) - (size[whereA] as number) || whereA - whereB;
      if (difference !== 0) return difference;
    }
    return a - b;
  });
  const shards: number[][] = Array.from({ length: count }, () => []);
  for (const [position, node] of order.entries()) shards[position % count]?.push(node);
  return shards;
}

function choosePrimaries(
  encoded: Domains,
  shards: readonly (readonly number[])[],
  tieOf: (node: number) => number,
): number[] {
  const network = new FlowNetwork();
  const source = network.addVertex();
  const sink = network.addVertex();
  const keys = coarsestFirst(encoded);
  const vertices = new Map<string, number>();

  /** The vertex of a node's domain under the finest key, chained to the coarser ones; each step is one primary more there. */
  const domainVertex = (node: number, depth: number): number => {
    if (depth < 0) return sink;
    const path = keys.slice(0, depth + 1).map((k) => (encoded.domains[k] as readonly number[])[node]);
    const name = path.join('/');
    const known = vertices.get(name);
    if (known !== undefined) return known;
    const vertex = network.addVertex();
    vertices.set(name, vertex);
    const above = domainVertex(node, depth - 1);
    const k = keys[depth] as number;
    const within = shards.filter((shard) =>
      shard.some((other) =>
        path.every((value, d) => (encoded.domains[keys[d] as number] as readonly number[])[other] === value),
      ),
    ).length;
    for (let held = 0; held < within; held++) {
      const step = domainScore(encoded, k, held + 1, shards.length) - domainScore(encoded, k, held, shards.length);
      network.addArc(vertex, above, 1, [step, 0]);
    }
    return vertex;
  };

  const choices: { readonly shard: number; readonly node: number; readonly arc: number }[] = [];
  for (const [index, shard] of shards.entries()) {
    const from = network.addVertex();
    network.addArc(source, from, 1, [0, 0]);
    for (const node of shard) {
      const cost: Cost = [shardScore(encoded, shard, node), tieOf(node)];
      const arc = network.addArc(from, domainVertex(node, keys.length - 1), 1, cost);
      choices.push({ shard: index, node, arc });
    }
  }
  network.send(source, sink, shards.length);
  const primaries = new Array<number>(shards.length);
  for (const { shard, node, arc } of choices) if (network.used(arc)) primaries[shard] = node;
  return primaries;
}

/** Swaps two nodes of different shards, or the primary within a shard, as long as the score falls. */
function improve(encoded: Domains, arrangement: Arrangement): void {
  const { shards, primaries } = arrangement;
  const costs = shards.map((shard, s) => shardScore(encoded, shard, primaries[s] as number));
  let spread = primariesScore(encoded, primaries);

  const tryChange = (s: number, t: number, change: () => void, undo: () => void): boolean => {
    const [primaryS, primaryT] = [primaries[s], primaries[t]];
    change();
    const newS = shardScore(encoded, shards[s] as number[], primaries[s] as number);
    const newT = s === t ? 0 : shardScore(encoded, shards[t] as number[], primaries[t] as number);
    const samePrimaries = primaries[s] === primaryS && primaries[t] === primaryT;
    const newSpread = samePrimaries ? spread : primariesScore(encoded, primaries);
    const before = (costs[s] as number) + (s === t ? 0 : (costs[t] as number)) + spread;
    if (newS + newT + newSpread >= before) {
      undo();
      return false;
    }
    costs[s] = newS;
    if (s !== t) costs[t] = newT;
    spread = newSpread;
    return true;
  };
  const swap = (s: number, i: number, t: number, j: number) => {
    const from = shards[s] as number[];
    const to = shards[t] as number[];
    const [a, b] = [from[i] as number, to[j] as number];
    from[i] = b;
    to[j] = a;
    if (primaries[s] === a) primaries[s] = b;
    if (primaries[t] === b) primaries[t] = a;
  };
  const promote = (s: number, node: number) => {
    primaries[s] = node;
  };
  /** A replica of the bigger shard goes to the smaller one; sizes still differ by one. */
  const move = (s: number, t: number, node: number) => {
    const from = shards[s] as number[];
    from.splice(from.indexOf(node), 1);
    (shards[t] as number[]).push(node);
  };

  const total = () => costs.reduce((sum, cost) => sum + cost, 0) + spread;
  for (let changed = true; changed && total() > 0; ) {
    changed = false;
    for (let s = 0; s < shards.length; s++) {
      for (const node of shards[s] as number[]) {
        const primary = primaries[s] as number;
        if (
          node !== primary &&
          tryChange(
            s,
            s,
            () => promote(s, node),
            () => promote(s, primary),
          )
        )
          changed = true;
      }
      for (let t = s + 1; t < shards.length; t++) {
        for (let i = 0; i < (shards[s] as number[]).length; i++) {
          for (let j = 0; j < (shards[t] as number[]).length; j++) {
            if (alike(encoded, (shards[s] as number[])[i] as number, (shards[t] as number[])[j] as number)) continue;
            const exchange = () => swap(s, i, t, j);
            if (tryChange(s, t, exchange, exchange)) changed = true;
          }
        }
        const [big, small] = (shards[s] as number[]).length > (shards[t] as number[]).length ? [s, t] : [t, s];
        for (const node of [...(shards[big] as number[])]) {
          if ((shards[big] as number[]).length <= (shards[small] as number[]).length) break;
          if (node === primaries[big]) continue;
          if (
            tryChange(
              big,
              small,
              () => move(big, small, node),
              () => move(small, big, node),
            )
          )
            changed = true;
        }
      }
    }
  }
}

/** Two nodes in the same domains under every key: nothing is won by exchanging them. */
function alike(encoded: Domains, a: number, b: number): boolean {
  return encoded.domains.every((domain) => domain[a] === domain[b]);
}

function totalScore(encoded: Domains, { shards, primaries }: Arrangement): number {
  const inShards = shards.reduce((sum, shard, s) => sum + shardScore(encoded, shard, primaries[s] as number), 0);
  return inShards + primariesScore(encoded, primaries);
}

/** Bounds the search below: about this many visits of a node by the flow. */
const EXPLORATION = 20_000;

/**
 * The way out of a place where no single swap helps: every swap of two nodes together with the best primaries for it.
 * Costs a flow each, so it is bounded; small clusters, where a person sees each flaw, are searched through.
 */
function explore(encoded: Domains, start: Arrangement): Arrangement {
  const nodes = start.shards.reduce((sum, shard) => sum + shard.length, 0);
  let best = start;
  let bestScore = totalScore(encoded, start);
  let left = Math.floor(EXPLORATION / (nodes * nodes));
  for (let found = true; found && bestScore > 0; ) {
    found = false;
    for (const shards of neighbours(encoded, best.shards)) {
      if (left-- <= 0) return best;
      const candidate = { shards, primaries: choosePrimaries(encoded, shards, (node) => node) };
      improve(encoded, candidate);
      const score = totalScore(encoded, candidate);
      if (score >= bestScore) continue;
      best = candidate;
      bestScore = score;
      found = true;
      break;
    }
  }
  return best;
}

/** Every arrangement that differs by one swap between two shards, or by one move from a bigger to a smaller one. */
function* neighbours(encoded: Domains, shards: readonly (readonly number[])[]): Generator<number[][]> {
  for (let s = 0; s < shards.length; s++) {
    for (let t = 0; t < shards.length; t++) {
      const [from, to] = [shards[s] as readonly number[], shards[t] as readonly number[]];
      if (from.length > to.length) {
        for (const node of from) {
          yield shards.map((shard, i) =>
            i === s ? shard.filter((n) => n !== node) : i === t ? [...shard, node] : [...shard],
          );
        }
      }
      if (t <= s) continue;
      for (const a of from) {
        for (const b of to) {
          if (alike(encoded, a, b)) continue;
          yield shards.map((shard) => shard.map((node) => (node === a ? b : node === b ? a : node)));
        }
      }
    }
  }
}
