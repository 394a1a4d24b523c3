/**
 * A task that can be cancelled: `CleanupTask` cleans the pods of a cluster one after the other. Deleting it stops the step that
 * runs, waits for it, and leaves nothing behind, also if nobody was there when it was deleted.
 */
import { type KubeClient, type KubeObject, resource } from '@reeve/kube';
import {
  type Command,
  finalizerHold,
  finished,
  type Handler,
  known,
  listWatchOf,
  localExecutor,
  type Outcome,
  type Ports,
  Reflector,
  ResourceCache,
  routeEvents,
  TaskRunner,
  type TaskResource,
  wakeAt,
  Workers,
  WorkQueue,
} from '@reeve/runtime';

interface CleanupTask extends TaskResource {
  readonly spec: { readonly pods: readonly string[] };
}

interface Clean extends Command {
  readonly type: 'clean';
  readonly pod: string;
}

/** The data system, as far as this example needs it. */
export interface Database {
  isClean(pod: string): Promise<boolean>;
  /** Takes its time; stops, and then rejects, when the signal aborts. */
  clean(pod: string, signal: AbortSignal): Promise<void>;
}

export const cleanupTasks = resource<CleanupTask & KubeObject>({
  group: 'example.dev',
  version: 'v1',
  plural: 'cleanuptasks',
  kind: 'CleanupTask',
  namespaced: true,
});

/** Long work returns a handle; work that is done already is not done again: that is what a restart relies on. */
const clean: Handler<Clean, Database> = {
  type: 'clean',
  async run({ pod }, database, signal) {
    if (await database.isClean(pod)) return { status: 'done' };
    const settled = database.clean(pod, signal).then(
      (): Outcome => ({ status: 'done' }),
      (error: unknown): Outcome => ({ status: 'failed', code: 'CLEAN_STOPPED', message: String(error) }),
    );
    return { progress: () => undefined, settled };
  },
};

/** Runs the operator until the signal aborts. */
export async function runCleanups(
  client: KubeClient,
  database: Database,
  ports: Ports,
  signal: AbortSignal,
): Promise<void> {
  const executor = localExecutor<Clean, Database>([clean], database, { types: ['clean'] });
  const cache = new ResourceCache<CleanupTask>({ scope: { group: 'example.dev', kind: 'CleanupTask' } });
  const queue = new WorkQueue(ports, { name: 'cleanups' });
  const objects = (namespace?: string) => client.resource(cleanupTasks, namespace);
  await using runner = new TaskRunner<CleanupTask, Clean>(ports, {
    objects,
    hold: finalizerHold<CleanupTask>(objects, 'example.dev/cleanup'),
    definitionOf: () => ({
      class: 'sequential',
      members: async ({ spec }) => known(spec.pods.map((name) => ({ name, uid: name }))),
      step: (_task, { name }) => ({ type: 'clean', pod: name, why: 'asked for by a task' }),
      executor: () => executor,
    }),
    wake: ({ metadata }) => void queue.add(`${metadata.namespace}/${metadata.name}`),
    wrote: (task) => cache.wrote(task),
  });
  const workers = new Workers(ports, {
    queues: [queue],
    async reconcile({ key, signal: stop }) {
      const task = cache.get(key) as CleanupTask | undefined;
      if (!task) return finished;
      const { namespace, name, uid = '' } = task.metadata;
      const turn = await runner.turn({ namespace, name, uid }, task, { signal: stop });
      return turn.state === 'running' && turn.wakeAt !== undefined ? wakeAt(turn.wakeAt) : finished;
    },
  });
  workers.start();
  const reflector = new Reflector<CleanupTask>(ports, { source: listWatchOf(objects()), cache });
  await routeEvents(reflector.events(signal), () => 'cleanups', { cleanups: queue });
  await workers.stop();
}
