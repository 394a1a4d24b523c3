import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps } from '../kinds/config-map.ts';
import { serviceAccounts } from '../kinds/service-account.ts';
import { NodeScene } from './node-testing.ts';

const command = ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.02; done'];

test('with the token comes the authority of the server, and the pod waits until it is published', async (t) => {
  const scene = await NodeScene.open(t);
  const { node } = await scene.start({}, { apiServer: { host: '127.0.0.1', port: 6443, ca: 'PEM' } });
  await scene.client.resource(serviceAccounts, 'default').create({ metadata: { name: 'robot' } });
  const relocatable = { annotations: { 'reeve.dev/relocatable': 'true' } };
  const spec = { containers: [{ name: 'main', command }], serviceAccountName: 'robot' };
  await scene.create('robot', spec, relocatable);
  const waiting = await scene.until(
    'robot',
    ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.message !== undefined,
    'it says what it waits for',
  );
  const message = waiting.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '';
  assert.match(message, /configmap "kube-root-ca.crt" not found/);
  const published = { metadata: { name: 'kube-root-ca.crt' }, data: { 'ca.crt': 'PEM' } };
  await scene.client.resource(configMaps, 'default').create(published);
  await scene.ready('robot');
  const { signal } = new AbortController();
  const look = ['sh', '-c', 'cat $REEVE_SERVICE_ACCOUNT/ca.crt'];
  assert.equal((await node.exec({ namespace: 'default', pod: 'robot' }, look, { signal })).stdout, 'PEM');
});
