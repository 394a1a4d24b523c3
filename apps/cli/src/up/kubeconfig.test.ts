import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readKubeconfig, resolveContext } from '@reeve/kube';
import { kubeconfigText, portOf } from './kubeconfig.ts';

test('a kubeconfig says where, with which token, and whom to trust; the port is found in it again', () => {
  const text = kubeconfigText({ url: 'https://127.0.0.1:6443', token: 'secret', ca: 'PEM\n' });
  const { cluster, user, namespace } = resolveContext(readKubeconfig(text, 'kubeconfig', '/'));
  assert.deepEqual(
    [cluster.server, cluster.ca, user.token],
    ['https://127.0.0.1:6443', { text: 'PEM\n' }, { text: 'secret' }],
  );
  assert.equal(namespace, 'default');
  assert.equal(portOf(text), 6443);
  for (const other of ['', 'apiVersion: v1', '{}', '{"clusters":[{"cluster":{"server":"nowhere"}}]}']) {
    assert.equal(portOf(other), undefined, other);
  }
});
