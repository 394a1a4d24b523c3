/** Names and places of the nodes that one machine stands for. */
import type { NodeFacts } from '@reeve/local-node';

export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

export interface NodesWanted {
  readonly nodes: number;
  /** In turn; none: each node is a zone of its own. */
  readonly zones: readonly string[];
}

const ZONE = 'topology.kubernetes.io/zone';
const PODS = '110';

/** Each has all of the machine: they are places for the scheduler, not walls. */
export function nodeFacts(
  { cores, memoryBytes }: Machine,
  { nodes, zones }: NodesWanted,
  apiServer: NonNullable<NodeFacts['apiServer']>,
): readonly NodeFacts[] {
  const capacity = { cpu: String(cores), memory: `${Math.floor(memoryBytes / 1024)}Ki`, pods: PODS };
  return Array.from({ length: nodes }, (_, index): NodeFacts => {
    const name = `node-${index + 1}`;
    const zone = zones[index % Math.max(1, zones.length)] ?? name;
    const labels = { [ZONE]: zone };
    return { name, labels, taints: [], capacity, address: '127.0.0.1', apiServer, hostPathRoots: [] };
  });
}
