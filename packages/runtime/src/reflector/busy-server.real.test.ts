/** The reflector on a real kube-apiserver that has no time: it answers 429 to whatever is too much. */
import assert from 'node:assert/strict';
import { after, before, it, type TestContext } from 'node:test';
import { connect, isKubeError, resource, systemKubePorts } from '@reeve/kube';
import { type Kube, startKube, until } from '@reeve/rig';
import { reflecting, type Thing } from './real-testing.ts';

const maps = resource<Thing>({ group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true });

let kube: Kube;
before(async () => {
  // Without fair queues a server refuses at once what is beyond its limit, for every client alike.
  const limits = ['--max-requests-inflight=1', '--max-mutating-requests-inflight=1'];
  kube = await startKube({ apiserverArguments: ['--enable-priority-and-fairness=false', ...limits] });
});
after(() => kube?.stop());

/** Keeps the server's only place taken, as well as it can. */
function storm(
  t: TestContext,
  namespace: string,
  file: string,
): { readonly refused: () => number; end(): Promise<void> } {
  let isOver = false;
  let refused = 0;
  const running = (async () => {
    using connection = await connect(systemKubePorts(), { file, retries: 0, maxSockets: 8 });
    const all = connection.client.resource(maps, namespace);
    const worker = async () => {
      while (!isOver) {
        await all.list().catch((error: unknown) => {
          if (!isKubeError(error, 'KUBE_TOO_MANY_REQUESTS')) throw error;
          refused++;
        });
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  })();
  const end = async () => {
    isOver = true;
    await running;
  };
  t.after(end);
  return { refused: () => refused, end };
}

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
