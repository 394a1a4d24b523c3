/** Which processes of the machine belong to which container: by their parents, up to whom its shim wrote down. */
import { readOr } from '@reeve/cli/plane-testing';
import type { ContainerOnSite, PodOnSite } from './kinds.ts';
import type { PodProcesses, Site } from './site.ts';

/** As clusters name the containers of their pods. */
const SERVER = 'server';
const AGENT = 'agent';

/** Everything of one container. */
export interface ContainerTree extends PodProcesses {
  readonly pod: PodOnSite;
  readonly container: ContainerOnSite;
}

export const isServerTree = ({ container }: ContainerTree): boolean => container.name === SERVER;
export const isAgentTree = ({ container }: ContainerTree): boolean => container.name === AGENT;

export function isSameContainer(one: ContainerTree, other: ContainerTree): boolean {
  return one.pod.metadata.uid === other.pod.metadata.uid && one.container.name === other.container.name;
}

export function parentOf(pid: number): number {
  const text = readOr(`/proc/${pid}/stat`);
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

export function treesOf(site: Site, pods: readonly PodOnSite[]): readonly ContainerTree[] {
  return pods.flatMap((pod) =>
    containersOf(pod).flatMap((container) => {
      const processes = site.processesOf(pod, container);
      return processes ? [{ pod, container, ...processes }] : [];
    }),
  );
}

/** What runs may not have been told yet. */
function containersOf({ spec, status }: PodOnSite): readonly ContainerOnSite[] {
  return (spec?.containers ?? []).map(
    ({ name }) => status?.containerStatuses?.find((one) => one.name === name) ?? { name, restartCount: 0 },
  );
}

/** Undefined: it belongs to none of them. */
export function treeOf(pid: number, trees: readonly ContainerTree[]): ContainerTree | undefined {
  for (let at = pid; at > 1; at = parentOf(at)) {
    const tree = trees.find(({ main, shim }) => main === at || shim === at);
    if (tree) return tree;
  }
  return undefined;
}

/** What must hold when everything has come to rest: one server for each pod, one agent where there is one, nothing that belongs to none. */
export async function processProblems(site: Site): Promise<readonly string[]> {
  const pods = await site.allPods();
  const trees = treesOf(site, pods);
  const problems = [...unlikeOne(pods, trees, SERVER, site.servers()), ...unlikeOne(pods, trees, AGENT, site.agents())];
  for (const pid of await site.machine.lasting()) {
    if (!treeOf(pid, trees)) problems.push(`process ${pid} belongs to no pod: ${lineOf(pid)}`);
  }
  return problems;
}

/** Containers of this name without such a process, or with several. */
function unlikeOne(
  pods: readonly PodOnSite[],
  trees: readonly ContainerTree[],
  name: string,
  pids: readonly number[],
): readonly string[] {
  const homes = pids.map((pid) => ({ pid, tree: treeOf(pid, trees) }));
  const having = pods.filter(({ spec }) => spec?.containers?.some((container) => container.name === name));
  return having.flatMap(({ metadata }) => {
    const own = homes
      .filter(({ tree }) => tree?.pod.metadata.uid === metadata.uid && tree.container.name === name)
      .map(({ pid }) => pid);
    return own.length === 1 ? [] : [`${metadata.name} has ${own.length} processes of its ${name}: ${own.join(', ')}`];
  });
}

function lineOf(pid: number): string {
  return readOr(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 200);
}
