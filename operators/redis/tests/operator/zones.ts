/** Who of a cluster lies in which zone, by the simulated kubelet; and how somebody brings them together. */
import assert from 'node:assert/strict';
import { Kubelet } from './kubelet.ts';
import type { OperatorWorld } from './world.ts';

type Member = NonNullable<ReturnType<OperatorWorld['status']>['members']>[number];

const zoneOf = (pod: string): number => Number(pod.split('-').at(-1)) % Kubelet.zones.length;

/** Replicas in the zone of their primary. */
export function sharing(world: OperatorWorld, cluster: string): readonly Member[] {
  const members = world.status(cluster).members ?? [];
  return members.filter(({ pod, of }) => of !== undefined && zoneOf(pod) === zoneOf(of));
}

/** As somebody could by hand: a replica is put beside a primary of its zone, and that one's replica takes its place. */
export async function putTogether(world: OperatorWorld, cluster: string): Promise<void> {
  const members = world.status(cluster).members ?? [];
  const primary = members.find(({ role }) => role === 'primary');
  const own = members.find(({ of }) => of === primary?.pod);
  const beside = members.find(({ pod, of }) => of !== undefined && zoneOf(pod) === zoneOf(primary?.pod ?? ''));
  assert.ok(primary && own && beside?.of !== undefined);
  const replicate = (pod: string, of: string) =>
    world.model.execute(world.serverOf(pod).endpoint, ['CLUSTER', 'REPLICATE', world.serverOf(of).id]);
  replicate(beside.pod, primary.pod);
  replicate(own.pod, beside.of);
  await world.until('a replica is beside its primary', () => sharing(world, cluster).length > 0);
}
