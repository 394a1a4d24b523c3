/** On which node a pod goes, or why on none. Pure: the same cluster gives the same answer. */
import type { Pod } from '../kinds/pod.ts';
import { isBound } from '../kinds/volumeclaim.ts';
import { type ClusterView, nodeName, type NodeView, viewsOf } from './cluster.ts';
import { fits } from './fits.ts';
import { meetsTerm } from './node-affinity.ts';
import { affinityScore } from './pod-affinity.ts';
import { loadOf } from './requests.ts';
import { spreadLoad } from './spread.ts';
import { untolerated } from './taints.ts';

export type Choice =
  /** `bind` is empty, or names claims that must be bound for this node first. */
  { readonly node: string; readonly bind: readonly string[] } | { readonly unschedulable: string };

export function choose(pod: Pod, cluster: ClusterView): Choice {
  const claimProblem = problemOfClaims(pod, cluster);
  const total = cluster.nodes.length;
  if (total === 0) return { unschedulable: 'no nodes available to schedule pods' };
  if (claimProblem !== undefined) return { unschedulable: `0/${total} nodes are available: ${claimProblem}.` };
  const views = viewsOf(cluster);
  const reasons = new Map<string, number>();
  const candidates: NodeView[] = [];
  for (const view of views) {
    const problems = fits(pod, view, views, cluster);
    if (problems.length === 0) candidates.push(view);
    for (const reason of problems) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const best = bestOf(pod, candidates, views, cluster);
  if (best === undefined) return { unschedulable: unschedulableMessage(total, reasons) };
  const unbound = [...cluster.claims].filter(([, { claim }]) => !isBound(claim));
  return { node: best, bind: unbound.map(([name]) => name) };
}

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.` */
export function unschedulableMessage(total: number, reasons: ReadonlyMap<string, number>): string {
  const parts = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${total} nodes are available: ${parts.join(', ')}.`;
}

/** A claim that is not there, or that is not bound although nobody waits for this pod. */
function problemOfClaims({ spec }: Pod, { claims }: ClusterView): string | undefined {
  for (const { persistentVolumeClaim: from } of spec?.volumes ?? []) {
    if (!from) continue;
    const found = claims.get(from.claimName);
    if (!found) return `persistentvolumeclaim "${from.claimName}" not found`;
    const { claim, waits } = found;
    if (claim.metadata.deletionTimestamp !== undefined) {
      return `persistentvolumeclaim "${from.claimName}" is being deleted`;
    }
    if (claim.status?.phase === 'Lost') {
      return `persistentvolumeclaim "${from.claimName}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ''}"`;
    }
    if (!isBound(claim) && !waits) return 'pod has unbound immediate PersistentVolumeClaims';
  }
  return undefined;
}

/** Wishes first, in the order of how clearly they were said; then the least loaded; then by name, so that it can be foretold. */
function bestOf(
  pod: Pod,
  candidates: readonly NodeView[],
  views: readonly NodeView[],
  { namespaces }: ClusterView,
): string | undefined {
  const ranked = candidates.map((view) => ({
    name: nodeName(view.node),
    rank: [
      untolerated(pod, view.node, ['PreferNoSchedule']).length,
      -preference(pod, view) - affinityScore(pod, view, views, namespaces),
      spreadLoad(pod, view, views),
      loadOf(pod, view),
      view.pods.length,
    ],
  }));
  ranked.sort((a, b) => compareRanks(a.rank, b.rank) || (a.name < b.name ? -1 : 1));
  return ranked[0]?.name;
}

function preference({ spec }: Pod, { node }: NodeView): number {
  const wishes = spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return wishes.reduce((all, { weight, preference: term }) => all + (meetsTerm(term, node) ? weight : 0), 0);
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [at, value] of a.entries()) {
    const order = value - (b[at] ?? 0);
    if (order !== 0) return order;
  }
  return 0;
}
