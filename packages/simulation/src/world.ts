/** What a scenario says: the world, the processes in it, what may go wrong and what must hold. */
import type { Incarnation } from './incarnation.ts';
import type { Simulation } from './simulation.ts';

/**
 * What may happen to one effect.
 * - `delay`: it is done later; if the caller's time limit passes first, the caller sees a timeout and it is *still* done;
 * - `fail-before`: it did not happen, the caller sees an error;
 * - `fail-after`: it happened, the caller sees an error;
 * - `crash-before`, `crash-after`: the process that asked for it dies around it.
 */
export type FaultKind = 'delay' | 'fail-before' | 'fail-after' | 'crash-before' | 'crash-after';

export const allFaults: readonly FaultKind[] = ['delay', 'fail-before', 'fail-after', 'crash-before', 'crash-after'];

/** One contact with the outside world. `apply` is the one moment at which the world changes. */
export interface EffectOptions<T> {
  /** Does it and returns the answer; what it throws is the world's refusal. Synchronous: nothing comes between. */
  apply(): T;
  /** For the trace: the arguments, in short. */
  readonly detail?: string;
  /** Effects of one process with the same channel are done in the order asked for (a connection). */
  readonly channel?: string;
  /** Virtual time before it can be done. Default 0. */
  readonly latencyMs?: number;
  /** The caller gives up after this; the effect itself stays under way. */
  readonly timeoutMs?: number;
  /** It waits until this holds (a lock, a queue, a server that is up). */
  when?(): boolean;
  /** Default: all faults that the process may suffer. */
  readonly faults?: readonly FaultKind[];
  /** The error that the caller sees. Default: a SimulatedFault. */
  failure?(kind: 'fail-before' | 'fail-after' | 'timeout'): unknown;
  /** What a fault before the end can leave behind: `part` of it, 0 < part < 1 (half a line in a file). */
  torn?(part: number): void;
}

/** Something that the world itself can do at any moment: kill a server, cut a link. */
export interface WorldEvent {
  /** For coverage: few different ones. */
  readonly kind: string;
  readonly detail?: string;
  apply(): void;
}

/** A program under test (or a client): a function of its ports, started again after each crash. */
export interface Process {
  readonly name: string;
  /** One life. The run ends when every process that is not `background` has ended. A rejection fails the run. */
  run(life: Incarnation): Promise<void>;
  readonly background?: boolean;
  /** What may happen to its effects. Default: all faults of the world. */
  readonly faults?: readonly FaultKind[];
  /** Virtual time between a crash and the next life. Default 1000. */
  readonly restartAfterMs?: number;
}

export interface World {
  readonly processes: readonly Process[];
  /** Accidents offered now, beside the faults of the effect that is due. */
  events?(): readonly WorldEvent[];
  /** Called after every step; throws when something is wrong at that moment. */
  always?(): void;
  /** What is not yet as it should be at rest, or undefined; asked again and again when all processes have ended. */
  unrest?(): string | undefined;
  /** Called once at the end; throws when something is wrong. */
  atEnd?(): void;
  readonly faults?: FaultLimits;
  /** Effects per run before it counts as running for ever. Default 200,000. */
  readonly maxSteps?: number;
  /** After the last accident or the horizon, whichever is later, everything must be well within this. Default 10 minutes. */
  readonly convergeMs?: number;
}

export interface FaultLimits {
  /** Default: all. */
  readonly kinds?: readonly FaultKind[];
  /** No accident after this virtual time. Default one minute. */
  readonly horizonMs?: number;
  /** No more accidents than this in one run. Default 8. */
  readonly most?: number;
}

export interface Scenario {
  readonly name: string;
  /** About how many effects a run without accidents has, so that accidents are spread over all of it. Default 1000. */
  readonly effects?: number;
  /** Builds a new world. Nothing may be kept from run to run. A promise must need neither time nor anything outside. */
  build(simulation: Simulation): World | Promise<World>;
}

/** What a caller sees when a fault was put in its way and the effect has no `failure` of its own. */
export class SimulatedFault extends Error {
  readonly kind: string;
  constructor(kind: string, label: string) {
    super(`${kind} at ${label}`);
    this.name = 'SimulatedFault';
    this.kind = kind;
  }
}

/** A broken rule: `rule` is a short stable name, by which failures are told apart. */
export class Violation extends Error {
  readonly rule: string;
  constructor(rule: string, message: string) {
    super(message);
    this.name = 'Violation';
    this.rule = rule;
  }
}
