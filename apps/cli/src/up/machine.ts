/** Names and places of the nodes that one machine stands for. */
import type { NodeFacts, SystemFacts } from '@reeve/local-node';

export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: SystemFacts;
}

export interface NodesWanted {
  readonly nodes: number;
  /** In turn; none: each node is a zone of its own. */
  readonly zones: readonly string[];
  /** Absolute paths of folders that pods may mount from. */
  readonly hostPaths: readonly string[];
}

const ZONE = 'topology.kubernetes.io/zone';
const PODS = '110';

type Server = NonNullable<NodeFacts['apiServer']>;

export function nodeFacts(machine: Machine, wanted: NodesWanted, apiServer: Server): readonly NodeFacts[] {
  return Array.from({ length: wanted.nodes }, (_, index) => factsOf(nodeNameOf(index), machine, wanted, apiServer));
}

/** Of a node that there was when more were wanted. */
export function retiredFacts(name: string, machine: Machine, wanted: NodesWanted, apiServer: Server): NodeFacts {
  return { ...factsOf(name, machine, wanted, apiServer), isRetired: true };
}

const nodeNameOf = (index: number): string => `node-${index + 1}`;

/** How many nodes there must be for this one to be among them. Undefined: it never is. */
export function nodesWith(name: string): number | undefined {
  const count = Number(/^node-([1-9]\d*)$/.exec(name)?.[1]);
  return Number.isNaN(count) ? undefined : count;
}

/** Each has all of the machine: they are places for the scheduler, not walls. */
function factsOf(
  name: string,
  { cores, memoryBytes, system }: Machine,
  { zones, hostPaths }: NodesWanted,
  apiServer: Server,
): NodeFacts {
  const capacity = { cpu: String(cores), memory: `${Math.floor(memoryBytes / 1024)}Ki`, pods: PODS };
  const zone = zones[((nodesWith(name) ?? 1) - 1) % Math.max(1, zones.length)] ?? name;
  const labels = { [ZONE]: zone };
  return { name, labels, taints: [], capacity, address: '127.0.0.1', apiServer, hostPathRoots: hostPaths, system };
}
