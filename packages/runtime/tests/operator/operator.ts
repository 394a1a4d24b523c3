/** The sample operator, one life of it: two kinds, two queues, an observer, three handlers, a parallel and a sequential task. */
import {
  again,
  Changes,
  type ClusterTurn,
  type Executor,
  finalizerHold,
  finished,
  isDeleting,
  type Knowledge,
  known,
  Ledger,
  listWatchOf,
  localExecutor,
  type Look,
  MemberOrders,
  type Member,
  Observers,
  operationTurn,
  type OperationTurn,
  type OperationWork,
  Reflector,
  requeueAfter,
  type Resource,
  type ResourceApi,
  ResourceCache,
  retry,
  routeEvents,
  type TaskDefinition,
  TaskRunner,
  unknown,
  type Verdict,
  wakeAt,
  type Work,
  Workers,
  WorkQueue,
  written,
} from '@reeve/runtime';
import type { KubeObject } from '@reeve/kube';
import type { Incarnation } from '@reeve/simulation';
import {
  CLUSTER,
  type Cluster,
  clientOf,
  FINALIZER,
  NAMESPACE,
  type SampleClient,
  type SampleCommand,
  type Step,
  type Task,
} from './api.ts';
import { type Context, handlers, surely } from './handlers.ts';
import { adjustMembers } from './members.ts';
import { candidatesOf, planTopology, type SeenPod } from './plan.ts';
import type { Sample } from './scenario.ts';

interface Seen {
  readonly look: Look;
  readonly pods: readonly SeenPod[];
}

export class Operator {
  readonly #life: Incarnation;
  readonly #sample: Sample;
  readonly #client: SampleClient;
  readonly #changes = new Changes();
  readonly #clusters = new ResourceCache<Cluster>({ scope: { group: 'sample.dev', kind: 'Cluster' } });
  readonly #tasks = new ResourceCache<Task>({
    scope: { group: 'sample.dev', kind: 'Task' },
    indexes: { cluster: (task) => [`${NAMESPACE}/${task.spec.cluster}`] },
  });
  readonly #members = new ResourceCache<Member>({ scope: { group: 'agents.reeve.dev', kind: 'Member' } });
  readonly #queue: WorkQueue;
  readonly #misfits: WorkQueue;
  readonly #seen = new Map<string, Seen>();
  readonly #ledger: Ledger<Cluster>;
  readonly #runner: TaskRunner<Task, Step>;
  readonly #orders: MemberOrders;
  readonly #context: Context;
  readonly #executor: Executor<SampleCommand>;
  readonly #observers: Observers<readonly SeenPod[]>;

  constructor(life: Incarnation, sample: Sample) {
    this.#life = life;
    this.#sample = sample;
    this.#client = clientOf(life, sample.api);
    const { ports } = life;
    this.#queue = new WorkQueue(ports, { name: 'clusters' });
    this.#misfits = new WorkQueue(ports, { name: 'misfits' });
    this.#context = { world: sample.world, speaker: { life, epoch: life.life }, onResize: () => sample.onResize() };
    this.#executor = localExecutor<SampleCommand, Context>(handlers, this.#context, {
      types: ['resize', 'clean', 'snapshot'],
    });
    this.#ledger = new Ledger<Cluster>(ports, {
      objects: () => this.#client.clusters,
      wrote: (cluster) => this.#clusters.wrote(cluster),
    });
    this.#runner = new TaskRunner<Task, Step>(ports, {
      objects: () => this.#client.tasks,
      hold: sample.parts.hold(finalizerHold<Task>(() => this.#client.tasks, FINALIZER)),
      definitionOf: (task) => this.#definitionOf(task),
      wake: () => void this.#queue.add(CLUSTER),
      wrote: (task) => this.#tasks.wrote(task),
    });
    this.#orders = new MemberOrders(ports, { members: () => this.#client.members, lease: () => life.life });
    this.#observers = new Observers(ports, this.#changes, {
      everyMs: 5_000,
      observe: (_key) =>
        life.effect('observe', { apply: () => sample.world.look(this.#context.speaker), latencyMs: 1 }),
      report: (key, pods, look) => {
        this.#seen.set(key, { pods, look });
        this.#queue.add(key);
      },
    });
  }

  async run(): Promise<void> {
    const { clock } = this.#life.ports;
    const say = (key: string, error: unknown) => this.#life.say(`${key}: ${String(error)}`);
    const clusterWorkers = new Workers(
      { clock },
      { queues: [this.#queue], reconcile: (work) => this.#reconcile(work), failed: say },
    );
    const misfitWorkers = new Workers(
      { clock },
      { queues: [this.#misfits], reconcile: (work) => this.#reject(work), failed: say },
    );
    clusterWorkers.start();
    misfitWorkers.start();
    const queues = { clusters: this.#queue, misfits: this.#misfits };
    await Promise.all([
      routeEvents(
        this.#reflect(this.#client.clusters, this.#clusters),
        (_cluster, event) => {
          this.#observers.follow(event);
          return 'clusters';
        },
        queues,
      ),
      routeEvents(
        this.#reflect(this.#client.tasks, this.#tasks),
        ({ spec, metadata }, { change }) => {
          if (change === 'removed') this.#runner.forget(metadata.uid ?? '');
          // One kind, two ways: what nobody knows how to do has a queue of its own.
          if (!isKnown(spec.verb)) return 'misfits';
          return { queue: 'clusters', key: `${NAMESPACE}/${spec.cluster}` };
        },
        queues,
      ),
      routeEvents(
        this.#reflect(this.#client.members, this.#members),
        (member, { change }) => {
          if (change === 'removed') this.#orders.gone(member as Member);
          else this.#orders.told(member as Member);
          return { queue: 'clusters', key: CLUSTER };
        },
        queues,
      ),
    ]);
  }

  #reflect<T extends Resource, O extends T & KubeObject>(client: ResourceApi<O>, cache: ResourceCache<T>) {
    return new Reflector<T>(this.#life.ports, {
      source: this.#sample.parts.source(listWatchOf(client)),
      cache,
    }).events();
  }

  async #reconcile({ key, signal }: Work): Promise<Verdict> {
    const cached = this.#clusters.get(key) as Cluster | undefined;
    // Unknown is not absent: an empty cache that has not been filled says nothing.
    if (!cached || !this.#tasks.isSynced || !this.#members.isSynced) return cached ? requeueAfter(200) : finished;
    const cluster = this.#ledger.newest(cached);
    const tasks = (this.#tasks.byIndex('cluster', key) as readonly Task[])
      .filter((task) => isKnown(task.spec.verb) && !this.#runner.isGone(task))
      .map((task) => this.#runner.newest(task));
    const current = cluster.status?.currentOperation;
    for (const task of tasks) {
      if (!isDeleting(task) || task.metadata.uid === current?.trigger.uid) continue;
      await this.#runner.turn(refOf(task), task, { signal }); // deleted while it waited: nothing to exclude
    }
    const observed = this.#observed(key);
    if (this.#sample.through === 'members' && observed.known) {
      await adjustMembers(this.#client.members, this.#members, observed.value, signal);
    }
    const candidates = this.#sample.parts.order(candidatesOf(cluster, tasks, observed));
    const turn = await operationTurn(this.#ledger, cluster, candidates, (todo) => this.#operate(key, todo), signal);
    return verdictOf(turn);
  }

  async #operate(key: string, { operation, mustYield, signal }: OperationWork): Promise<OperationTurn> {
    const { kind, name, uid } = operation.trigger;
    if (kind === 'Cluster') return this.#resize(key, signal);
    const cached = this.#tasks.get(`${NAMESPACE}/${name}`) as Task | undefined;
    const turn = await this.#runner.turn({ namespace: NAMESPACE, name, uid }, cached, { mustYield, signal });
    this.#life.passes(turn.state === 'ended' ? `task ${turn.outcome}` : `task ${turn.state}`);
    return turn;
  }

  /** One command, or the note that the size is reached. What follows is decided by the next look at the world. */
  async #resize(key: string, signal: AbortSignal): Promise<OperationTurn> {
    const cluster = this.#ledger.newest(this.#clusters.get(key) as Cluster);
    const { clock } = this.#life.ports;
    const plan = planTopology(cluster.spec.replicas, this.#observed(key), clock.now());
    const [command] = plan.commands;
    if (command) await this.#changes.change(key, () => this.#executor.start(command, signal));
    if (command || plan.waitingFor) {
      this.#observers.nudge(key);
      return { state: 'running', wakeAt: plan.wakeAt ?? clock.now() + 5_000 };
    }
    const status = { ...cluster.status, replicas: cluster.spec.replicas };
    const write = this.#client.clusters.update({ ...cluster, status } as never, { subresource: 'status', signal });
    const result = await this.#changes.change(key, () => written(write));
    if (!result.written) return { state: 'running', wakeAt: clock.now() };
    this.#clusters.wrote(result.object);
    return { state: 'ended', outcome: 'done' };
  }

  /** A task that nobody knows: its status is all there is to write, and no lock is needed for that. */
  async #reject({ key, signal }: Work): Promise<Verdict> {
    const task = this.#tasks.get(key) as Task | undefined;
    if (!task) return finished;
    const turn = await this.#runner.turn(refOf(task), task, { signal });
    return turn.state === 'ended' ? finished : retry;
  }

  /** What was seen last, if nothing was changed since. */
  #observed(key: string): Knowledge<readonly SeenPod[]> {
    const seen = this.#seen.get(key);
    if (!seen) return unknown('not looked yet');
    return this.#changes.isCurrent(seen.look) ? known(seen.pods) : unknown('changed since it was looked at');
  }

  #definitionOf(task: Task): TaskDefinition<Task, Step> | undefined {
    return definitionOf(task, {
      members: async () => this.#observed(`${NAMESPACE}/${task.spec.cluster}`),
      place: (member) => this.#sample.parts.executor(this.#place(task, member)),
      begin: (held) => this.#sample.hold(this.#life.process, held),
    });
  }

  /** Where the steps of a pod run: here, or in its agent. */
  #place(task: Task, { name, uid }: SeenPod): Executor<Step> {
    if (this.#sample.through === 'members') {
      return this.#orders.executor({ namespace: NAMESPACE, name, podUid: uid });
    }
    return {
      start: (command, signal) => this.#executor.start(command, signal),
      // Nothing of an earlier life runs here, but what it sent may still be on its way.
      withdraw: () =>
        surely(this.#context, () =>
          this.#life.effect('pod.withdraw', {
            detail: name,
            latencyMs: 1,
            apply: () => this.#sample.world.stop(this.#context.speaker, name, uid, task.metadata.uid ?? ''),
          }),
        ),
    };
  }
}

interface Around {
  members(): Promise<Knowledge<readonly SeenPod[]>>;
  place(member: SeenPod): Executor<Step>;
  begin(held: AsyncDisposableStack): void;
}

/** What a task means; undefined: nobody knows. */
export function definitionOf(task: Task, around: Around): TaskDefinition<Task, Step> | undefined {
  const { verb } = task.spec;
  if (!isKnown(verb)) return undefined;
  return {
    class: verb === 'clean' ? 'sequential' : 'parallel',
    members: () => around.members(),
    step: (_task, { name, uid }) => ({ type: verb, task: task.metadata.uid ?? '', pod: name, uid, why: 'asked for' }),
    executor: (_task, member) => around.place(member),
    begin: (_task, held) => around.begin(held),
  };
}

export function isKnown(verb: string): verb is Step['type'] {
  return verb === 'clean' || verb === 'snapshot';
}

export function refOf({ metadata }: Task) {
  return { namespace: NAMESPACE, name: metadata.name, uid: metadata.uid ?? '' };
}

export function verdictOf(turn: ClusterTurn): Verdict {
  if (turn.state === 'again') return again;
  if (turn.state === 'resting' || turn.wakeAt === undefined) return finished;
  return wakeAt(turn.wakeAt);
}
