/** What the tests of fixes share: a cluster with damage, the decision about it, and the world after it was mended. */
import assert from 'node:assert/strict';
import { isReached } from '@reeve/runtime';
import { isRefused } from '../api/operation.ts';
import { unionSlots } from '../api/slots.ts';
import { type FixGoal, fixOperation, type FixRequest } from './fix.ts';
import { damagedSlots } from './fix-facts.ts';
import { brief, pursue, viewWith, type World } from './moves-testing.ts';
import { clusterNodes, idOf, type TestNode } from './testing.ts';

export type Nodes = Readonly<Record<string, Partial<TestNode>>>;

/** 4 primaries: p0 0-4095, p1 4096-8191, p2 8192-12287, p3 12288-16383, with a replica each. */
export function worldOf(nodes: Nodes, extra: readonly TestNode[] = []): World {
  return clusterNodes({ primaries: 4, replicas: 1, nodes, extra });
}

export function decide(world: World, request: FixRequest = {}) {
  return fixOperation.decide(request, counted(world));
}

/** Keys counted where something is damaged and where the tests put keys; a real fix counts them everywhere. */
export function counted(world: World) {
  return viewWith(world, {
    countKeysIn: unionSlots(damagedSlots(viewWith(world, {})), [
      [0, 20],
      [4096, 4110],
    ]),
  });
}

export function goalFor(world: World, request: FixRequest = {}): FixGoal {
  const decision = decide(world, request);
  assert.ok(!isRefused(decision), isRefused(decision) ? JSON.stringify(decision.refused) : '');
  return decision.goal;
}

export function refusedCodes(world: World, request: FixRequest = {}): readonly string[] {
  const decision = decide(world, request);
  assert.ok(isRefused(decision));
  return decision.refused.map(({ code }) => code);
}

/** Mends the world and returns what was done, in order. */
export function mend(world: World, request: FixRequest = {}) {
  const result = pursue(fixOperation, goalFor(world, request), world, { most: 8 });
  assert.ok(isReached(result.plan), JSON.stringify(result.plan));
  return { ...result, done: brief(result.commands) };
}

export function keysOf(world: World): number {
  return world.flatMap((node) => Object.values(node.keys)).reduce((sum, keys) => sum + keys, 0);
}

export const [p0, p1, p2, p3] = ['p0', 'p1', 'p2', 'p3'].map(idOf) as [string, string, string, string];
export const gone = idOf('gone');
