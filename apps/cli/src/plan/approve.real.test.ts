/** A declared cluster of real servers that a person creates: planned, shown, approved by its name. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { redisClusters } from '@reeve/redis';
import { REEVE, run, until } from '@reeve/rig';
import { Machine } from '../up/plane-testing.ts';

const PATIENCE = { timeoutMs: 120_000 };

const declared = (primaries: number) => `apiVersion: redis.reeve.dev/v1alpha1
kind: RedisCluster
metadata: { name: cache }
spec: { primaries: ${primaries}, replicasPerPrimary: 0, creation: manual, config: { cluster-node-timeout: "2000" } }
`;

test('reeve plan and reeve redis create NAME on reeve up', async (t) => {
  const machine = Machine.start(t);
  await machine.up();
  const kubeconfig = ['--kubeconfig', join(machine.data, 'kubeconfig')];
  const reeve = (args: readonly string[], input = '') =>
    run(process.execPath, [REEVE, ...args, ...kubeconfig], { timeoutMs: 60_000, input });
  const ok = async (args: readonly string[], input = ''): Promise<string> => {
    const { code, stdout, stderr } = await reeve(args, input);
    assert.equal(code, 0, `reeve ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };
  const client = await machine.client();
  const status = async () => (await client.resource(redisClusters, 'default').get('cache')).status ?? {};

  assert.match(await ok(['plan', '-f', '-'], declared(3)), /StatefulSet cache would be created/);
  assert.equal(await client.resource(redisClusters, 'default').find('cache'), undefined);
  await ok(['apply', '-f', '-'], declared(3));
  const digest = await until('it proposes', async () => (await status()).proposal?.digest, PATIENCE);
  const planned = await ok(['plan', 'rediscluster/cache']);
  assert.ok(planned.includes(`create, plan ${digest}, which waits for an approval`), planned);
  const wrong = await reeve(['redis', 'create', 'cache', '--approve', 'v1-0']);
  assert.equal(wrong.code, 3);
  assert.match(wrong.stderr, /\[PLAN_STALE\]/);
  assert.match(await ok(['redis', 'create', 'cache', '--yes']), new RegExp(`Plan ${digest}: create\n[^]*Approved`));
  await until('it runs', async () => (await status()).phase === 'Running', PATIENCE);
  await until(
    'nothing is to be done',
    async () => (await ok(['plan', 'rdc/cache'])).startsWith('RedisCluster cache: nothing is begun next\n'),
    PATIENCE,
  );
  const again = await reeve(['redis', 'create', 'cache', '--yes']);
  assert.equal(again.code, 3);
  assert.match(again.stderr, /it is Running.*\[NO_PROPOSAL\]/);
  const grown = await ok(['plan', '-f', '-'], declared(4));
  assert.match(grown, /StatefulSet cache would be changed/);
  assert.match(grown, /3 of 4 pods are there/);
  assert.equal((await status()).primaries, 3);
  const double = await reeve(['run']);
  assert.equal(double.code, 3);
  assert.match(double.stderr, /\[OPERATORS_RUN\]/);
});
