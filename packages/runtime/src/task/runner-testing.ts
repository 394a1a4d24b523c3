/** A task runner on an API server in memory, with places where steps run that outlive the runner. */
import { KubeClient, type KubeObject, resource } from '@reeve/kube';
import { ApiWorld, type ApiWrite, snapshotOf } from '@reeve/simulation/api';
import { type Command, done, failed, type Outcome, type Run } from '../command/command.ts';
import type { Executor } from '../command/executor.ts';
import { known } from '../plan/known.ts';
import { constantRandom, seededRandom, VirtualClock } from '../ports/virtual-clock-testing.ts';
import type { Objects } from '../resource/objects.ts';
import { crdOf, kind } from '../schema/kind.ts';
import { anything, object, text } from '../schema/schema.ts';
import { finalizerHold } from './hold.ts';
import { type TaskContext, TaskRunner } from './runner.ts';
import type { TaskClass, TaskDefinition, TaskResource } from './task.ts';

export interface TestTask extends TaskResource {
  readonly spec: { readonly class: TaskClass };
}

export const FINALIZER = 'test.dev/task';
const tasks = kind({
  group: 'test.dev',
  version: 'v1',
  plural: 'tasks',
  kind: 'Task',
  namespaced: true,
  spec: object({ class: text() }),
  status: anything(),
});
const TASKS = 'tasks.test.dev';
const snapshot = snapshotOf({ namespaces: ['ns'], definitions: [crdOf(tasks)] });

/** Where steps run: it remembers what was started, and goes on without whoever started it. */
export class Place {
  readonly started: string[] = [];
  readonly withdrawn: string[] = [];
  readonly released: string[] = [];
  readonly #runs = new Map<
    string,
    { readonly run: Run; readonly ended: PromiseWithResolvers<Outcome>; isStale?: boolean }
  >();

  readonly executor: Executor = {
    start: async (_command, signal, run = { id: '', attempt: 1 }) => {
      const before = this.#runs.get(run.id);
      if (before && before.run.attempt >= run.attempt && !before.isStale) {
        return { progress: () => undefined, settled: before.ended.promise };
      }
      this.started.push(`${run.id.split('.')[1]}#${run.attempt}`);
      const ended = Promise.withResolvers<Outcome>();
      this.#runs.set(run.id, { run, ended });
      signal.addEventListener('abort', () => ended.resolve(failed('STOPPED', (signal.reason as Error).message)));
      return { progress: () => ({ done: 1, total: 4, unit: 'ranges' }), settled: ended.promise };
    },
    withdraw: async (id) => {
      this.withdrawn.push(id.split('.')[1] ?? '');
    },
    release: async (id) => {
      this.#runs.delete(id); // it remembers no longer: started again, it would run again
      this.released.push(id.split('.')[1] ?? '');
    },
  };

  end(pod: string, outcome: Outcome = done): void {
    for (const [id, one] of this.#runs) {
      if (!id.endsWith(`.${pod}`)) continue;
      one.isStale = outcome.status === 'stale';
      one.ended.resolve(outcome);
    }
  }
}

export class Bench {
  readonly clock: VirtualClock;
  readonly writes: readonly ApiWrite[];
  readonly api: ApiWorld;
  readonly place = new Place();
  readonly objects: Objects<TestTask>;
  readonly woken: string[] = [];
  pods = ['pod-2', 'pod-10', 'pod-1'];
  definition: Partial<TaskDefinition<TestTask>> = {};
  isKnown = true;
  hasLastResort = false;
  runner: TaskRunner<TestTask>;
  #uid = '';

  static async open(): Promise<Bench> {
    const clock = new VirtualClock();
    const writes: ApiWrite[] = [];
    const api = await ApiWorld.open({
      clock,
      random: seededRandom(1),
      snapshot: await snapshot,
      follow: [TASKS],
      onWrite: (write) => writes.push(write),
    });
    return new Bench(clock, api, writes);
  }

  private constructor(clock: VirtualClock, api: ApiWorld, writes: readonly ApiWrite[]) {
    this.clock = clock;
    this.api = api;
    this.writes = writes;
    const client = new KubeClient({ clock, random: constantRandom(0), transport: api.transport });
    this.objects = (namespace) => client.resource(resource<TestTask & KubeObject>(tasks), namespace);
    this.runner = this.restart();
  }

  /** A new runner that knows nothing of the old one's. */
  restart(): TaskRunner<TestTask> {
    this.runner = new TaskRunner<TestTask>(
      { clock: this.clock, random: constantRandom(0) },
      {
        objects: this.objects,
        hold: finalizerHold(this.objects, FINALIZER),
        wake: ({ metadata }) => this.woken.push(metadata.name),
        definitionOf: (task) => (this.isKnown ? this.#definitionOf(task) : undefined),
        ...(this.hasLastResort && { lastResort: () => this.place.executor }),
      },
    );
    return this.runner;
  }

  #definitionOf(task: TestTask): TaskDefinition<TestTask> {
    return {
      class: task.spec.class,
      members: async () => known(this.pods.map((name) => ({ name, uid: `${name}-uid` }))),
      step: (): Command => ({ type: 'clean', why: 'asked' }),
      executor: () => this.place.executor,
      ...this.definition,
    };
  }

  async create(taskClass: TaskClass): Promise<TestTask> {
    const task = { metadata: { name: 'task' }, spec: { class: taskClass } };
    const { metadata } = await this.#tasks.create(task as never);
    this.#uid = metadata.uid;
    return this.task as TestTask;
  }

  /** As a person does. */
  async delete(): Promise<void> {
    await this.#tasks.delete('task');
  }

  get #tasks() {
    return this.api.client.resource(resource<TestTask & KubeObject>(tasks), 'ns');
  }

  get task(): TestTask | undefined {
    return this.api.find<TestTask>(TASKS, 'ns', 'task');
  }

  /** Also when it is gone. */
  get uid(): string {
    return this.#uid;
  }

  /** One turn, with what the cache has: by default the newest. */
  turn(cached = this.task, more: Partial<TaskContext> = {}) {
    const ref = { namespace: 'ns', name: 'task', uid: cached?.metadata.uid ?? this.#uid };
    return this.runner.turn(ref, cached, { signal: new AbortController().signal, ...more });
  }

  /** The phases of the pods, as the API has them. */
  get phases(): Readonly<Record<string, string>> {
    const pods = this.task?.status?.pods ?? {};
    return Object.fromEntries(Object.entries(pods).map(([name, { phase }]) => [name, phase]));
  }

  get statusWrites(): number {
    return this.writes.filter(({ verb }) => verb === 'status').length;
  }
}
