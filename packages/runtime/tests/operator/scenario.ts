/** The sample operator in a world where everything can go wrong. */
import type { Resource as KubeKind, KubeObject } from '@reeve/kube';
import {
  type Candidate,
  type Executor,
  isEnded,
  type KubeResource,
  type ListWatch,
  type Resource,
  type TaskHold,
} from '@reeve/runtime';
import { type Process, type Scenario, type Simulation, Violation, type WorldEvent } from '@reeve/simulation';
import { ApiWorld } from '@reeve/simulation/api';
import {
  CLUSTERS,
  type Cluster,
  clusters,
  MEMBERS,
  NAMESPACE,
  type Step,
  snapshot,
  TASKS,
  type Task,
  tasks,
} from './api.ts';
import { Checks } from './checks.ts';
import { fencedRules, putUpFence, replica, takeLease } from './managed.ts';
import { agentProcess } from './members.ts';
import { Operator } from './operator.ts';
import { PodWorld } from './world.ts';

/** What the operator is made of. A planted bug replaces one of them. */
export interface Parts {
  hold(hold: TaskHold<Task>): TaskHold<Task>;
  executor(executor: Executor<Step>): Executor<Step>;
  order(candidates: readonly Candidate[]): readonly Candidate[];
  source<T extends Resource>(source: ListWatch<T>): ListWatch<T>;
}

export const soundParts: Parts = {
  hold: (hold) => hold,
  executor: (executor) => executor,
  order: (candidates) => candidates,
  source: (source) => source,
};

/** Where the steps of tasks run. */
export type Through = 'process' | 'members' | 'managers';

export interface Sample {
  readonly api: ApiWorld;
  readonly world: PodWorld;
  readonly through: Through;
  readonly parts: Parts;
  /** How many running tasks hold something, by process; a life begins without. */
  readonly held: Map<string, number>;
  hold(process: string, stack: AsyncDisposableStack): void;
  /** How a replica is told to end in order. */
  readonly stops: Map<string, () => void>;
  /** The next write of a leader stands still until another leads. */
  isNextWriteLate: boolean;
  /** Nothing of a term goes on. */
  onTermEnd(process: string): void;
  onResize(): void;
}

export interface SampleOptions {
  readonly parts?: Parts;
  /** Only what the operator does wrong by itself: pods stay, nobody changes their mind. */
  readonly quiet?: boolean;
  readonly onEnd?: (checks: Checks) => void;
  /** What the fence in the server covers. Default: all that the operator writes. */
  readonly fenced?: typeof fencedRules;
}

const MOST_PODS = 4;
const REPLICAS = ['one', 'two'];

export function sampleScenario(through: Through, options: SampleOptions = {}): Scenario {
  return {
    name: `operator-${through}`,
    effects: through === 'members' ? 600 : through === 'managers' ? 400 : 200,
    async build(simulation) {
      // Thrown inside an effect it would be taken for a refusal of the world.
      const strictly = (check: () => void) => {
        try {
          check();
        } catch (error) {
          simulation.fail(error instanceof Violation ? error.rule : 'CHECK', String(error));
        }
      };
      const world = new PodWorld((rule, message) => simulation.fail(rule, message));
      const checks = new Checks(world, through, (landmark) => simulation.environment.passes(landmark));
      const api = await ApiWorld.open({
        clock: simulation.environment.ports.clock,
        random: simulation.random(),
        snapshot: await snapshot,
        follow: [CLUSTERS, TASKS, MEMBERS],
        onWrite: (write) => strictly(() => checks.onWrite(write)),
        onServed: (request, status) => strictly(() => checks.onServed(request, status)),
        onError: (error) => simulation.fail('SERVER', error instanceof Error ? String(error.stack) : String(error)),
      });
      checks.api = api;
      const parts = options.parts ?? soundParts;
      const sample: Sample = {
        api,
        world,
        through,
        parts,
        held: new Map(),
        hold(process, stack) {
          const add = (count: number) => sample.held.set(process, (sample.held.get(process) ?? 0) + count);
          add(1);
          stack.defer(() => void add(-1));
        },
        stops: new Map(),
        isNextWriteLate: false,
        onTermEnd: (process) => strictly(() => checks.termEnded(process, sample.held.get(process) ?? 0)),
        onResize: () => strictly(() => checks.resized()),
      };
      const operator: Process = {
        name: 'operator',
        background: true,
        restartAfterMs: 2_000, // long enough for things to happen that nobody sees, not for a step to end
        run: (life) => {
          sample.held.delete('operator');
          return new Operator(life, sample).run();
        },
      };
      const pods = Array.from({ length: MOST_PODS }, (_, i) => `pod-${i}`);
      const operators = through === 'managers' ? REPLICAS.map((name) => replica(sample, name)) : [operator];
      if (through === 'managers') await putUpFence(api, options.fenced ?? fencedRules);
      const agents = through === 'members' ? pods.map((pod) => agentProcess(sample, pod)) : [];
      const events: Events = { simulation, sample };
      return {
        processes: [...operators, ...agents, user(api, simulation, options.quiet ?? false)],
        events: () => (options.quiet ? [] : eventsOf(events)).concat(cancelsOf(simulation, api)),
        always: () => checks.always(),
        unrest: () => checks.unrest(),
        atEnd: () => {
          checks.atEnd();
          const held = [...sample.held.values()].reduce((sum, count) => sum + count, 0);
          if (held !== 0) throw new Error(`${held} tasks still hold something`);
          options.onEnd?.(checks);
        },
        faults: { most: 10, horizonMs: 45_000 },
        convergeMs: 300_000,
      };
    },
  };
}

/** Asks for a cluster, tasks, another size; deletes a task; changes its mind. It is not what is tested: nothing happens to it. */
function user(api: ApiWorld, { choices }: Simulation, isQuiet: boolean): Process {
  return {
    name: 'user',
    faults: [],
    async run(life) {
      const { clock } = life.ports;
      const act = async (detail: string, apply: () => Promise<unknown>) => {
        await life.effect('user', { detail, apply });
      };
      // Tasks of one second are told apart by their uids, which are random.
      const apart = () => clock.sleep((1 - choices.pick(2)) * 1_000);
      const ofTasks = api.client.resource(tasks, NAMESPACE);
      const ofClusters = api.client.resource(clusters, NAMESPACE);
      const create = (name: string, verb: string) =>
        act(`create ${name}`, () => ofTasks.create({ metadata: { name }, spec: { cluster: 'c', verb } } as never));
      await act('create c', () => ofClusters.create({ metadata: { name: 'c' }, spec: { replicas: 3 } } as never));
      await clock.sleep(choices.pick(3) * 7_000);
      await create('t1', 'clean');
      await apart();
      await create('t2', 'snapshot');
      await create('odd', 'dance');
      await clock.sleep(choices.pick(4) * 4_000);
      await apart();
      await create('t3', choices.pick(2) === 0 ? 'clean' : 'snapshot');
      if (!isQuiet) {
        await clock.sleep(choices.pick(8) * 1_500);
        const doomed = `t${1 + choices.pick(3)}`;
        await act(`delete ${doomed}`, async () => {
          if (api.find(TASKS, NAMESPACE, doomed)) await ofTasks.delete(doomed);
        });
        await clock.sleep(choices.pick(4) * 2_000);
        const replicas = 2 + choices.pick(3);
        await act(`resize to ${replicas}`, async () =>
          ofClusters.patch('c', { type: 'merge', value: { spec: { replicas } } }),
        );
      }
      await clock.sleep(30_000);
    },
  };
}

interface Events {
  readonly simulation: Simulation;
  readonly sample: Sample;
}

function eventsOf({ simulation, sample }: Events): readonly WorldEvent[] {
  const { api, world, through } = sample;
  const pods = [...world.pods.values()];
  return [
    { kind: 'compact', apply: () => api.compact() },
    { kind: 'end-watches', apply: () => api.endWatches() },
    { kind: 'break-watches', apply: () => api.breakWatches() },
    { kind: 'replay', apply: () => api.replay(4) },
    { kind: 'throttle', apply: () => api.throttle(3) },
    ...(through === 'managers' ? managerEvents(sample) : []),
    ...api.list<Cluster>(CLUSTERS).map((cluster) => touch(api, clusters, cluster)),
    ...api.list<Task>(TASKS).map((task) => touch(api, tasks, task)),
    ...pods.map(({ name, uid }) => ({
      kind: 'lose-pod',
      detail: name,
      apply: () => {
        world.remove(name, uid);
        if (through === 'members') simulation.crash(`agent-${name}`);
      },
    })),
  ];
}

function managerEvents(sample: Sample): readonly WorldEvent[] {
  return [
    ...[...sample.stops].map(([detail, apply]) => ({ kind: 'shut-down', detail, apply })),
    { kind: 'take-lease', apply: () => takeLease(sample.api) },
    {
      kind: 'late-write',
      apply: () => {
        sample.isNextWriteLate = true;
      },
    },
  ];
}

/** Somebody else writes the object: whoever holds its version gets a conflict. */
function touch(api: ApiWorld, kind: KubeKind<KubeObject>, { metadata }: KubeResource): WorldEvent {
  const labels = { touched: String(api.store.revision) };
  return {
    kind: 'touch',
    detail: metadata.name,
    apply: () =>
      void api.client
        .resource(kind, NAMESPACE)
        .patch(metadata.name, { type: 'merge', value: { metadata: { labels } } }),
  };
}

/** A task is deleted, at any moment; also in the moment in which the operator dies, so that nobody sees it. */
function cancelsOf(simulation: Simulation, api: ApiWorld): readonly WorldEvent[] {
  const cancel = (name: string) => void api.client.resource(tasks, NAMESPACE).delete(name);
  return [
    ...runningTasks(api).map((name) => ({ kind: `cancel-${name}`, apply: () => cancel(name) })),
    ...runningTasks(api, true).map((name) => ({
      kind: 'cancel-unseen',
      detail: name,
      apply: () => {
        for (const name of ['operator', ...REPLICAS]) simulation.crash(name);
        cancel(name);
      },
    })),
  ];
}

/** The tasks that have neither ended nor been deleted; `begun`: whose steps may be under way. */
function runningTasks(api: ApiWorld, begun = false): readonly string[] {
  return api
    .list<Task>(TASKS, NAMESPACE)
    .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && !isEnded(status))
    .filter(({ status }) => !begun || status?.pods !== undefined)
    .map(({ metadata }) => metadata.name);
}
