import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Welcome, welcome } from './welcome.ts';

const plane: Welcome = {
  url: 'https://127.0.0.1:1',
  folder: { path: '/data', kubeconfig: '/data/kubeconfig' },
  detected: { drivers: [{ name: 'bwrap' }], remedy: 'install something' },
  registered: 3,
  nodes: 3,
  zones: [],
  retired: [],
  pods: 0,
  down: 'reeve down --data /data',
};

const nodesLine = (parts: Partial<Welcome>) => /^nodes +(.*)$/m.exec(welcome({ ...plane, ...parts }))?.[1];

test('nodes are those that registered, with the zones that were asked for', () => {
  assert.equal(nodesLine({}), '3, pods as processes (bwrap)');
  assert.equal(nodesLine({ zones: ['a', 'b'] }), '3 in zones a, b, pods as processes (bwrap)');
  assert.equal(nodesLine({ zones: ['a'], pods: 1 }), '3 in zone a, pods as processes (bwrap), 1 pod taken over');
  assert.match(nodesLine({ registered: 1 }) ?? '', /^1 of 3 \(--verbose says what keeps the others away\)/);
});

test('what is to be typed can be typed, wherever the folder lies', () => {
  assert.match(welcome(plane), /^ {2}export KUBECONFIG=\/data\/kubeconfig$/m);
  const folder = { path: '/my data', kubeconfig: "/my data/it's/kubeconfig" };
  assert.match(welcome({ ...plane, folder }), /^ {2}export KUBECONFIG='\/my data\/it'\\''s\/kubeconfig'$/m);
});

test('how to end it is what ends this one', () => {
  assert.match(welcome(plane), /`reeve down --data \/data` ends them, too/);
});
