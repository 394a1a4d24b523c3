/** What must have outlived a round as it was, and what must not. Pure. */
import { CLUSTER_LABEL } from '@reeve/redis';
import type { PodOnSite } from '../site/kinds.ts';
import { type ContainerTree, isSameContainer } from '../site/processes.ts';
import type { OperationName } from './plan.ts';

/** Of these an old pod goes: it is replaced, or not wished for any more. */
const REPLACING: readonly OperationName[] = ['scale', 'rolling'];

/**
 * Pods that are gone, or about to go, although nothing was to replace them: neither those that were hit, nor the others.
 * @param other a cluster that is only being made: its pods may be made anew
 */
export function replaced(
  before: readonly PodOnSite[],
  after: readonly PodOnSite[],
  { operation, other }: { readonly operation: OperationName; readonly other?: string | undefined },
): readonly string[] {
  if (REPLACING.includes(operation)) return [];
  const present = new Set(
    after.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.uid),
  );
  const gone = before.filter(
    ({ metadata }) => !present.has(metadata.uid) && (!other || metadata.labels?.[CLUSTER_LABEL] !== other),
  );
  const names = new Map(gone.map(({ metadata }) => [metadata.uid, metadata.name]));
  return [...names.values()].map((name) => `${name} is another pod, or none, although nothing was to replace it`);
}

/** Containers of pods that are still the same ones must have the same processes: nobody begins what already runs. */
export function restarted(spared: readonly ContainerTree[], after: readonly ContainerTree[]): readonly string[] {
  return spared.flatMap((tree) => {
    const same = after.find((one) => isSameContainer(one, tree));
    const { pod, container, main } = tree;
    if (!same || same.main === main) return [];
    return [
      `${container.name} of ${pod.metadata.name} has process ${same.main} in place of ${main}, although nobody killed it`,
    ];
  });
}

/** Whoever was killed and is as before was not killed: then this round says nothing. */
export function unharmed(hit: readonly ContainerTree[], after: readonly ContainerTree[]): readonly string[] {
  const same = hit.filter((tree) => after.some((one) => isSameContainer(one, tree) && one.main === tree.main));
  return same.map(({ pod, container, main }) => `${container.name} of ${pod.metadata.name} outlived it as ${main}`);
}
