/**
 * A server that dies in the same moment as the operator. Never the last one that has its keys, nor the primary of the only other one while
 * that one is forgotten by the others, one by one, nor one without whom the primaries are no majority: the keys are kept then, and a
 * person must say who takes over.
 */
import type { OperatorWorld } from '@reeve/redis/operator-world';

export type ModelServer = OperatorWorld['servers'][number];

export function living(servers: readonly ModelServer[]): readonly ModelServer[] {
  return servers.filter(({ process }) => process === 'up');
}

/** Of those that may die one by its number. Undefined: each has something that nobody else has just now. */
export function doomed(servers: readonly ModelServer[], number: number): ModelServer | undefined {
  const spared = servers.filter((server) => hasCopy(server, servers) && canDoWithout(server, servers));
  return spared[number % Math.max(1, spared.length)];
}

const isVoter = (server: ModelServer): boolean => server.isPrimary && server.slotsOf(server.self.mark).runs.length > 0;

/** Whoever votes without it is a majority of all who own slots, those who are dead by now included. */
function canDoWithout(server: ModelServer, servers: readonly ModelServer[]): boolean {
  const left = servers.filter((other) => other !== server && isVoter(other));
  return !isVoter(server) || left.every(({ size }) => 2 * left.length > size);
}

/**
 * Somebody else has all that it has: its primary, or a replica that is in step with it. One that has nothing needs nobody; slots are
 * something, also without a key: only a person gives them up.
 */
function hasCopy(server: ModelServer, servers: readonly ModelServer[]): boolean {
  if (server.keyCount() === 0 && !isVoter(server)) return true;
  if (!server.isPrimary) return servers.some((other) => other.isPrimary && follows(server, other));
  // Who is being forgotten, to leave, is not elected either.
  const isKnown = (id: string) => servers.every((one) => one.id === id || one.peers.has(id));
  return servers.some((other) => follows(other, server) && isInStep(other, server) && isKnown(other.id));
}

function follows(replica: ModelServer, primary: ModelServer): boolean {
  return !replica.isPrimary && replica.self.primary?.id === primary.id;
}

function isInStep({ replication }: ModelServer, primary: ModelServer): boolean {
  return (
    replication.link === 'up' &&
    replication.source === primary &&
    replication.position === primary.replication.logStart + primary.replication.log.length
  );
}

/** Its pod is lost: without a volume another one comes back, who has nothing. */
export function losePod(world: OperatorWorld, server: ModelServer): string | undefined {
  const pod = world.kubelet.podOf(server);
  world.model.kill(server);
  // Whoever deletes it at this very moment is the operator that died.
  if (pod !== undefined) void world.deletePod(pod).catch(() => undefined);
  return pod;
}
