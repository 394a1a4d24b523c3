import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeClient } from '@reeve/kube';
import { crdOf, kind, schema } from '@reeve/runtime';
import { type Incarnation, type Scenario, simulate } from '@reeve/simulation';
import { type ApiObject, ApiWorld, simulatedTransport, snapshotOf } from '@reeve/simulation/api';
import { cleanupTasks, type Database, runCleanups } from './task-with-cancel.ts';

const definition = crdOf(
  kind({
    ...cleanupTasks,
    spec: schema.object({ pods: schema.list(schema.text(), { maxItems: 100 }) }),
    status: schema.anything(),
  }),
);
const snapshot = snapshotOf({ namespaces: ['ns'], definitions: [definition] });

/** What a person can do, and see. */
interface Person {
  delete(): Promise<unknown>;
  find(): ApiObject | undefined;
  /** Kills the operator; it is started again a second later. */
  crash(): void;
}

/** Cleaning a pod takes ten seconds of virtual time; stopping it takes one. */
function database(life: Incarnation, clean: Set<string>, log: string[]): Database {
  const { clock } = life.ports;
  return {
    isClean: async (pod) => clean.has(pod),
    async clean(pod, signal) {
      log.push(`cleaning ${pod}`);
      try {
        await clock.sleep(10_000, signal);
      } catch (error) {
        await clock.sleep(1_000);
        log.push(`stopped ${pod}`);
        throw error;
      }
      clean.add(pod);
    },
  };
}

/** A task for three pods; a person acts on it. Returns what the data system did. */
async function run(act: (life: Incarnation, person: Person) => Promise<void>) {
  const log: string[] = [];
  const clean = new Set<string>();
  let find: Person['find'] = () => undefined;
  const scenario: Scenario = {
    name: 'task-with-cancel',
    async build(simulation) {
      const { clock } = simulation.environment.ports;
      const api = await ApiWorld.open({ clock, random: simulation.random(), snapshot: await snapshot });
      const tasks = api.client.resource(cleanupTasks, 'ns');
      await tasks.create({ metadata: { name: 'nightly' }, spec: { pods: ['db-0', 'db-1', 'db-2'] } });
      find = () => api.find('cleanuptasks.example.dev', 'ns', 'nightly');
      const person = { find, delete: () => tasks.delete('nightly'), crash: () => simulation.crash('operator') };
      return {
        faults: { kinds: [] },
        processes: [
          {
            name: 'operator',
            background: true,
            run: (life) => {
              const client = new KubeClient({ ...life.ports, transport: simulatedTransport(api, life) });
              return runCleanups(client, database(life, clean, log), life.ports, new AbortController().signal);
            },
          },
          { name: 'person', run: (life) => act(life, person) },
        ],
      };
    },
  };
  const { failure } = await simulate(scenario, { seed: 1 });
  assert.equal(failure, undefined);
  return { log, clean: [...clean], task: find() };
}

test('a task cleans its pods one after the other', async () => {
  const { log, task } = await run((life) => life.ports.clock.sleep(60_000));
  assert.deepEqual(log, ['cleaning db-0', 'cleaning db-1', 'cleaning db-2']);
  assert.equal((task?.status as { phase: string } | undefined)?.phase, 'Succeeded');
});

test('deleting the task stops it in the middle and waits for that', async () => {
  const { log, clean, task } = await run(async (life, person) => {
    await life.ports.clock.sleep(15_000);
    await person.delete();
    await life.ports.clock.sleep(500);
    assert.ok(person.find(), 'it stays until the step has stopped');
    await life.ports.clock.sleep(10_000);
  });
  assert.deepEqual(log, ['cleaning db-0', 'cleaning db-1', 'stopped db-1']);
  assert.deepEqual(clean, ['db-0']);
  assert.equal(task, undefined);
});

test('deleted while the operator was down, it is cancelled all the same; not deleted, it goes on where it was', async () => {
  const cancelled = await run(async (life, person) => {
    await life.ports.clock.sleep(15_000);
    person.crash();
    await person.delete();
    await life.ports.clock.sleep(20_000);
  });
  assert.deepEqual(cancelled.log, ['cleaning db-0', 'cleaning db-1']);
  assert.equal(cancelled.task, undefined);
  const resumed = await run(async (life, person) => {
    await life.ports.clock.sleep(15_000);
    person.crash();
    await life.ports.clock.sleep(60_000);
  });
  assert.deepEqual(resumed.log, ['cleaning db-0', 'cleaning db-1', 'cleaning db-1', 'cleaning db-2']);
});
