import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCluster, isClean, observeCluster } from '@reeve/redis';
import { hostOf, SimulatedNodes, workerOf } from './nodes.ts';

const clock = { now: () => 0, sleep: () => Promise.resolve() };
const COUNT = 30;

test('simulated nodes are one sound cluster, whoever is asked', async () => {
  const nodes = new SimulatedNodes(COUNT);
  const places = { count: COUNT, zones: 3, workers: 6 };
  const indexOf = new Map(Array.from({ length: COUNT }, (_, index) => [hostOf(index), index]));
  const annotations = ({ host }: { readonly host: string }) => {
    const worker = workerOf(indexOf.get(host) ?? 0, places);
    return { host: `worker-${worker}`, zone: `zone-${worker % 3}` };
  };
  const view = await observeCluster(nodes.port, { clock }, [{ host: hostOf(7), port: 6379 }], { annotations });
  assert.equal(view.nodes.length, COUNT);
  assert.equal(nodes.tables, COUNT, 'each was asked for its own table, once');
  const findings = checkCluster(view, { replicasPerPrimary: 1, spreadBy: ['zone', 'host'] });
  assert.ok(isClean(findings), JSON.stringify(findings));
});

test('before a cluster is made, each knows only itself', async () => {
  const nodes = new SimulatedNodes(COUNT, false);
  const seeds = Array.from({ length: COUNT }, (_, index) => ({ host: hostOf(index), port: 6379 }));
  const view = await observeCluster(nodes.port, { clock }, seeds, {});
  assert.equal(view.nodes.length, COUNT);
  assert.ok(view.nodes.every(({ heard }) => heard.length === 0));
});
