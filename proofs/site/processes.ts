/** Which processes of the machine belong to which pod: by their parents, up to whom the pod's shim wrote down. */
import { readOr } from '@reeve/cli/plane-testing';
import type { PodOnSite, PodProcesses, Site } from './site.ts';

export interface PodTree extends PodProcesses {
  readonly pod: PodOnSite;
}

export function parentOf(pid: number): number {
  const text = readOr(`/proc/${pid}/stat`);
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

export function treesOf(site: Site, pods: readonly PodOnSite[]): readonly PodTree[] {
  return pods.flatMap((pod) => {
    const processes = site.processesOf(pod);
    return processes ? [{ pod, ...processes }] : [];
  });
}

/** Undefined: it belongs to none of them. */
export function treeOf(pid: number, trees: readonly PodTree[]): PodTree | undefined {
  for (let at = pid; at > 1; at = parentOf(at)) {
    const tree = trees.find(({ main, shim }) => main === at || shim === at);
    if (tree) return tree;
  }
  return undefined;
}

/** What must hold when everything has come to rest: one server for each pod, nothing that belongs to no pod. */
export async function processProblems(site: Site): Promise<readonly string[]> {
  const pods = await site.allPods();
  const trees = treesOf(site, pods);
  const problems: string[] = [];
  const servers = site.servers();
  const homes = new Map<string, number[]>();
  for (const pid of servers) {
    const uid = treeOf(pid, trees)?.pod.metadata.uid ?? '';
    homes.set(uid, [...(homes.get(uid) ?? []), pid]);
  }
  for (const { metadata } of pods) {
    const own = homes.get(metadata.uid) ?? [];
    if (own.length !== 1) problems.push(`${metadata.name} has ${own.length} servers: ${own.join(', ')}`);
  }
  for (const pid of await site.machine.lasting()) {
    if (!treeOf(pid, trees)) problems.push(`process ${pid} belongs to no pod: ${lineOf(pid)}`);
  }
  return problems;
}

function lineOf(pid: number): string {
  return readOr(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 200);
}
