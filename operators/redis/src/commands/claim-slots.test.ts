import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestCluster } from '../../tests/migrate/test-cluster.ts';
import type { RedisPort } from '../api/port.ts';
import { claimSlotsHandler } from './claim-slots.ts';

/** Node 3 has the latest epoch that it knows; node 0, which owns slot 4, took a later one a moment ago. */
function raised(): TestCluster {
  const cluster = new TestCluster();
  cluster.call(3, 'CLUSTER', 'BUMPEPOCH');
  cluster.pass(5_000);
  cluster.call(0, 'CLUSTER', 'BUMPEPOCH');
  return cluster;
}

async function claim(cluster: TestCluster, port?: RedisPort) {
  const [rival, first, second, owner] = [0, 1, 2, 3].map((index) => cluster.ref(index)) as [
    ReturnType<TestCluster['ref']>,
    ReturnType<TestCluster['ref']>,
    ReturnType<TestCluster['ref']>,
    ReturnType<TestCluster['ref']>,
  ];
  const command = { owner, slots: '4', releaseFrom: [rival], others: [first, second] };
  return claimSlotsHandler.run(
    { type: 'claim-slots', why: 'test', ...command },
    cluster.context(port),
    new AbortController().signal,
  );
}

test('slots are claimed by a later epoch than that of the node that gave them up, as soon as the owner has heard of it', async () => {
  const cluster = raised();
  assert.deepEqual(await claim(cluster), { status: 'done' });
  assert.equal(cluster.owns(3, 4), true);
  const [rival, owner] = [cluster.servers[0], cluster.servers[3]];
  assert.ok((owner?.self.configEpoch ?? 0) > (rival?.self.configEpoch ?? 0));
});

test('an owner that hears of no later epoch is reported', async () => {
  const cluster = raised();
  const port = cluster.watched(() => undefined);
  const own = cluster.servers[3]?.self.configEpoch;
  const deaf: RedisPort = {
    ...port,
    call: async (endpoint, args, options) => {
      const text = args.join(' ');
      if (text === 'CLUSTER BUMPEPOCH') return `STILL ${own}`;
      const reply = await port.call(endpoint, args, options);
      return endpoint.port === 7004 && text === 'CLUSTER INFO'
        ? String(reply).replace(/(cluster_(?:my|current)_epoch):\d+/g, `$1:${own}`)
        : reply;
    },
  };
  const outcome = await claim(cluster, deaf);
  assert.ok('status' in outcome && outcome.status === 'failed');
  assert.equal(outcome.code, 'EPOCH_NOT_HEARD');
  const believed = cluster.servers.map((server) => server.ownerOf(4)?.id);
  assert.deepEqual(new Set(believed), new Set([cluster.ref(3).id]), 'the others were told before the wait');
});
