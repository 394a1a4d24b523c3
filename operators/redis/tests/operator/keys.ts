/** Keys in the servers of pods, and whether they are still there. */
import assert from 'node:assert/strict';
import { slotOfKey } from '@reeve/simulation/redis';
import type { OperatorWorld } from './world.ts';

/** Keys in many slots, and the time that replicas need to have them. */
export async function write(world: OperatorWorld, count: number): Promise<readonly string[]> {
  const keys = Array.from({ length: count }, (_, index) => `key:${index}`);
  for (const key of keys) {
    const slot = slotOfKey(key);
    const owner = world.servers.find((server) => server.isPrimary && server.ownerOf(slot) === server.self);
    assert.ok(owner, `nobody owns slot ${slot}`);
    world.model.execute(owner.endpoint, ['SET', key, key]);
  }
  await world.pass(3_000);
  return keys;
}

export function assertHeld(world: OperatorWorld, keys: readonly string[]): void {
  for (const key of keys) {
    const slot = slotOfKey(key);
    const owners = world.servers.filter((server) => server.isPrimary && server.ownerOf(slot) === server.self);
    assert.equal(owners.length, 1, `slot ${slot} has ${owners.length} owners`);
    assert.equal(world.model.execute(owners[0]?.endpoint ?? '', ['GET', key]), key);
  }
}
