import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prng } from '@reeve/simulation';
import { type ModelServer, RedisClusterModel } from '@reeve/simulation/redis';
import { modelPort } from '../../tests/model-port.ts';
import { bumpEpochHandler } from './bump-epoch.ts';
import { redisContext } from './context.ts';

test('of two primaries that took one epoch and do not hear each other, one gets another', async () => {
  const model = new RedisClusterModel({ random: prng(1), flavour: 'valkey9' });
  const [a, b, c] = [7001, 7002, 7003].map((port) => model.addServer({ host: '127.0.0.1', port })) as [
    ModelServer,
    ModelServer,
    ModelServer,
  ];
  for (const [index, { endpoint }] of [a, b, c].entries()) {
    model.execute(endpoint, ['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)]);
  }
  for (const server of [b, c]) model.execute(a.endpoint, ['CLUSTER', 'MEET', server.host, String(server.port)]);
  model.advance(5_000);
  model.partition(a, b);
  for (const server of [a, b]) model.execute(server.endpoint, ['CLUSTER', 'BUMPEPOCH']);
  const epoch = a.self.configEpoch;
  assert.equal(b.self.configEpoch, epoch);
  model.advance(3_000);
  model.execute(c.endpoint, ['CLUSTER', 'BUMPEPOCH']);
  model.advance(3_000);
  assert.equal(b.self.configEpoch, epoch, 'they cannot settle it');

  const never = { now: () => 0, sleep: () => Promise.reject(new Error('nothing to wait for')) };
  const context = redisContext(modelPort(model), { clock: never, random: prng(1) });
  const node = { id: a.id, endpoint: { host: a.host, port: a.port } };
  const run = () =>
    bumpEpochHandler.run({ type: 'bump-epoch', node, epoch, why: 'test' }, context, new AbortController().signal);
  assert.deepEqual(await run(), { status: 'done' });
  const own = a.self.configEpoch;
  assert.ok(own > c.self.configEpoch, `${own}`);
  assert.deepEqual(await run(), { status: 'done' });
  assert.equal(a.self.configEpoch, own, 'once is enough');
});
