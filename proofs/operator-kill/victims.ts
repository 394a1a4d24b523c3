/** Processes are killed as they are found, by number and nothing else. */
import { tryToKill } from '@reeve/cli/plane-testing';
import type { PodOnSite } from '../site/kinds.ts';
import { type ContainerTree, isAgentTree, isServerTree, treeOf, treesOf } from '../site/processes.ts';
import type { Site } from '../site/site.ts';
import type { OperationName, RoundPlan } from './plan.ts';

/** Who was hit. */
export interface Hit {
  /** Containers of which something was killed, as they stood right before. */
  readonly trees: readonly ContainerTree[];
  readonly planeDied: boolean;
  readonly end: End;
}

/**
 * How they end, so that not every answer to the question for their exit code is the same: killed together with whoever waits for it,
 * killed alone, or asked to end (SIGTERM), which while the control plane is away is nobody's wish but ours.
 */
export type End = 'unseen' | 'killed' | 'asked';

export function endOf({ operation, victim, manner, seed }: RoundPlan): End {
  if (victim === 'everything' || manner === 'whole pod') return 'unseen';
  return victim === 'plane and pods' && STEADY.includes(operation) && seed % 2 === 0 ? 'asked' : 'killed';
}

/** In which servers run for a while: one that has just begun dies of a SIGTERM, one that writes its first log refuses it. */
const STEADY: readonly OperationName[] = ['rebalance', 'failover', 'idle'];

/** What must be known of it. Of whom nobody saw the end, a node says so, and takes it for a kill. */
const KNOWN: Readonly<Record<End, { readonly code: number; readonly reasons: readonly string[] }>> = {
  unseen: { code: 137, reasons: ['ContainerStatusUnknown', 'Error'] },
  killed: { code: 137, reasons: ['Error'] },
  asked: { code: 0, reasons: ['Completed'] },
};

/** Chosen and found while everything still runs: a control plane that is gone tells nobody which pods there are. */
export async function strike(site: Site, plan: RoundPlan, pick: (count: number) => number): Promise<Hit> {
  const all = treesOf(site, await site.allPods());
  const planeDied = plan.victim === 'plane' || plan.victim === 'plane and pods' || plan.victim === 'everything';
  const programs = new Set([...site.servers(), ...site.agents()]);
  // Of a pod that is only just beginning there may be no program yet.
  const begun = new Set([...programs].map((pid) => treeOf(pid, all)));
  const trees = doomed(all, (tree) => begun.has(tree), plan, pick);
  // First, so that what happens to pods is what it finds when it comes back.
  if (planeDied) await site.killPlane();
  const end = endOf(plan);
  for (const pid of site.machine.processes()) {
    const tree = treeOf(pid, trees);
    if (tree && (end === 'unseen' || programs.has(pid))) tryToKill(pid, end === 'asked' ? 'SIGTERM' : 'SIGKILL');
  }
  if (end === 'unseen') for (const { shim } of trees) tryToKill(shim);
  return { trees, planeDied, end };
}

function doomed(
  all: readonly ContainerTree[],
  hasBegun: (tree: ContainerTree) => boolean,
  { victim, pods, manner }: RoundPlan,
  pick: (count: number) => number,
): readonly ContainerTree[] {
  switch (victim) {
    case 'plane':
      return [];
    case 'everything':
      return all;
    case 'agents':
      return some(all.filter(isAgentTree).filter(hasBegun), pods, pick);
    case 'pods':
    case 'plane and pods': {
      const servers = some(all.filter(isServerTree).filter(hasBegun), pods, pick);
      if (manner === 'program') return servers;
      const uids = new Set(servers.map(({ pod }) => pod.metadata.uid));
      return all.filter(({ pod }) => uids.has(pod.metadata.uid));
    }
  }
}

function some(
  trees: readonly ContainerTree[],
  count: number,
  pick: (count: number) => number,
): readonly ContainerTree[] {
  const left = [...trees];
  const chosen: ContainerTree[] = [];
  while (chosen.length < count && left.length > 0) chosen.push(...left.splice(pick(left.length), 1));
  return chosen;
}

/**
 * What the control plane must know of a server that died while it was away: that it ended, how, and that it was begun once more. Of an
 * agent, how it ended: it may wait for a while before it is begun again.
 */
export function exitProblems(
  hit: Hit,
  now: readonly PodOnSite[],
): { readonly known: number; readonly problems: readonly string[] } {
  const problems: string[] = [];
  let known = 0;
  for (const tree of hit.trees) {
    const { pod, container } = tree;
    const later = now.find(({ metadata }) => metadata.uid === pod.metadata.uid);
    if (!later) continue; // the operator replaced it meanwhile: whether it may is judged in the end (kept.ts)
    const { name, restartCount: before } = container;
    const told = later.status?.containerStatuses?.find((one) => one.name === name);
    const { exitCode: code, reason = '' } = told?.lastState?.terminated ?? {};
    const expected = KNOWN[hit.end];
    const isTold = code === expected.code && expected.reasons.includes(reason);
    const isKnown = isTold && (isAgentTree(tree) || told?.restartCount === before + 1);
    if (isKnown && isServerTree(tree) && reason !== 'ContainerStatusUnknown') known++;
    if (isKnown) continue;
    problems.push(
      `${name} of ${pod.metadata.name} was ${hit.end}: restarts ${before}, then ${told?.restartCount}; last exit code ${code} (${reason}), not ${expected.code} (${expected.reasons.join(' or ')})`,
    );
  }
  return { known, problems };
}
