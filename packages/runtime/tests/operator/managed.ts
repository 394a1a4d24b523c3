/**
 * The sample operator as a controller of a manager, in two replicas: plans, handlers, ledger and tasks are the same; reflectors,
 * caches, queues, workers, statuses and terms are the manager's.
 */
import { type KubeObject, resource, type Stored, type Transport } from '@reeve/kube';
import {
  type DeepReadonly,
  type Executor,
  finalizerHold,
  isDeleting,
  known,
  Ledger,
  localExecutor,
  operationTurn,
  type OperationTurn,
  type OperationWork,
  retry,
  finished,
  TaskRunner,
  type Verdict,
} from '@reeve/runtime';
import {
  byImpersonation,
  Controller,
  FENCE_EXTRA,
  installFence,
  leases,
  Manager,
  type Parts as ControllerParts,
  type Reconcile,
  type Reflection,
  type TermContext,
} from '@reeve/runtime/manager';
import type { Incarnation, Process } from '@reeve/simulation';
import { type ApiWorld, simulatedTransport } from '@reeve/simulation/api';
import {
  CLUSTER,
  type Cluster,
  clusters,
  FINALIZER,
  NAMESPACE,
  type SampleCommand,
  type Step,
  type Task,
  tasks,
} from './api.ts';
import { type Context, handlers, surely } from './handlers.ts';
import { definitionOf, isKnown, refOf, verdictOf } from './operator.ts';
import { candidatesOf, planTopology, type SeenPod } from './plan.ts';
import type { Sample } from './scenario.ts';

type ClusterObject = Cluster & KubeObject;
type TaskObject = Task & KubeObject;

const LEASE = { namespace: NAMESPACE, name: 'operator' };
const USER = { username: 'operator' };
export const carrier = byImpersonation(USER);

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
const configMaps = resource<ConfigMap>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});

/** All kinds that the operator writes. */
export const fencedRules = [
  { apiGroups: ['sample.dev'], resources: ['clusters', 'clusters/status', 'tasks', 'tasks/status'] },
  { apiGroups: [''], resources: ['configmaps'] },
];

export function putUpFence(api: ApiWorld, rules: typeof fencedRules): Promise<void> {
  return installFence(api.client, { name: 'operator', lease: LEASE, ...USER, rules }, carrier);
}

/** The term that the Lease names, as writes say theirs. */
export function termOf(api: ApiWorld): string {
  const { spec } =
    api.find<{ spec?: { leaseTransitions?: number; holderIdentity?: string } }>(
      'leases.coordination.k8s.io',
      LEASE.namespace,
      LEASE.name,
    ) ?? {};
  return `${spec?.leaseTransitions}/${spec?.holderIdentity}`;
}

/** The lease is given to whoever comes first, as if its holder had slept for long: it goes on until it hears of it. */
export function takeLease(api: ApiWorld): void {
  const spec = { holderIdentity: '', leaseDurationSeconds: 1 };
  void api.client.resource(leases, LEASE.namespace).patch(LEASE.name, { type: 'merge', value: { spec } });
}

const LATE_MS = 6_000;

/** The way to the server. Now and then a write stands still between the last look at the term and the socket, until another leads. */
function wireOf(life: Incarnation, sample: Sample): Transport {
  const wire = simulatedTransport(sample.api, life);
  return async (request) => {
    const isWrite =
      request.headers?.[`impersonate-extra-${FENCE_EXTRA}`] !== undefined && !request.path.includes('dryRun=');
    if (!isWrite || !sample.isNextWriteLate) return wire(request);
    sample.isNextWriteLate = false;
    takeLease(sample.api);
    await life.ports.clock.sleep(LATE_MS);
    const { signal: _heardTooLate, ...sent } = request;
    return wire(sent);
  };
}

/** One of the two. It is told to stop now and then, and comes back. */
export function replica(sample: Sample, name: string): Process {
  return {
    name,
    background: true,
    restartAfterMs: 2_000,
    async run(life) {
      sample.held.delete(name);
      for (;;) {
        const stop = new AbortController();
        sample.stops.set(name, () => stop.abort());
        const manager = new Manager(life.ports, {
          name: 'operator',
          transport: wireOf(life, sample),
          // The same name in every life: a restarted process takes its own lease at once, in a term of its own.
          election: { ...LEASE, identity: name, leaseMs: 9_000, renewMs: 6_000, retryMs: 2_000 },
          fencing: { carrier, settleMs: 0, lookMs: 300 },
          log: (message, fields) => life.say(`${message} ${JSON.stringify(fields)}`),
        }).add(new SampleController(life, sample));
        try {
          await manager.run(stop.signal);
        } catch (error) {
          if ((error as { code?: string }).code !== 'MANAGER_STUCK') throw error;
          return life.crash(); // as its own last line says: only a restart helps
        }
        life.passes('stopped in order');
        await life.ports.clock.sleep(1_000);
      }
    },
  };
}

/** What one term works with. */
interface TermWork {
  readonly ledger: Ledger<Cluster>;
  readonly runner: TaskRunner<Task, Step>;
  readonly context: Context;
  readonly executor: Executor<SampleCommand>;
}

class SampleController extends Controller<ClusterObject, readonly SeenPod[]> {
  readonly #life: Incarnation;
  readonly #sample: Sample;
  #clusters: Reflection<ClusterObject> | undefined;
  #tasks: Reflection<TaskObject> | undefined;
  #current: TermWork | undefined;

  constructor(life: Incarnation, sample: Sample) {
    super({ name: 'sample' });
    this.#life = life;
    this.#sample = sample;
  }

  override setUp(parts: ControllerParts): void {
    const queue = parts.queue('clusters');
    const misfits = parts.queue('misfits');
    const ofClusters = parts.reflect(clusters, { namespace: NAMESPACE, route: () => queue });
    const ofTasks = parts.reflect(tasks, {
      namespace: NAMESPACE,
      indexes: { cluster: ({ spec }) => [`${NAMESPACE}/${spec.cluster}`] },
      route: ({ spec, metadata }, { change }) => {
        if (change === 'removed') this.#current?.runner.forget(metadata.uid);
        return isKnown(spec.verb) ? { queue, key: `${NAMESPACE}/${spec.cluster}` } : misfits;
      },
    });
    parts.own(configMaps, ofClusters, { namespace: NAMESPACE });
    parts.observe<ClusterObject, readonly SeenPod[]>({
      of: ofClusters,
      everyMs: 5_000,
      observe: () => this.#look(),
      update: async (pods, { metadata, status }, api, signal) => {
        if (status?.seen === pods.length) return;
        const value = { status: { seen: pods.length } };
        const ofCluster = api.resource(clusters, NAMESPACE);
        await ofCluster.patch(metadata.name, { type: 'merge', value }, { subresource: 'status', signal });
      },
    });
    parts.work<ClusterObject, readonly SeenPod[]>({
      of: ofClusters,
      queues: [queue],
      reconcile: (work) => this.#reconcile(work),
    });
    parts.work({ of: ofTasks, queues: [misfits], reconcile: (work) => this.#reject(work) });
    parts.duringTerm((term) => this.#begin(term));
    this.#clusters = ofClusters;
    this.#tasks = ofTasks;
  }

  #begin({ api, term, queues }: TermContext): AsyncDisposable {
    const { ports } = this.#life;
    const { world } = this.#sample;
    // The number of the term is what the pods know us by: they do not see the Lease.
    const speaker = { life: this.#life, epoch: term.transitions };
    const context: Context = { world, speaker, onResize: () => this.#sample.onResize() };
    const types = ['resize', 'clean', 'snapshot'] as const;
    const ofTasks = () => api.resource(tasks, NAMESPACE) as never;
    const work: TermWork = {
      context,
      executor: localExecutor<SampleCommand, Context>(handlers, context, { types }),
      ledger: new Ledger<Cluster>(ports, {
        objects: () => api.resource(clusters, NAMESPACE) as never,
        wrote: (cluster) => this.#clusters?.cache.wrote(cluster as never),
      }),
      runner: new TaskRunner<Task, Step>(ports, {
        objects: ofTasks,
        hold: finalizerHold<Task>(ofTasks, FINALIZER),
        definitionOf: (task) => this.#definitionOf(task),
        wake: () => void queues.clusters?.add(CLUSTER),
        wrote: (task) => this.#tasks?.cache.wrote(task as never),
      }),
    };
    this.#current = work;
    this.#life.passes('leads');
    return {
      [Symbol.asyncDispose]: async () => {
        await work.runner[Symbol.asyncDispose]();
        this.#sample.onTermEnd(this.#life.process);
      },
    };
  }

  get #term(): TermWork {
    if (!this.#current) throw new Error('nobody leads here');
    return this.#current;
  }

  /** The pods listen to nobody older from now on. */
  #look(): Promise<readonly SeenPod[]> {
    const { speaker, world } = this.#term.context;
    return this.#life.effect('observe', { apply: () => world.look(speaker), latencyMs: 1 });
  }

  async #reconcile(work: Reconcile<ClusterObject, readonly SeenPod[]>): Promise<Verdict> {
    const { key, object, signal } = work;
    const { ledger, runner } = this.#term;
    const { replicas } = object.spec;
    await work.apply(configMaps, { metadata: { name: 'c' }, data: { replicas: String(replicas) } });
    const cluster = ledger.newest(object as unknown as Cluster);
    const cached = (this.#tasks?.cache.byIndex('cluster', key) ?? []) as readonly DeepReadonly<Stored<TaskObject>>[];
    const ofCluster = (cached as unknown as readonly Task[])
      .filter((task) => isKnown(task.spec.verb) && !runner.isGone(task))
      .map((task) => runner.newest(task));
    for (const task of ofCluster) {
      if (!isDeleting(task) || task.metadata.uid === cluster.status?.currentOperation?.trigger.uid) continue;
      await runner.turn(refOf(task), task, { signal });
    }
    const pods = work.observed.known ? work.observed.value : await this.#look();
    const candidates = candidatesOf(cluster, ofCluster, known(pods));
    const operate = (todo: OperationWork) => this.#operate(work, pods, todo);
    return verdictOf(await operationTurn(ledger, cluster, candidates, operate, signal));
  }

  async #operate(
    work: Reconcile<ClusterObject, readonly SeenPod[]>,
    pods: readonly SeenPod[],
    { operation, mustYield, signal }: OperationWork,
  ): Promise<OperationTurn> {
    const { kind, name, uid } = operation.trigger;
    if (kind === 'Cluster') return this.#resize(work, pods, signal);
    const cached = this.#tasks?.cache.get(`${NAMESPACE}/${name}`) as unknown as Task | undefined;
    const turn = await this.#term.runner.turn({ namespace: NAMESPACE, name, uid }, cached, { mustYield, signal });
    this.#life.passes(turn.state === 'ended' ? `task ${turn.outcome}` : `task ${turn.state}`);
    return turn;
  }

  /** One command; what follows is decided by the next look. The status is the controller's: applied, and read back at once. */
  async #resize(
    { object, status, now }: Reconcile<ClusterObject, readonly SeenPod[]>,
    pods: readonly SeenPod[],
    signal: AbortSignal,
  ): Promise<OperationTurn> {
    const { replicas } = object.spec;
    const [command] = planTopology(replicas, known(pods), now()).commands;
    if (command) {
      await this.#term.executor.start(command, signal);
      return { state: 'running', wakeAt: now() };
    }
    await status({ replicas });
    return { state: 'ended', outcome: 'done' };
  }

  async #reject({ object, signal }: Reconcile<TaskObject>): Promise<Verdict> {
    const task = object as unknown as Task;
    const turn = await this.#term.runner.turn(refOf(task), task, { signal });
    return turn.state === 'ended' ? finished : retry;
  }

  #definitionOf(task: Task) {
    return definitionOf(task, {
      members: async () => known(await this.#look()),
      place: (member) => this.#place(task, member),
      begin: (held) => this.#sample.hold(this.#life.process, held),
    });
  }

  #place(task: Task, { name, uid }: SeenPod): Executor<Step> {
    const { executor, context } = this.#term;
    return {
      start: (command, signal) => executor.start(command, signal),
      // Of an earlier term, or of the other replica: what it sent may still be on its way.
      withdraw: () =>
        surely(context, () =>
          this.#life.effect('pod.withdraw', {
            detail: name,
            latencyMs: 1,
            apply: () => context.world.stop(context.speaker, name, uid, task.metadata.uid ?? ''),
          }),
        ),
    };
  }
}
