/**
 * Which facts are worth a write. Offsets, memory and keys of a server move all the time, also of one that nobody uses; a member's status
 * that follows each of them would be written every second. Pure.
 */
import { canonicalJson } from '@reeve/runtime';
import type { RedisFacts } from './facts.ts';

export interface Reported {
  readonly facts: RedisFacts;
  readonly at: number;
}

/** By how much each must have moved at least; and by a twentieth of what was reported. */
const FLOORS = { keys: 100, usedBytes: 4 * 2 ** 20, offset: 2 ** 20 } as const;
const SHARE = 0.05;
/** How often what only moved is told. */
const EVERY_MS = 10_000;

type Moving = keyof typeof FLOORS;
const moving = Object.keys(FLOORS) as readonly Moving[];

/** What to report now: what was seen, or, when nothing happened but the usual, what was reported before. */
export function steadyFacts(before: Reported | undefined, seen: RedisFacts, now: number): Reported {
  const fresh = { facts: seen, at: now };
  if (!before || still(before.facts) !== still(seen)) return fresh;
  // Whether a node is empty decides what may be done with it.
  if ((before.facts.keys === 0) !== (seen.keys === 0)) return fresh;
  const hasMoved = moving.some((name) => isFar(name, before.facts[name], seen[name]));
  return hasMoved && now - before.at >= EVERY_MS ? fresh : before;
}

function isFar(name: Moving, from: number, to: number): boolean {
  return Math.abs(to - from) >= Math.max(FLOORS[name], from * SHARE);
}

/** Everything that does not move by itself. */
function still(facts: RedisFacts): string {
  const { keys: _keys, usedBytes: _used, offset: _offset, ...rest } = facts;
  return canonicalJson(rest);
}
