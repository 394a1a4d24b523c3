import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClusterView, checkCluster } from '@reeve/redis';
import { settle } from '../src/redis/settle.ts';
import { Harness } from './harness.ts';

/** The view of a formed cluster, and one in which two primaries have the same epoch. */
async function views(): Promise<{ harness: Harness; sound: ClusterView; colliding: ClusterView }> {
  const harness = new Harness();
  const [address = ''] = harness.formCluster(3);
  const sound = await harness.view(address);
  const nodes = sound.nodes.map((node) =>
    node.report.known
      ? {
          ...node,
          report: {
            known: true as const,
            value: { ...node.report.value, self: { ...node.report.value.self, configEpoch: 9 } },
          },
        }
      : node,
  );
  return { harness, sound, colliding: { ...sound, nodes } };
}

test('a sound cluster is not looked at again', async () => {
  const { harness, sound } = await views();
  const end = await settle(sound, () => assert.fail('looked again'), harness.clock, new AbortController().signal);
  assert.equal(end, sound);
});

test('what servers settle by themselves is waited for', async () => {
  const { harness, sound, colliding } = await views();
  assert.ok(checkCluster(colliding).some(({ code }) => code === 'EPOCH_COLLISION'));
  let looks = 0;
  const look = async () => (++looks < 3 ? colliding : sound);
  assert.equal(await settle(colliding, look, harness.clock, new AbortController().signal), sound);
  assert.equal(looks, 3);
});

test('but not for ever, and not after Ctrl-C', async () => {
  const { harness, colliding } = await views();
  const started = harness.clock.now();
  await settle(colliding, async () => colliding, harness.clock, new AbortController().signal);
  assert.ok(harness.clock.now() - started >= 10_000);
  const stopped = AbortSignal.abort(new Error('stop'));
  assert.equal(await settle(colliding, () => assert.fail('looked again'), harness.clock, stopped), colliding);
});
