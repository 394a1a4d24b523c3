/** The stage of one run: a cluster of three with a fourth, empty node, loaded with a dataset. */
import { type Cluster, type Endpoint, keySlot, nodeId, type Product, type Server, startCluster } from '@reeve/rig';
import { Wire } from './wire.ts';

export interface Dataset {
  readonly name: string;
  readonly keys: number;
  readonly valueBytes: number;
}

export const DATASETS: readonly Dataset[] = [
  { name: 'empty', keys: 0, valueBytes: 0 },
  { name: '250k', keys: 250_000, valueBytes: 100 },
  { name: '1M', keys: 1_000_000, valueBytes: 100 },
  { name: '50k-4KB', keys: 50_000, valueBytes: 4096 },
];

export interface Stage {
  readonly cluster: Cluster;
  readonly seed: Endpoint;
  /** Id of the empty fourth node. */
  readonly newcomer: string;
}

/** The slots of the first three nodes. */
export const THIRDS: readonly (readonly [number, number])[] = [
  [0, 5460],
  [5461, 10922],
  [10923, 16383],
];
const IN_FLIGHT = 5_000;

export async function prepare(product: Product, dataset: Dataset): Promise<Stage> {
  const cluster = await startCluster({ product, primaries: 4, slots: THIRDS, nodeTimeoutMs: 15_000 });
  const [first, , , fourth] = cluster.primaries as readonly [Server, Server, Server, Server];
  await load(cluster, dataset);
  return { cluster, seed: first.endpoint, newcomer: await nodeId(fourth) };
}

async function load(cluster: Cluster, dataset: Dataset): Promise<void> {
  const wires = cluster.primaries.slice(0, 3).map(({ endpoint }) => new Wire(endpoint.host, endpoint.port));
  const value = 'x'.repeat(dataset.valueBytes);
  for (let from = 0; from < dataset.keys; from += IN_FLIGHT) {
    const count = Math.min(IN_FLIGHT, dataset.keys - from);
    const replies = await Promise.all(
      Array.from({ length: count }, (_, index) => {
        const key = `key:${from + index}`;
        const slot = keySlot(key);
        const owner = THIRDS.findIndex(([first, last]) => slot >= first && slot <= last);
        return (wires[owner] as Wire).call(['SET', key, value]);
      }),
    );
    const refused = replies.find((reply) => reply !== 'OK');
    if (refused !== undefined) throw new Error(`loading: ${String(refused)}`);
  }
  for (const wire of wires) wire.close();
}

/** The number of slots that the fourth node has, and whether every node says the same. */
export async function slotsMoved(stage: Stage): Promise<number> {
  const counts = new Set<number>();
  for (const server of stage.cluster.servers) {
    const text = String(await server.call('CLUSTER', 'NODES'));
    const line = text.split('\n').find((candidate) => candidate.startsWith(stage.newcomer)) ?? '';
    let count = 0;
    for (const part of line.split(' ').slice(8)) {
      const [first, last = first] = part.split('-');
      count += Number(last) - Number(first) + 1;
    }
    counts.add(count);
  }
  return counts.size === 1 ? ([...counts][0] ?? 0) : -1;
}
