/**
 * Runs tasks, a turn at a time. A turn never waits for long work: it starts steps, collects what ended, writes the report, and
 * says how things stand. Steps never write the status; the worker that calls `turn` is the only writer.
 */
import type { Command, Progress } from '../command/command.ts';
import type { Executor } from '../command/executor.ts';
import type { OperationTurn } from '../operation/turn.ts';
import type { Waiting } from '../plan/plan.ts';
import type { Clock, Random } from '../ports/ports.ts';
import { Newest } from '../resource/newest.ts';
import { type Objects, type Written, written } from '../resource/objects.ts';
import { Cancellations } from './cancellations.ts';
import { decideTask, type Pods, type TaskAction, type TaskView } from './decide.ts';
import type { TaskHold } from './hold.ts';
import { RunningTask } from './running.ts';
import {
  isDeleting,
  isEnded,
  type TaskDefinition,
  type TaskMember,
  type TaskResource,
  type TaskStatus,
} from './task.ts';

export interface TaskRunnerOptions<T extends TaskResource, C extends Command> {
  readonly objects: Objects<T>;
  readonly hold: TaskHold<T>;
  /** What a task asks for. Undefined: nobody knows, and the task fails. */
  definitionOf(task: T): TaskDefinition<T, C> | undefined;
  /**
   * Stops the steps of a task that nobody knows any more (of a newer version of us, of a verb that has another name now). Without
   * it such a task keeps its lock while a member of it is not done: its steps may still run there.
   */
  lastResort?(task: T, member: TaskMember): Pick<Executor<C>, 'withdraw' | 'release'>;
  /** Something ended: take another turn soon. Put the key of the task's cluster into its queue. */
  wake(task: T): void;
  /** Each state that the server answered with: give it to the cache. */
  wrote?(task: T): void;
}

export interface TaskRef {
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid: string;
}

export interface TaskContext {
  readonly mustYield?: boolean;
  readonly signal: AbortSignal;
}

export type TaskTurn = OperationTurn & { readonly waitingFor?: readonly Waiting[] };

/** Writes and decisions in one turn. More means that somebody else writes the task, too: another turn, later. */
const MOST_ROUNDS = 12;
const ASK_AGAIN_MS = 5_000;
const MOST_GONE = 1_000;

export class TaskRunner<T extends TaskResource, C extends Command = Command> implements AsyncDisposable {
  readonly #ports: { readonly clock: Clock; readonly random: Random };
  readonly #options: TaskRunnerOptions<T, C>;
  readonly #known = new Newest<T>();
  readonly #running = new Map<string, RunningTask<C>>();
  readonly #cancellations: Cancellations;
  /** The uids of tasks that the server has no more, until the cache says so, too. */
  readonly #gone = new Set<string>();

  constructor(ports: { readonly clock: Clock; readonly random: Random }, options: TaskRunnerOptions<T, C>) {
    this.#ports = ports;
    this.#options = options;
    this.#cancellations = new Cancellations(ports.clock);
  }

  /** The task as given, or as this process knows it if that is newer: for deciding whether it is still a candidate. */
  newest(task: T): T {
    return this.#known.of(task);
  }

  /** The server has it no more. A cache that has not heard of it yet must not make it a candidate again and again. */
  isGone({ metadata }: T): boolean {
    return this.#gone.has(metadata.uid ?? '');
  }

  /** How far the members are, for reports: read from where the steps run, never from the status. */
  progress(uid: string): Readonly<Record<string, Progress | undefined>> {
    return this.#running.get(uid)?.progress() ?? {};
  }

  /** One turn. `cached` may be old or missing: what matters is read again. */
  async turn(ref: TaskRef, cached: T | undefined, context: TaskContext): Promise<TaskTurn> {
    let task = cached?.metadata.uid === ref.uid ? this.newest(cached) : await this.#read(ref, context.signal);
    for (let round = 0; round < MOST_ROUNDS; round++) {
      if (!task) return this.#vanished(ref.uid);
      const definition = this.#options.definitionOf(task);
      if (!definition && this.#isOutOfReach(task)) return this.#outOfReach(task);
      const action = definition ? decideTask(this.#view(task, definition, context)) : this.#unknown(task);
      const result = await this.#do(task, definition, action, context.signal);
      if ('state' in result) return result;
      task = result.written ? result.object : await this.#read(ref, context.signal);
    }
    return { state: 'running', wakeAt: this.#ports.clock.now() + 1_000 };
  }

  /** This process ends: what runs here is aborted and waited for; what runs elsewhere goes on and is found again. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancellations.abandon();
    await Promise.all([...this.#running.values()].map((running) => running.stop('shutdown')));
  }

  #view(task: T, definition: TaskDefinition<T, C>, { mustYield = false }: TaskContext): TaskView {
    const { width = Number.MAX_SAFE_INTEGER, attempts = 3, onFailure = 'stop' } = definition;
    return {
      class: definition.class,
      status: task.status,
      isDeleting: isDeleting(task),
      isHeld: this.#options.hold.isOn(task),
      steps: this.#running.get(uidOf(task))?.collect() ?? new Map(),
      // Once it has begun to stop it goes through with it: what was stopped cannot simply go on.
      mustYield:
        mustYield || this.#cancellations.has(uidOf(task)) || this.#running.get(uidOf(task))?.isStopped === true,
      width,
      attempts,
      onFailure,
    };
  }

  /** What nobody knows how to do ends at once, and so does what an older version of us left of it. */
  #unknown(task: T): TaskAction {
    const isHeld = this.#options.hold.isOn(task);
    if (isDeleting(task)) return isHeld ? { do: 'cancel' } : { do: 'over', phase: 'Cancelled' };
    if (isEnded(task.status)) return isHeld ? { do: 'let-go' } : { do: 'over', phase: 'Failed' };
    const message = 'there is no such task';
    return { do: 'finalize', phase: 'Failed', pods: task.status?.pods ?? {}, code: 'TASK_UNKNOWN', message };
  }

  /** Nobody can say that nothing of it goes on. Who takes the finalizer off by hand says it himself. */
  #isOutOfReach(task: T): boolean {
    return !this.#options.lastResort && this.#options.hold.isOn(task) && undoneOf(task).length > 0;
  }

  /** Not failed either: a version that knows it goes on with it. */
  #outOfReach(task: T): TaskTurn {
    const message =
      `nobody here knows task ${task.metadata.name}, and its steps may still run: bring back the version that knows it, ` +
      'or take its finalizer off when nothing of it runs any more';
    return this.#wait({ reason: 'TaskUnknown', message, subjects: undoneOf(task).map(({ name }) => name) });
  }

  #do(
    task: T,
    definition: TaskDefinition<T, C> | undefined,
    action: TaskAction,
    signal: AbortSignal,
  ): Promise<TaskTurn | Written<T>> | TaskTurn {
    switch (action.do) {
      case 'over':
        return this.#over(task, action);
      case 'hold':
        return this.#kept(this.#options.hold.put(task, signal));
      case 'init':
        return this.#init(task, definition as TaskDefinition<T, C>, signal);
      case 'work':
        return this.#work(task, definition as TaskDefinition<T, C>, action.start, signal);
      case 'record':
        return this.#record(task, definition as TaskDefinition<T, C>, action.pods, signal);
      case 'finalize':
        return this.#write(task, { ...action, endedAt: this.#time() }, signal);
      case 'let-go':
        return this.#letGo(task, definition, signal);
      case 'cancel':
        return this.#cancel(task, definition, signal);
      case 'yield':
        return this.#yield(task, definition, signal);
    }
  }

  /** Freezes the members, in one write. */
  async #init(task: T, definition: TaskDefinition<T, C>, signal: AbortSignal): Promise<TaskTurn | Written<T>> {
    const found = await definition.members(task, signal);
    if (!found.known) return this.#wait({ reason: 'MembersUnknown', message: found.why, subjects: [] });
    const members = definition.class === 'single' ? found.value.slice(0, 1) : found.value;
    if (members.length === 0) {
      const failure = { code: 'TASK_NO_MEMBERS', message: 'there is no member to work on' };
      return this.#write(task, { phase: 'Failed', pods: {}, ...failure, endedAt: this.#time() }, signal);
    }
    const pods = Object.fromEntries(members.map(({ name, uid }) => [name, { uid, phase: 'Waiting' as const }]));
    return this.#write(task, { phase: 'Running', pods, startedAt: this.#time() }, signal);
  }

  async #work(
    task: T,
    definition: TaskDefinition<T, C>,
    start: readonly (TaskMember & { readonly attempt: number })[],
    signal: AbortSignal,
  ): Promise<TaskTurn> {
    const running = this.#runningOf(task);
    if (!running.hasBegun) {
      await definition.begin?.(task, running.held, signal);
      running.hasBegun = true;
    }
    const now = this.#ports.clock.now();
    let wakeAt = Number.POSITIVE_INFINITY;
    for (const { attempt, ...member } of start) {
      const notBefore = running.notBefore(member.name);
      if (notBefore > now) wakeAt = Math.min(wakeAt, notBefore);
      else {
        const executor = definition.executor(task, member);
        running.start(member.name, runIdOf(task, member.name), attempt, definition.step(task, member), executor);
      }
    }
    return { state: 'running', step: stepOf(task), ...(Number.isFinite(wakeAt) && { wakeAt }) };
  }

  async #record(task: T, definition: TaskDefinition<T, C>, pods: Pods, signal: AbortSignal): Promise<Written<T>> {
    const result = await this.#write(task, { pods }, signal);
    if (!result.written) return result;
    // Written down here: the places where the steps ran may forget them.
    for (const member of membersOf(pods)) {
      if (pods[member.name]?.phase === task.status?.pods?.[member.name]?.phase) continue;
      await definition.executor(task, member).release?.(runIdOf(task, member.name), signal);
    }
    return result;
  }

  /** The report is written. What is not done may have begun all the same: it is still before the lock is given back. */
  async #letGo(
    task: T,
    definition: TaskDefinition<T, C> | undefined,
    signal: AbortSignal,
  ): Promise<TaskTurn | Written<T>> {
    if (!(await this.#isStill(task, definition, 'superseded', signal))) return this.#stopping(task);
    await this.#release(task, definition, signal);
    return this.#kept(this.#options.hold.take(task, signal));
  }

  /** Deleting a task cancels it: everything that runs for it is stopped and waited for, here and elsewhere. */
  async #cancel(
    task: T,
    definition: TaskDefinition<T, C> | undefined,
    signal: AbortSignal,
  ): Promise<TaskTurn | Written<T>> {
    if (!(await this.#isStill(task, definition, 'deleted', signal))) return this.#stopping(task);
    await this.#release(task, definition, signal);
    const result = await this.#kept(this.#options.hold.take(task, signal));
    // A task whose last finalizer is gone is gone itself.
    return result.written || result.why === 'absent' ? this.#over(task, { phase: 'Cancelled' }) : result;
  }

  async #yield(task: T, definition: TaskDefinition<T, C> | undefined, signal: AbortSignal): Promise<TaskTurn> {
    if (!(await this.#isStill(task, definition, 'superseded', signal))) return this.#stopping(task);
    const uid = uidOf(task);
    this.#running.delete(uid);
    this.#cancellations.forget(uid);
    return { state: 'yielded' };
  }

  /** True when nothing of the task goes on, here or elsewhere. False: not yet; the key is woken then. */
  #isStill(
    task: T,
    definition: TaskDefinition<T, C> | undefined,
    reason: 'deleted' | 'superseded',
    signal: AbortSignal,
  ): Promise<boolean> {
    const uid = uidOf(task);
    const stop = async (stopping: AbortSignal) => {
      await this.#running.get(uid)?.stop(reason);
      await Promise.all(
        undoneOf(task).map(async (member) => {
          await this.#placeOf(task, definition, member)?.withdraw?.(runIdOf(task, member.name), stopping);
        }),
      );
    };
    return this.#cancellations.isOver(uid, stop, () => this.#options.wake(task), signal);
  }

  async #release(task: T, definition: TaskDefinition<T, C> | undefined, signal: AbortSignal): Promise<void> {
    for (const member of membersOf(task.status?.pods)) {
      await this.#placeOf(task, definition, member)?.release?.(runIdOf(task, member.name), signal);
    }
  }

  #placeOf(task: T, definition: TaskDefinition<T, C> | undefined, member: TaskMember) {
    return definition ? definition.executor(task, member) : this.#options.lastResort?.(task, member);
  }

  #stopping(task: T): TaskTurn {
    return this.#wait({ reason: 'TaskStopping', message: 'steps are being stopped', subjects: [task.metadata.name] });
  }

  /** The object is gone although nobody let go of it: somebody took the finalizer off by hand. */
  async #vanished(uid: string): Promise<TaskTurn> {
    await this.#running.get(uid)?.stop('deleted');
    this.#forget(uid);
    this.#noteGone(uid);
    return { state: 'ended', outcome: 'cancelled', message: 'the task is gone' };
  }

  #over(task: T, { phase, message }: { readonly phase: string; readonly message?: string }): TaskTurn {
    const uid = uidOf(task);
    this.#running.delete(uid);
    this.#cancellations.forget(uid);
    if (phase === 'Cancelled') {
      this.#known.forget(uid);
      this.#noteGone(uid);
    }
    const outcome = phase === 'Succeeded' ? 'done' : phase === 'Failed' ? 'failed' : 'cancelled';
    return { state: 'ended', outcome, ...(message !== undefined && { message }) };
  }

  /** The cache may have heard of it before us, and never says it again: so the oldest are dropped. */
  #noteGone(uid: string): void {
    this.#gone.add(uid);
    if (this.#gone.size > MOST_GONE) for (const oldest of [...this.#gone].slice(0, 1)) this.#gone.delete(oldest);
  }

  /** The task is gone: nothing of it need be remembered. */
  forget(uid: string): void {
    this.#gone.delete(uid);
    if (this.#running.has(uid)) return; // its own turn sees that it vanished, and stops what runs
    this.#forget(uid);
  }

  #forget(uid: string): void {
    this.#running.delete(uid);
    this.#known.forget(uid);
    this.#cancellations.forget(uid);
  }

  #runningOf(task: T): RunningTask<C> {
    const uid = uidOf(task);
    const known = this.#running.get(uid);
    if (known) return known;
    const running = new RunningTask<C>(this.#ports, task.metadata.name, () => this.#options.wake(task));
    this.#running.set(uid, running);
    return running;
  }

  #write(task: T, change: TaskStatus & { readonly do?: string }, signal: AbortSignal): Promise<Written<T>> {
    const { do: _action, ...fields } = change;
    const client = this.#options.objects(task.metadata.namespace);
    const status: TaskStatus = { ...task.status, ...fields };
    return this.#kept(written(client.update({ ...task, status }, { subresource: 'status', signal })));
  }

  async #kept(write: Promise<Written<T>>): Promise<Written<T>> {
    const result = await write;
    if (result.written) this.#keep(result.object);
    return result;
  }

  #keep(task: T): T {
    const newest = this.#known.keep(task);
    this.#options.wrote?.(newest);
    return newest;
  }

  async #read(ref: TaskRef, signal: AbortSignal): Promise<T | undefined> {
    const live = await this.#options.objects(ref.namespace).find(ref.name, { signal });
    return live?.metadata.uid === ref.uid ? this.#keep(live) : undefined;
  }

  #wait(waiting: Waiting): TaskTurn {
    return { state: 'running', wakeAt: this.#ports.clock.now() + ASK_AGAIN_MS, waitingFor: [waiting] };
  }

  #time(): string {
    return new Date(this.#ports.clock.now()).toISOString();
  }
}

function uidOf({ metadata }: TaskResource): string {
  return metadata.uid ?? '';
}

/** The same in every process: a restart finds what was started before. */
function runIdOf(task: TaskResource, member: string): string {
  return `${uidOf(task)}.${member}`;
}

function membersOf(pods: Pods = {}): readonly TaskMember[] {
  return Object.entries(pods).map(([name, { uid }]) => ({ name, uid }));
}

/** Whoever is not known to be done may be at it. */
function undoneOf({ status }: TaskResource): readonly TaskMember[] {
  return membersOf(status?.pods).filter(({ name }) => status?.pods?.[name]?.phase !== 'Done');
}

function stepOf({ status }: TaskResource): string {
  const pods = Object.values(status?.pods ?? {});
  return `${pods.filter(({ phase }) => phase !== 'Waiting').length} of ${pods.length} members`;
}
