/**
 * An operation = what a person asks of a cluster. Two pure functions:
 * `decide` turns a request and an observation into a goal (what must be true at the end, fixed, printable, approvable
 * by its digest, stored in the journal); `plan` turns the goal and each new observation into the next commands.
 * A crash anywhere is harmless: read the goal from the journal, observe, plan.
 */
import type { InFlight, Plan, Refusal } from '@reeve/runtime';
import type { RedisCommand } from './commands.ts';
import type { SlotRanges } from './slots.ts';
import type { ClusterView, Endpoint } from './view.ts';

/** What an operation wants observed beyond topology. */
export interface Needs {
  /** Count keys in these slots on every reachable primary. */
  readonly countKeysIn?: SlotRanges;
  /** Measure all slots (SLOT-STATS where there is, else COUNTKEYSINSLOT and sampled MEMORY USAGE). */
  readonly measureSlots?: 'keys' | 'bytes' | 'load';
  /** Count, at one moment, keys that are not in the node's own slots: quick, but does not tell where they are. */
  readonly keysBeyondSlots?: boolean;
  /** Compare CLUSTER SHARDS, what clients read, with CLUSTER NODES. */
  readonly shards?: boolean;
  /** Addresses that are not (yet) members, to be asked too. */
  readonly alsoAsk?: readonly Endpoint[];
}

export interface Decided<Goal> {
  readonly goal: Goal;
  /** What will be done, a line each, in order. */
  readonly steps: readonly string[];
  /** Why so and not otherwise. */
  readonly reasons: readonly string[];
  /** Nothing to do: the goal holds already. */
  readonly nothingToDo?: boolean;
}

export type Decision<Goal> = Decided<Goal> | { readonly refused: readonly Refusal[] };

export interface Operation<Request, Goal> {
  readonly kind: string;
  /** What else must be observed before `decide` and `plan` can judge. Called again with each view until it asks for nothing new. */
  needs(request: Request, view: ClusterView): Needs;
  decide(request: Request, view: ClusterView): Decision<Goal>;
  /** What the goal needs observed each turn. */
  goalNeeds(goal: Goal, view: ClusterView): Needs;
  plan(goal: Goal, view: ClusterView, now: number, inFlight: readonly InFlight<RedisCommand>[]): Plan<RedisCommand>;
}

export function isRefused<Goal>(decision: Decision<Goal>): decision is { readonly refused: readonly Refusal[] } {
  return 'refused' in decision;
}
