/** kill -9 of processes as they are found, by number and nothing else. */
import { readOr, tryToKill } from '@reeve/cli/plane-testing';
import type { PodOnSite, Site } from '../site/site.ts';
import { type PodTree, treeOf, treesOf } from '../site/processes.ts';
import type { RoundPlan } from './plan.ts';

/** Who was hit, and how its pod stood right before. */
export interface Hit {
  readonly pods: readonly PodTree[];
  readonly planeDied: boolean;
  readonly agents: number;
}

/** Chosen and found while everything still runs: a control plane that is gone tells nobody which pods there are. */
export async function strike(site: Site, plan: RoundPlan, pick: (count: number) => number): Promise<Hit> {
  const trees = treesOf(site, await site.allPods());
  const planeDied = plan.victim === 'plane' || plan.victim === 'plane and pods' || plan.victim === 'everything';
  const chosen = plan.victim === 'everything' ? trees : some(trees, plan.pods, pick);
  const pods = plan.victim === 'plane' || plan.victim === 'agent' ? [] : chosen;
  const agents = plan.victim === 'agent' || plan.victim === 'everything' ? agentsOf(site) : [];
  // First, so that what happens to pods is what it finds when it comes back.
  if (planeDied) await site.killPlane();
  for (const pid of agents) tryToKill(pid);
  for (const tree of pods) killPod(site, tree, trees, plan.victim === 'everything' ? 'whole pod' : plan.manner);
  return { pods, planeDied, agents: agents.length };
}

function killPod(site: Site, tree: PodTree, trees: readonly PodTree[], manner: RoundPlan['manner']): void {
  const own = site.machine.processes().filter((pid) => treeOf(pid, trees) === tree);
  const isServer = (pid: number) => /^(?:valkey|redis)-server/.test(readOr(`/proc/${pid}/comm`));
  const doomed = manner === 'program' ? own.filter(isServer) : [tree.shim, ...own];
  for (const pid of doomed) tryToKill(pid);
}

export function agentsOf(site: Site): readonly number[] {
  return site.machine.processes().filter((pid) => readOr(`/proc/${pid}/cmdline`).includes('\0agent\0redis'));
}

function some(trees: readonly PodTree[], count: number, pick: (count: number) => number): readonly PodTree[] {
  const left = [...trees];
  const chosen: PodTree[] = [];
  while (chosen.length < count && left.length > 0) chosen.push(...left.splice(pick(left.length), 1));
  return chosen;
}

/** What the control plane must know of a pod that died while it was away: that it ended, how, and that it was begun once more. */
export function exitProblems(
  hit: Hit,
  now: readonly PodOnSite[],
): { readonly known: number; readonly problems: readonly string[] } {
  const problems: string[] = [];
  let known = 0;
  for (const { pod } of hit.pods) {
    const later = now.find(({ metadata }) => metadata.uid === pod.metadata.uid);
    if (!later) continue; // the operator replaced it meanwhile
    const before = pod.status?.containerStatuses?.[0]?.restartCount ?? 0;
    const [container] = later.status?.containerStatuses ?? [];
    const code = container?.lastState?.terminated?.exitCode;
    if (container?.restartCount !== before + 1 || code !== 137) {
      problems.push(
        `${pod.metadata.name} was killed: restarts ${before}, then ${container?.restartCount}; last exit code ${code}, not 137`,
      );
    } else known++;
  }
  return { known, problems };
}
