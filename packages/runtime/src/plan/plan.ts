import type { Command, InFlight } from '../command/command.ts';

/** Why nothing is happening, in words a person can act on. */
export interface Waiting {
  /** Stable, CamelCase, for conditions and metrics: `ReplicaSync`, `GossipAgreement`. */
  readonly reason: string;
  readonly message: string;
  /** The objects (node ids, addresses) that are waited for. */
  readonly subjects: readonly string[];
}

/** Why a plan will not act at all. `code` is a code of docs/errors.md. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly subjects: readonly string[];
}

/**
 * What a pure plan answers. Reached = no commands, nothing waited for, not refused.
 * `plan(desired, observed, now, inFlight) → Plan`: no I/O, time and running work are inputs, waiting is an output.
 */
export interface Plan<C extends Command = Command> {
  readonly commands: readonly C[];
  readonly waitingFor?: readonly Waiting[];
  /** Look again at this time (ms, the clock given as `now`) even if nothing is reported. */
  readonly wakeAt?: number;
  /** All that is left to do is among the commands or in flight: that one of several ends is no reason to look again. */
  readonly complete?: boolean;
  readonly refused?: readonly Refusal[];
}

export type Planner<Desired, Observed, C extends Command> = (
  desired: Desired,
  observed: Observed,
  now: number,
  inFlight: readonly InFlight<C>[],
) => Plan<C>;

export function isReached(plan: Plan): boolean {
  return plan.commands.length === 0 && !plan.waitingFor?.length && !plan.refused?.length;
}

export const reached: Plan<never> = { commands: [] };

export function refuse(...refused: readonly Refusal[]): Plan<never> {
  return { commands: [], refused };
}

export function waitFor(wakeAt: number, ...waitingFor: readonly Waiting[]): Plan<never> {
  return { commands: [], waitingFor, wakeAt };
}
