/** What pods ask of a node, and whether it has that. */
import { milli } from '../kinds/quantity.ts';
import type { Container, Pod } from '../kinds/pod.ts';
import type { NodeView } from './cluster.ts';
import type { Node } from '../kinds/node.ts';

type Requests = ReadonlyMap<string, number>;

const DEFAULT_PODS = 110;

/**
 * Containers and sidecars run together; other init containers run one after the other beside the sidecars that began before them. The
 * larger of both counts. What is said of the pod as a whole takes its place; what it costs to have a pod comes on top.
 */
export function requestsOf({ spec }: Pick<Pod, 'spec'>): Requests {
  const sum = new Map<string, number>();
  const peak = new Map<string, number>();
  for (const init of spec?.initContainers ?? []) {
    const wants = wantsOf(init);
    if (init.restartPolicy === 'Always') add(sum, wants);
    else for (const [name, value] of wants) raise(peak, name, value + (sum.get(name) ?? 0));
  }
  for (const container of spec?.containers ?? []) add(sum, wantsOf(container));
  for (const [name, value] of peak) raise(sum, name, value);
  const { requests, limits } = spec?.resources ?? {};
  for (const [name, value] of amounts(requests)) sum.set(name, value);
  for (const [name, value] of amounts(limits)) if (!sum.has(name)) sum.set(name, value);
  add(sum, amounts(spec?.overhead));
  return sum;
}

/** `Insufficient cpu`, `Too many pods`: nothing if the pod fits beside the others. */
export function shortages(pod: Pod, { node, pods }: NodeView): readonly string[] {
  const found: string[] = [];
  const room = (name: string) => milli(allocatable(node, name));
  if (pods.length + 1 > (room('pods') ?? DEFAULT_PODS * 1_000) / 1_000) found.push('Too many pods');
  const used = usedOn(pods);
  for (const [name, value] of requestsOf(pod)) {
    if (value === 0) continue;
    // A node that says nothing of cpu and memory does not count them; other resources it does not name, it does not have.
    const has = room(name) ?? (name === 'cpu' || name === 'memory' ? Number.POSITIVE_INFINITY : 0);
    if (value + (used.get(name) ?? 0) > has) found.push(`Insufficient ${name}`);
  }
  return found;
}

/** From 0 (empty) to 1 (full): the mean of cpu and memory, with the pods as tie-break for those who ask for nothing. */
export function loadOf(pod: Pod, { node, pods }: NodeView): number {
  const used = usedOn([...pods, pod]);
  const shares = ['cpu', 'memory'].map((name) => {
    const has = milli(allocatable(node, name));
    return has === undefined || has === 0 ? 0 : Math.min(1, (used.get(name) ?? 0) / has);
  });
  return shares.reduce((all, one) => all + one, 0) / shares.length;
}

function usedOn(pods: readonly Pod[]): Requests {
  const used = new Map<string, number>();
  for (const pod of pods) add(used, requestsOf(pod));
  return used;
}

function allocatable({ status }: Node, name: string): string | undefined {
  return (status?.allocatable ?? status?.capacity)?.[name];
}

function wantsOf({ resources }: Container): Requests {
  // A limit without a request asks for as much.
  return amounts({ ...resources?.limits, ...resources?.requests });
}

function amounts(texts: Readonly<Record<string, string>> = {}): Requests {
  return new Map(Object.entries(texts).map(([name, text]) => [name, milli(text) ?? 0]));
}

function add(to: Map<string, number>, wants: Requests): void {
  for (const [name, value] of wants) to.set(name, (to.get(name) ?? 0) + value);
}

function raise(to: Map<string, number>, name: string, value: number): void {
  to.set(name, Math.max(to.get(name) ?? 0, value));
}
