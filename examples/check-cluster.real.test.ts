import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Cluster, startCluster } from '@reeve/rig';
import { describeCluster } from './check-cluster.ts';

let cluster: Cluster;
before(async () => {
  cluster = await startCluster({ product: 'valkey', primaries: 3 });
});
after(() => cluster?.stop());

test('the example describes a cluster and says that there is nothing to rebalance', async () => {
  const text = await describeCluster((cluster.servers[0] as Cluster['servers'][number]).endpoint);
  assert.equal(text.match(/^[0-9a-f]{8} .* primary /gm)?.length, 3);
  assert.doesNotMatch(text, /^broken|^degraded/m);
  assert.match(text, /Nothing to do/);
});
