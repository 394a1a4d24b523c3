/** What scheduling decides on: one look at nodes, pods and claims, as plain data. */
import type { Pod } from '../kinds/pod.ts';
import type { Labels } from '../kinds/selector.ts';
import type { Volume, VolumeClaim } from '../kinds/volumeclaim.ts';
import type { Node } from '../kinds/node.ts';

export interface ClusterView {
  readonly nodes: readonly Node[];
  /** All pods that occupy a node: bound and not ended. */
  readonly placed: readonly Pod[];
  readonly namespaces?: ReadonlyMap<string, Labels>;
  /** The claims of the pod in question by name; one that is not there is not in it. */
  readonly claims: ReadonlyMap<string, ClaimView>;
}

export interface ClaimView {
  readonly claim: VolumeClaim;
  readonly volume: Volume | undefined;
  /** Its class waits for the first consumer. */
  readonly waits: boolean;
}

/** What a node has on it, computed once for all pods that look at it in one turn. */
export interface NodeView {
  readonly node: Node;
  readonly pods: readonly Pod[];
}

export function nodeName({ metadata }: Node): string {
  return metadata.name ?? '';
}

export function viewsOf({ nodes, placed }: Pick<ClusterView, 'nodes' | 'placed'>): readonly NodeView[] {
  const byNode = Map.groupBy(placed, (pod) => pod.spec?.nodeName ?? '');
  return nodes.map((node) => ({ node, pods: byNode.get(nodeName(node)) ?? [] }));
}

/** A pod that ended gives its place back. */
export function isPlaced({ spec, status }: Pick<Pod, 'spec' | 'status'>): boolean {
  return (spec?.nodeName ?? '') !== '' && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}
