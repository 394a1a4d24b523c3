import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeClient } from '@reeve/kube';
import { EPOCH_MS, type Incarnation, type Scenario, simulate } from '@reeve/simulation';
import { ApiModel, ApiServer, simulated } from '@reeve/simulation/api';
import { cleanupTasks, type Database, runCleanups } from './task-with-cancel.ts';

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
async function run(person: (life: Incarnation, model: ApiModel, crash: () => void) => Promise<void>) {
  const log: string[] = [];
  const clean = new Set<string>();
  let model: ApiModel | undefined;
  const scenario: Scenario = {
    name: 'task-with-cancel',
    build(simulation) {
      const api = new ApiModel([cleanupTasks], () => EPOCH_MS + simulation.elapsed);
      model = api;
      const server = new ApiServer(api);
      const metadata = { name: 'nightly', namespace: 'ns' };
      api.create('cleanuptasks', 'ns/nightly', { metadata, spec: { pods: ['db-0', 'db-1', 'db-2'] } });
      return {
        faults: { kinds: [] },
        processes: [
          {
            name: 'operator',
            background: true,
            run: (life) => {
              const { clock, random } = life.ports;
              const client = new KubeClient({ transport: server.transport(simulated(life)), clock, random });
              return runCleanups(client, database(life, clean, log), life.ports, new AbortController().signal);
            },
          },
          { name: 'person', run: (life) => person(life, api, () => simulation.crash('operator')) },
        ],
      };
    },
  };
  const { failure } = await simulate(scenario, { seed: 1 });
  assert.equal(failure, undefined);
  return { log, clean: [...clean], task: model?.find('cleanuptasks', 'ns/nightly') };
}

test('a task cleans its pods one after the other', async () => {
  const { log, task } = await run((life) => life.ports.clock.sleep(60_000));
  assert.deepEqual(log, ['cleaning db-0', 'cleaning db-1', 'cleaning db-2']);
  assert.equal((task?.status as { phase: string } | undefined)?.phase, 'Succeeded');
});

test('deleting the task stops it in the middle and waits for that', async () => {
  const { log, clean, task } = await run(async (life, model) => {
    await life.ports.clock.sleep(15_000);
    model.delete('cleanuptasks', 'ns/nightly');
    await life.ports.clock.sleep(500);
    assert.ok(model.find('cleanuptasks', 'ns/nightly'), 'it stays until the step has stopped');
    await life.ports.clock.sleep(10_000);
  });
  assert.deepEqual(log, ['cleaning db-0', 'cleaning db-1', 'stopped db-1']);
  assert.deepEqual(clean, ['db-0']);
  assert.equal(task, undefined);
});

test('deleted while the operator was down, it is cancelled all the same; not deleted, it goes on where it was', async () => {
  const cancelled = await run(async (life, model, crash) => {
    await life.ports.clock.sleep(15_000);
    crash();
    model.delete('cleanuptasks', 'ns/nightly');
    await life.ports.clock.sleep(20_000);
  });
  assert.deepEqual(cancelled.log, ['cleaning db-0', 'cleaning db-1']);
  assert.equal(cancelled.task, undefined);
  const resumed = await run(async (life, _model, crash) => {
    await life.ports.clock.sleep(15_000);
    crash();
    await life.ports.clock.sleep(60_000);
  });
  assert.deepEqual(resumed.log, ['cleaning db-0', 'cleaning db-1', 'cleaning db-1', 'cleaning db-2']);
});
