import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeFacts, nodesWith, retiredFacts } from './machine.ts';

const system = { architecture: 'amd64', kernelVersion: '6.1', osImage: 'Linux', version: '1.0.0' };
const machine = { cores: 2, memoryBytes: 8 * 1024 ** 3, system };
const apiServer = { host: '127.0.0.1', port: 1 };
const zonesOf = (nodes: number, zones: readonly string[]) =>
  nodeFacts(machine, { nodes, zones, hostPaths: [] }, apiServer).map(({ name, labels }) => [
    name,
    labels['topology.kubernetes.io/zone'],
  ]);

test('nodes are shared out over the zones, and are zones of their own without any', () => {
  assert.deepEqual(zonesOf(3, ['a', 'b']), [
    ['node-1', 'a'],
    ['node-2', 'b'],
    ['node-3', 'a'],
  ]);
  assert.deepEqual(zonesOf(2, []), [
    ['node-1', 'node-1'],
    ['node-2', 'node-2'],
  ]);
});

test('each node has what the machine has', () => {
  const [node] = nodeFacts(machine, { nodes: 1, zones: [], hostPaths: [] }, apiServer);
  assert.deepEqual(node?.capacity, { cpu: '2', memory: '8388608Ki', pods: '110' });
});

test('a node of before says how many there must be for it, if it can be one of them', () => {
  assert.equal(nodesWith('node-7'), 7);
  for (const name of ['node-0', 'node-', 'node-x', 'elsewhere']) assert.equal(nodesWith(name), undefined, name);
  const retired = retiredFacts('node-3', machine, { nodes: 2, zones: ['a', 'b'], hostPaths: [] }, apiServer);
  assert.deepEqual([retired.isRetired, retired.labels['topology.kubernetes.io/zone']], [true, 'a']);
});
