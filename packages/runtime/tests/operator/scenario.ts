/** The sample operator in a world where everything can go wrong. */
import { type Candidate, type Executor, isEnded, type TaskHold } from '@reeve/runtime';
import { EPOCH_MS, type Process, type Scenario, type Simulation, Violation, type WorldEvent } from '@reeve/simulation';
import { ApiModel, ApiServer, Refusal } from '@reeve/simulation/api';
import { CLUSTER, clusterKind, leaseKind, memberApiKind, NAMESPACE, type Step, type Task, taskKind } from './api.ts';
import { Checks } from './checks.ts';
import { agentProcess } from './members.ts';
import { Operator } from './operator.ts';
import { PodWorld } from './world.ts';

/** What the operator is made of. A planted bug replaces one of them. */
export interface Parts {
  hold(hold: TaskHold<Task>): TaskHold<Task>;
  executor(executor: Executor<Step>): Executor<Step>;
  order(candidates: readonly Candidate[]): readonly Candidate[];
}

export const soundParts: Parts = {
  hold: (hold) => hold,
  executor: (executor) => executor,
  order: (candidates) => candidates,
};

/** Where the steps of tasks run. */
export type Through = 'process' | 'members';

export interface Sample {
  readonly server: ApiServer;
  readonly world: PodWorld;
  readonly through: Through;
  readonly parts: Parts;
  /** How many running tasks hold something in a process that lives. */
  held: number;
  onResize(): void;
}

export interface SampleOptions {
  readonly parts?: Parts;
  /** Only what the operator does wrong by itself: pods stay, nobody changes their mind. */
  readonly quiet?: boolean;
  readonly onEnd?: (checks: Checks) => void;
}

const MOST_PODS = 4;

export function sampleScenario(through: Through, options: SampleOptions = {}): Scenario {
  return {
    name: `operator-${through}`,
    effects: through === 'members' ? 600 : 200,
    build(simulation) {
      let refusals = 0;
      // Thrown inside an effect it would be taken for a refusal of the world.
      const strictly = (check: () => void) => {
        try {
          check();
        } catch (error) {
          simulation.fail(error instanceof Violation ? error.rule : 'CHECK', String(error));
        }
      };
      const world = new PodWorld((rule, message) => simulation.fail(rule, message));
      const model = new ApiModel(
        [clusterKind, taskKind, memberApiKind, leaseKind],
        () => EPOCH_MS + simulation.elapsed,
      );
      const server = new ApiServer(model, {
        admit: (label) => {
          if (refusals > 0 && !label.startsWith('watch')) {
            refusals--;
            throw new Refusal(429, 'TooManyRequests', 'later');
          }
        },
      });
      const checks = new Checks(model, world);
      model.onWrite = (write) => strictly(() => checks.onWrite(write));
      const parts = options.parts ?? soundParts;
      const sample: Sample = {
        server,
        world,
        through,
        parts,
        held: 0,
        onResize: () => strictly(() => checks.resized()),
      };
      const operator: Process = {
        name: 'operator',
        background: true,
        restartAfterMs: 2_000, // long enough for things to happen that nobody sees, not for a step to end
        run: (life) => {
          sample.held = 0;
          return new Operator(life, sample).run();
        },
      };
      const pods = Array.from({ length: MOST_PODS }, (_, i) => `pod-${i}`);
      const agents = through === 'members' ? pods.map((pod) => agentProcess(sample, pod)) : [];
      const events: Events = { simulation, model, server, world, through, refuse: (count) => (refusals += count) };
      return {
        processes: [operator, ...agents, user(model, simulation, options.quiet ?? false)],
        events: () => (options.quiet ? [] : eventsOf(events)).concat(cancelsOf(simulation, model)),
        always: () => checks.always(),
        unrest: () => checks.unrest(),
        atEnd: () => {
          checks.atEnd();
          if (sample.held !== 0) throw new Error(`${sample.held} tasks still hold something`);
          options.onEnd?.(checks);
        },
        faults: { most: 10, horizonMs: 45_000 },
        convergeMs: 300_000,
      };
    },
  };
}

/** Asks for a cluster, tasks, another size; deletes a task; changes its mind. It is not what is tested: nothing happens to it. */
function user(model: ApiModel, { choices }: Simulation, isQuiet: boolean): Process {
  return {
    name: 'user',
    faults: [],
    async run(life) {
      const { clock } = life.ports;
      const act = (detail: string, apply: () => unknown) => life.effect('user', { detail, apply: () => void apply() });
      const create = (name: string, verb: string) =>
        act(`create ${name}`, () =>
          model.create('tasks', `${NAMESPACE}/${name}`, {
            metadata: { name, namespace: NAMESPACE },
            spec: { cluster: 'c', verb },
          }),
        );
      await act('create c', () =>
        model.create('clusters', CLUSTER, { metadata: { name: 'c', namespace: NAMESPACE }, spec: { replicas: 3 } }),
      );
      await clock.sleep(choices.pick(3) * 7_000);
      await create('t1', 'clean');
      await create('t2', 'snapshot');
      await create('odd', 'dance');
      await clock.sleep(choices.pick(4) * 4_000);
      await create('t3', choices.pick(2) === 0 ? 'clean' : 'snapshot');
      if (!isQuiet) {
        await clock.sleep(choices.pick(8) * 1_500);
        const doomed = `${NAMESPACE}/t${1 + choices.pick(3)}`;
        await act(`delete ${doomed}`, () => model.find('tasks', doomed) && model.delete('tasks', doomed));
        await clock.sleep(choices.pick(4) * 2_000);
        const replicas = 2 + choices.pick(3);
        await act(`resize to ${replicas}`, () =>
          model.update('clusters', CLUSTER, { ...model.get('clusters', CLUSTER), spec: { replicas } }),
        );
      }
      await clock.sleep(30_000);
    },
  };
}

interface Events {
  readonly simulation: Simulation;
  readonly model: ApiModel;
  readonly server: ApiServer;
  readonly world: PodWorld;
  readonly through: Through;
  refuse(count: number): void;
}

function eventsOf({ simulation, model, server, world, through, refuse }: Events): readonly WorldEvent[] {
  const pods = [...world.pods.values()];
  return [
    { kind: 'compact', apply: () => model.compact() },
    { kind: 'cut-watches', apply: () => server.cutStreams() },
    { kind: 'replay', apply: () => server.replay(4) },
    { kind: 'throttle', apply: () => refuse(3) },
    ...[CLUSTER].filter((key) => model.find('clusters', key)).map((key) => touch(model, 'clusters', key)),
    ...model.list('tasks', NAMESPACE).map(({ metadata }) => touch(model, 'tasks', `${NAMESPACE}/${metadata.name}`)),
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

/** Somebody else writes the object: whoever holds its version gets a conflict. */
function touch(model: ApiModel, plural: string, key: string): WorldEvent {
  return {
    kind: 'touch',
    detail: key,
    apply: () => {
      const object = model.get(plural, key);
      const labels = { ...object.metadata.labels, touched: String(model.version) };
      model.update(plural, key, { ...object, metadata: { ...object.metadata, labels } });
    },
  };
}

/** A task is deleted, at any moment; also in the moment in which the operator dies, so that nobody sees it. */
function cancelsOf(simulation: Simulation, model: ApiModel): readonly WorldEvent[] {
  const cancel = (name: string) => void model.delete('tasks', `${NAMESPACE}/${name}`);
  return [
    ...runningTasks(model).map((name) => ({ kind: `cancel-${name}`, apply: () => cancel(name) })),
    ...runningTasks(model, true).map((name) => ({
      kind: 'cancel-unseen',
      detail: name,
      apply: () => {
        simulation.crash('operator');
        cancel(name);
      },
    })),
  ];
}

/** The tasks that have neither ended nor been deleted; `begun`: whose steps may be under way. */
function runningTasks(model: ApiModel, begun = false): readonly string[] {
  const tasks = model.list('tasks', NAMESPACE) as readonly Task[];
  return tasks
    .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && !isEnded(status))
    .filter(({ status }) => !begun || status?.pods !== undefined)
    .map(({ metadata }) => metadata.name);
}
