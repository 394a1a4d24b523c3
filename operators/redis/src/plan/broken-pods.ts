/**
 * Pods that were made from a template that does not work (an image that does not exist, a configuration that no server starts with),
 * once another one is asked for. The rolling order would wait for them for ever, and nobody but the operator replaces pods. Pure.
 */
import type { ClusterView } from '../api/view.ts';
import type { NextFacts, RestartWish } from './next.ts';
import { endpointOf, type PodMember } from './pods.ts';
import { isReported, members, ownersBySlot, sameEndpoint } from './topology.ts';

/** A container that ends and begins again is up for moments: it must have been down for so long. */
const DOWN_MS = 8_000;

/**
 * Silent, not ready, and by what Kubernetes says without a process. Never one that may live: who cannot be reached from here may still serve
 * others, and their word for it is heard, too. What it holds must be on a volume, or held by others, or it never held anything.
 */
export function brokenPods({ desired, members: pods, view }: NextFacts): readonly RestartWish[] {
  const nothingIsMissing = ownersBySlot(view).every((owners) => owners.length > 0);
  return pods
    .filter((pod) => isBroken(pod) && !isSeenByOthers(pod, view))
    .filter(({ server }) => server === 'unstarted' || desired.storage !== undefined || nothingIsMissing)
    .map((pod) => ({
      what: 'restart',
      pod,
      why: `${pod.name} does not start${pod.trouble ? ` (${pod.trouble.reason})` : ''}, and is made from what is not asked for any more: it is made anew`,
      settleMs: DOWN_MS,
    }));
}

/** As far as the pod itself tells. */
export function isBroken({ node, isReady, isDeleting, isCurrent, server }: PodMember): boolean {
  return !node && !isReady && !isDeleting && !isCurrent && (server === 'unstarted' || server === 'down');
}

/** A member of the cluster lives at its address, for all that somebody who answered knows. */
function isSeenByOthers(pod: PodMember, view: ClusterView): boolean {
  const endpoint = endpointOf(pod);
  if (!endpoint) return false;
  return members(view)
    .filter((node) => !isReported(node) && sameEndpoint(node.endpoint, endpoint))
    .some(({ heard }) => heard.some(({ line: { flags } }) => !flags.includes('fail') && !flags.includes('fail?')));
}
