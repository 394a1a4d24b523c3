/** Whether a pod may stay on a node with such taints, and until when. Pure. */
import type { Taint } from '../../kinds/node.ts';
import type { Pod, Toleration } from '../../kinds/pod.ts';
import { tolerates } from '../../scheduler/taints.ts';

export type Stay = { readonly type: 'stays' } | { readonly type: 'goes'; readonly at: number };

const STAYS: Stay = { type: 'stays' };

/** Those that make pods go which are there already. */
export function expelling(taints: readonly Taint[] | undefined): readonly Taint[] {
  return (taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}

/** `seenAt`: when the pod was first found on a node with such taints. */
export function stayOf(pod: Pod, taints: readonly Taint[], seenAt: number): Stay {
  const used: Toleration[] = [];
  for (const taint of taints) {
    const found = pod.spec?.tolerations?.find((one) => tolerates(one, taint));
    if (!found) return { type: 'goes', at: seenAt };
    used.push(found);
  }
  const seconds = used.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []);
  if (seconds.length === 0) return STAYS;
  return { type: 'goes', at: sinceOf(pod, taints, seenAt) + Math.max(0, Math.min(...seconds)) * 1_000 };
}

/**
 * Since when its time runs: from the newest taint or the pod's own begin, so that it does not run anew with each start of this process.
 * Not all taints say when they were added: then it runs since they were seen.
 */
function sinceOf({ status }: Pod, taints: readonly Taint[], seenAt: number): number {
  const times = [status?.startTime, ...taints.map(({ timeAdded }) => timeAdded)].map((time) => Date.parse(time ?? ''));
  return times.some(Number.isNaN) ? seenAt : Math.min(seenAt, Math.max(...times));
}
