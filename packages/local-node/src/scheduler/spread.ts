/** Topology spread: the numbers of matching pods in any two domains may not differ by more than so much. */
import type { Pod, TopologySpread } from '../kinds/pod.ts';
import { selects } from '../kinds/selector.ts';
import type { NodeView } from './cluster.ts';
import { selectsNode } from './node-affinity.ts';
import { domainOf } from './pod-affinity.ts';
import { untolerated } from './taints.ts';

interface Constraint extends TopologySpread {
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: string;
  readonly nodeTaintsPolicy?: string;
  readonly matchLabelKeys?: readonly string[];
}

export type SpreadProblem =
  | "node(s) didn't match pod topology spread constraints"
  | "node(s) didn't match pod topology spread constraints (missing required label)";

export function spreadProblem(pod: Pod, on: NodeView, views: readonly NodeView[]): SpreadProblem | undefined {
  const hard = constraintsOf(pod, 'DoNotSchedule');
  for (const constraint of hard) {
    const domain = domainOf(constraint.topologyKey, on);
    if (domain === undefined) return "node(s) didn't match pod topology spread constraints (missing required label)";
    const counts = countsOf(constraint, hard, pod, views);
    const least = counts.size < (constraint.minDomains ?? 1) ? 0 : Math.min(...counts.values());
    const self = matches(constraint, pod, pod) ? 1 : 0;
    const skew = (counts.get(domain) ?? 0) + self - (counts.size === 0 ? 0 : least);
    if (skew > constraint.maxSkew) return "node(s) didn't match pod topology spread constraints";
  }
  return undefined;
}

/** For constraints that are only wishes: how many like it are in the domains of the node; fewer are better. */
export function spreadLoad(pod: Pod, on: NodeView, views: readonly NodeView[]): number {
  const soft = constraintsOf(pod, 'ScheduleAnyway');
  return soft.reduce((all, constraint) => {
    const counts = countsOf(constraint, soft, pod, views);
    const domain = domainOf(constraint.topologyKey, on);
    // Without the label a node is in no domain, which is the last choice.
    const count = domain === undefined ? 1 + Math.max(0, ...counts.values()) : (counts.get(domain) ?? 0);
    return all + count / constraint.maxSkew;
  }, 0);
}

function constraintsOf({ spec }: Pod, when: string): readonly Constraint[] {
  return (spec?.topologySpreadConstraints ?? []).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when);
}

/** Only nodes that the pod could be on at all make a domain, and only if they have the labels of all constraints. */
function countsOf(
  constraint: Constraint,
  all: readonly Constraint[],
  pod: Pod,
  views: readonly NodeView[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const view of views) {
    if (!all.every(({ topologyKey }) => domainOf(topologyKey, view) !== undefined)) continue;
    if (!isCounted(constraint, pod, view)) continue;
    const domain = domainOf(constraint.topologyKey, view) ?? '';
    const found = view.pods.filter((other) => other.metadata.deletionTimestamp === undefined);
    const count = found.filter((other) => matches(constraint, pod, other)).length;
    counts.set(domain, (counts.get(domain) ?? 0) + count);
  }
  return counts;
}

function isCounted({ nodeAffinityPolicy, nodeTaintsPolicy }: Constraint, pod: Pod, { node }: NodeView): boolean {
  if (nodeAffinityPolicy !== 'Ignore' && !selectsNode(pod, node)) return false;
  return nodeTaintsPolicy !== 'Honor' || untolerated(pod, node, ['NoSchedule', 'NoExecute']).length === 0;
}

function matches({ labelSelector, matchLabelKeys = [] }: Constraint, pod: Pod, other: Pod): boolean {
  if (other.metadata.namespace !== pod.metadata.namespace) return false;
  const own = pod.metadata.labels;
  const { labels } = other.metadata;
  return (
    selects(labelSelector, labels) &&
    matchLabelKeys.every((key) => own?.[key] === undefined || labels?.[key] === own[key])
  );
}
