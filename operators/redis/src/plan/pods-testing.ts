/** Pods for tests: with an address, ready, of the newest template. A test changes what it is about. */
import type { PodFacts } from './pods.ts';

/** The pod of that number in the set `c`. Without an address unless it is given one. */
export function testPod(ordinal: number, changes: Partial<PodFacts> = {}): PodFacts {
  return {
    name: `c-${ordinal}`,
    uid: `uid-${ordinal}`,
    ordinal,
    isReady: true,
    isDeleting: false,
    isCurrent: true,
    annotations: {},
    ...changes,
  };
}

/** A pod for each node, where it lives. */
export function testPods(
  nodes: readonly { readonly host: string }[],
  changes: (ordinal: number) => Partial<PodFacts> | undefined = () => undefined,
): readonly PodFacts[] {
  return nodes.map(({ host }, ordinal) => testPod(ordinal, { ip: host, ...changes(ordinal) }));
}
