import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Executor } from '@reeve/runtime';
import { constantRandom, seededRandom, settled, VirtualClock } from '@reeve/runtime/testing';
import type { RedisCommand } from '../api/commands.ts';
import { modelPort } from '../../tests/model-port.ts';
import { RedisClusterModel } from '@reeve/simulation/redis';
import { OperationRuns } from './operation-runs.ts';
import { createOperation } from '../plan/create.ts';
import { propose } from './run.ts';

/** Six empty servers, and a creation whose first commands never end. */
async function scene() {
  const clock = new VirtualClock();
  const model = new RedisClusterModel({ random: seededRandom(1), now: () => clock.now(), flavour: 'valkey9' });
  const seeds = [1, 2, 3].map((at) => {
    const { host, port } = model.addServer({ host: `10.0.0.${at}`, port: 6379 });
    return { host, port };
  });
  const ended = Promise.withResolvers<{ readonly status: 'done' }>();
  let begun = 0;
  const executor: Executor<RedisCommand> = {
    start: () => {
      begun++;
      return ended.promise;
    },
  };
  const files = { read: unused, write: unused, append: unused, remove: unused };
  const ports = { clock, random: constantRandom(0.5), ids: { next: () => 'id' }, files };
  const environment = { redis: modelPort(model), ports, executor, seeds };
  const request = { endpoints: seeds, primaries: 3, replicasPerPrimary: 0, spreadBy: [] };
  const proposal = await propose(createOperation, request, { ...environment, signal: new AbortController().signal });
  assert.ok('decided' in proposal, JSON.stringify(proposal));
  const operation = { id: 'one', kind: 'create', goal: proposal.decided.goal };
  return { clock, environment, operation, end: () => ended.resolve({ status: 'done' }), begun: () => begun };
}

function unused(): never {
  throw new Error('nobody needs files here');
}

test('what does not end is not waited for: it is told so, and nothing else begins before it has ended', async () => {
  const { clock, environment, operation, end, begun } = await scene();
  const woken: string[] = [];
  await using runs = new OperationRuns((key) => woken.push(key), clock);
  runs.start('c', operation, environment);
  while (begun() === 0) await settled();
  const stopping = runs.stop('c', 'superseded');
  await clock.advance(6_000);
  assert.equal(await stopping, false);
  runs.start('c', { ...operation, id: 'two' }, environment);
  assert.equal(runs.of('c')?.id, 'one');
  end();
  await clock.advance(1_000);
  assert.deepEqual([runs.of('c'), woken], [undefined, ['c']]);
  assert.equal(await runs.stop('c', 'superseded'), true);
  runs.start('c', { ...operation, id: 'two' }, environment);
  assert.equal(runs.of('c')?.id, 'two');
});
