/** The reflector on a real kube-apiserver that has no time: it answers 429 to whatever is too much. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type Kube, startKube, until } from '@reeve/rig';
import { maps } from './kinds-testing.ts';
import { reflecting } from './real-testing.ts';
import { BUSY, storm } from './storm-testing.ts';

let kube: Kube;
before(async () => {
  kube = await startKube({ apiserverArguments: BUSY });
});
after(() => kube?.stop());

it('429 storm: writes that are refused are repeated, the reflector neither lists again nor loses anything', async (t) => {
  await kube.kubectl(['create', 'namespace', 'busy']);
  // The server never refuses its masters: somebody with the same rights by a role.
  const { kubeconfig } = await kube.user({ name: 'many' });
  await kube.kubectl(['create', 'clusterrolebinding', 'many', '--clusterrole=cluster-admin', '--user=many']);
  const scene = await reflecting(t, kube, maps, { watches: 'http1', namespace: 'busy', kubeconfig });
  // The server learns of a new binding by watching, as everybody does.
  await until('its role counts', () => scene.direct.list());
  const payload = { big: 'x'.repeat(100_000) };
  for (const name of ['a', 'b', 'c', 'd']) await scene.direct.create({ metadata: { name }, data: payload });
  await scene.equalsServer();
  const { lists } = scene.reflector.state;
  const busy = storm(t, 'busy', kubeconfig);
  await until('the server refuses', () => busy.refused() > 20);
  scene.relay.cut();
  for (const name of ['e', 'f', 'g']) await scene.direct.create({ metadata: { name }, data: { small: 'y' } });
  await scene.direct.delete('a');
  const refused = busy.refused();
  await until('the server still refuses', () => busy.refused() > refused + 20);
  await busy.end();
  await scene.equalsServer();
  assert.equal(scene.reflector.state.lists, lists);
  assert.ok(!scene.told.some((one) => one.endsWith('unseen')));
  await scene.end();
});
