/** Waiting for the nodes of a control plane to be known to its API server, as they are to be. */
import type { KubeClient } from '@reeve/kube';
import { type NodeFacts, nodes as nodeKind } from '@reeve/local-node';
import type { Clock } from '@reeve/runtime';

const LOOK_AGAIN_MS = 10;
const MOST_WAIT_MS = 10_000;

type Expected = Pick<NodeFacts, 'name' | 'labels'>;

/**
 * Until all nodes are there with their labels; who looks then finds them. No longer than a while: something may keep them away. How many
 * are there.
 */
export async function registered(client: KubeClient, clock: Clock, expected: readonly Expected[]): Promise<number> {
  const endsAt = clock.now() + MOST_WAIT_MS;
  for (;;) {
    const { items } = await client.resource(nodeKind).list();
    const labelsOf = new Map(items.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
    const count = expected.filter(({ name, labels }) => isWithin(labels, labelsOf.get(name))).length;
    if (count === expected.length || clock.now() >= endsAt) return count;
    await clock.sleep(LOOK_AGAIN_MS);
  }
}

function isWithin(some: Expected['labels'], all: Expected['labels'] | undefined): boolean {
  return all !== undefined && Object.entries(some).every(([name, value]) => all[name] === value);
}
