/** A task: long work that a resource asks for, on the members of a cluster. */
import type { Command, Outcome } from '../command/command.ts';
import type { Executor } from '../command/executor.ts';
import type { Knowledge } from '../plan/known.ts';
import type { KubeResource } from '../resource/objects.ts';

/**
 * - `parallel`: on all members at once; progress is read from the members, the status is written at the end;
 * - `sequential`: member after member; the status is written after each step, so that a failure is gone on from;
 * - `single`: one step on one member; the status is written at the end.
 */
export type TaskClass = 'parallel' | 'sequential' | 'single';

export type TaskPhase = 'Running' | 'Succeeded' | 'Failed';

/** `Unknown`: it was under way when its agent died, and whether it is done cannot be told. */
export type PodPhase = 'Waiting' | 'Done' | 'Failed' | 'Unknown' | 'Skipped';

export interface TaskPod {
  readonly uid: string;
  readonly phase: PodPhase;
  readonly message?: string;
}

export interface TaskStatus {
  readonly phase?: TaskPhase;
  /** Frozen when the task begins: who joins later has no part in it. */
  readonly pods?: Readonly<Record<string, TaskPod>>;
  /** For people. */
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** Of a failure: a code of docs/errors.md. */
  readonly code?: string;
  readonly message?: string;
}

export interface TaskResource extends KubeResource {
  readonly status?: TaskStatus;
}

/** Whom a step is for: this incarnation of a pod and no other. */
export interface TaskMember {
  readonly name: string;
  readonly uid: string;
}

/** What a kind of task does. */
export interface TaskDefinition<T extends TaskResource, C extends Command = Command> {
  readonly class: TaskClass;
  /** Whom it works on, asked once. Unknown: asked again later. Of several the `single` class takes the first. */
  members(task: T, signal: AbortSignal): Promise<Knowledge<readonly TaskMember[]>>;
  /** The command for one member. It can tell that it is done already: a restart starts it again where nothing else remembers it. */
  step(task: T, member: TaskMember): C;
  /** Where the steps of a member run. */
  executor(task: T, member: TaskMember): Executor<C>;
  /** How many members at once, for the parallel class. Default: all. */
  readonly width?: number;
  /** How often a failing step is tried. Default 3. */
  readonly attempts?: number;
  /** What a failed member means for those that wait. Default: `stop`. */
  readonly onFailure?: 'stop' | 'continue';
  /**
   * What the task holds while it runs, beside its steps: put it on the stack. It is let go when the task ends or is deleted, each
   * thing once: what that throws is told, and the next turn goes on with the end.
   */
  begin?(task: T, held: AsyncDisposableStack, signal: AbortSignal): Promise<void> | void;
}

/** What is known of a member's step in this process. */
export interface StepState {
  /** Of the attempt that is or was under way. */
  readonly attempt: number;
  /** Absent while it is under way. */
  readonly outcome?: Outcome;
}

export function isEnded(status: TaskStatus | undefined): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

export function isDeleting({ metadata }: TaskResource): boolean {
  return metadata.deletionTimestamp !== undefined;
}
