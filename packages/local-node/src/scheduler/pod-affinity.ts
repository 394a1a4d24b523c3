/** Pods that want to be, or must not be, where others are. */
import type { Pod, PodAffinityTerm } from '../kinds/pod.ts';
import { type Labels, selects } from '../kinds/selector.ts';
import type { ClusterView, NodeView } from './cluster.ts';

type Namespaces = ClusterView['namespaces'];

interface Term extends PodAffinityTerm {
  readonly namespaceSelector?: Parameters<typeof selects>[0];
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

/** Whether `term`, of a pod in `namespace`, is about `other`. */
export function isAbout(term: Term, owner: Pod, other: Pod, namespaces: Namespaces): boolean {
  const where = other.metadata.namespace ?? '';
  const { namespaces: named = [], namespaceSelector } = term;
  const isNamed = named.includes(where) || selects(namespaceSelector, namespaces?.get(where));
  const isSame = named.length === 0 && !namespaceSelector && where === owner.metadata.namespace;
  if (!isNamed && !isSame) return false;
  const { labels } = other.metadata;
  return selects(term.labelSelector, labels) && byKeys(term, owner.metadata.labels, labels);
}

function byKeys({ matchLabelKeys = [], mismatchLabelKeys = [] }: Term, own: Labels, others: Labels): boolean {
  const isThere = (key: string) => own?.[key] !== undefined;
  return (
    matchLabelKeys.filter(isThere).every((key) => others?.[key] === own?.[key]) &&
    mismatchLabelKeys.filter(isThere).every((key) => others?.[key] !== own?.[key])
  );
}

export type AffinityProblem =
  | "node(s) didn't match pod affinity rules"
  | "node(s) didn't match pod anti-affinity rules"
  | "node(s) didn't satisfy existing pods anti-affinity rules";

/** Terms against all pods of the topology domain that the node is in. */
export function affinityProblem(
  pod: Pod,
  on: NodeView,
  views: readonly NodeView[],
  namespaces?: Namespaces,
): AffinityProblem | undefined {
  const wanted = pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const isMet = wanted.length === 0 || meetsAffinity(pod, wanted, on, views, namespaces);
  if (!isMet) return "node(s) didn't match pod affinity rules";
  const shunned = pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  for (const term of shunned) {
    const others = podsInDomain(term.topologyKey, on, views);
    if (others.some((other) => isAbout(term, pod, other, namespaces))) {
      return "node(s) didn't match pod anti-affinity rules";
    }
  }
  for (const { pods } of views) {
    for (const other of pods) {
      if (shuns(other, pod, on, views, namespaces)) return "node(s) didn't satisfy existing pods anti-affinity rules";
    }
  }
  return undefined;
}

/** A pod may begin a group: if nobody anywhere matches and it matches itself, all its terms are met. */
function meetsAffinity(
  pod: Pod,
  terms: readonly PodAffinityTerm[],
  on: NodeView,
  views: readonly NodeView[],
  namespaces: Namespaces,
): boolean {
  if (terms.some(({ topologyKey }) => domainOf(topologyKey, on) === undefined)) return false;
  // Kubernetes counts a pod for affinity only if it matches all terms.
  const isCompanion = (other: Pod) => terms.every((term) => isAbout(term, pod, other, namespaces));
  const isMet = terms.every(({ topologyKey }) => podsInDomain(topologyKey, on, views).some(isCompanion));
  if (isMet) return true;
  return isCompanion(pod) && !views.some(({ pods }) => pods.some(isCompanion));
}

/** `other` is placed and keeps `pod` away from its domains. */
function shuns(other: Pod, pod: Pod, on: NodeView, views: readonly NodeView[], namespaces: Namespaces): boolean {
  const terms = other.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.some(({ topologyKey, ...rest }) => {
    const domain = domainOf(topologyKey, on);
    if (domain === undefined || !isAbout({ topologyKey, ...rest }, other, pod, namespaces)) return false;
    const home = views.find(({ node }) => node.metadata.name === other.spec?.nodeName);
    return home !== undefined && domainOf(topologyKey, home) === domain;
  });
}

/** Preferred terms of the pod: the sum of weights, negative for those to keep away from. */
export function affinityScore(pod: Pod, on: NodeView, views: readonly NodeView[], namespaces?: Namespaces): number {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const sum = (terms: NonNullable<typeof podAffinity>['preferredDuringSchedulingIgnoredDuringExecution']) =>
    (terms ?? []).reduce((all, { weight, podAffinityTerm: term }) => {
      const near = podsInDomain(term.topologyKey, on, views);
      return all + weight * near.filter((other) => isAbout(term, pod, other, namespaces)).length;
    }, 0);
  return (
    sum(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution) -
    sum(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution)
  );
}

export function domainOf(topologyKey: string, { node }: NodeView): string | undefined {
  return node.metadata.labels?.[topologyKey];
}

function podsInDomain(topologyKey: string, on: NodeView, views: readonly NodeView[]): readonly Pod[] {
  const domain = domainOf(topologyKey, on);
  if (domain === undefined) return [];
  return views.filter((view) => domainOf(topologyKey, view) === domain).flatMap(({ pods }) => pods);
}
