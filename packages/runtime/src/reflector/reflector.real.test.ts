/** The reflector and its cache on a real kube-apiserver, through everything that breaks a watch. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { connect, isKubeError, systemKubePorts } from '@reeve/kube';
import { type Kube, startKube, until } from '@reeve/rig';
import { definition, maps, things } from './kinds-testing.ts';
import { churn, QUICK, reflecting } from './real-testing.ts';

/** Where lists are counted: its patience is 15 s then, and a server that has no time for a moment costs no list. */
const UNHURRIED = 5;

let kube: Kube;
before(async () => {
  kube = await startKube();
});
after(() => kube?.stop());

async function namespaceOf(name: string): Promise<string> {
  await kube.kubectl(['create', 'namespace', name]);
  return name;
}

for (const watches of ['http1', 'http2'] as const) {
  describe(`watches over ${watches}`, () => {
    it('kill -9 and restart of the server: nothing is missed', async (t) => {
      const namespace = await namespaceOf(`kill-${watches}`);
      const scene = await reflecting(t, kube, maps, { watches, namespace, speed: UNHURRIED });
      await churn(scene.direct, 6, 'before');
      await scene.equalsServer();
      const { lists } = scene.reflector.state;
      await kube.apiserver.kill9();
      await until('it noticed', () => scene.reflector.state.phase === 'waiting');
      await kube.apiserver.restart();
      await churn(scene.direct, 6, 'after');
      await scene.equalsServer();
      // A server knows no history from before its start: if anything was written since our last event, it answers 410.
      assert.ok(scene.reflector.state.lists <= lists + 1);
      await scene.end();
    });

    it('a half-open connection is noticed, and what happened meanwhile is told', async (t) => {
      // With HTTP/2 it is the missing answer to a PING that tells, long before the reflector would lose its patience.
      const speed = watches === 'http2' ? 1 : QUICK;
      const namespace = await namespaceOf(`half-${watches}`);
      const scene = await reflecting(t, kube, maps, { watches, namespace, speed });
      await churn(scene.direct, 4, 'before');
      await scene.equalsServer();
      scene.relay.silence();
      await churn(scene.direct, 4, 'meanwhile');
      await scene.equalsServer();
      assert.ok(!scene.told.some((one) => one.endsWith('unseen')), 'the watch went on where it was');
      assert.equal(scene.reflector.state.silences > 0, watches === 'http1');
      await scene.end();
    });

    it('a watch that is cut every 50 ms makes few requests, and the cache is right in the end', async (t) => {
      const scene = await reflecting(t, kube, maps, { watches, namespace: await namespaceOf(`cut-${watches}`) });
      await churn(scene.direct, 4, 'before');
      await scene.equalsServer();
      const made = scene.relay.made;
      scene.relay.cutAfter(50);
      // A minute and a half of the reflector's time.
      const end = performance.now() + 4_500;
      for (let round = 0; performance.now() < end; round++) {
        await churn(scene.direct, 1, `cut-${round}`);
        await scene.direct.delete(`cut-${round}-0`);
      }
      const attempts = scene.relay.made - made;
      assert.ok(attempts > 2 && attempts < 25, `${attempts} connections in 90 s of its time`);
      scene.relay.cutAfter(undefined);
      await churn(scene.direct, 2, 'after');
      await scene.equalsServer();
      await scene.end();
    });
  });
}

it('compaction while it was away: 410, one list, and what is gone is told as unseen', async (t) => {
  const namespace = await namespaceOf('compacted');
  const scene = await reflecting(t, kube, maps, { watches: 'http1', namespace, speed: UNHURRIED });
  await churn(scene.direct, 6, 'before');
  await scene.equalsServer();
  const { lists } = scene.reflector.state;
  scene.relay.cutAfter(0);
  await scene.direct.delete('before-1');
  await churn(scene.direct, 3, 'meanwhile');
  await kube.compact();
  // What the server still has in memory goes with it.
  await kube.apiserver.restart();
  assert.equal(scene.cache.get('compacted/before-1')?.metadata.name, 'before-1');
  scene.relay.cutAfter(undefined);
  await scene.equalsServer();
  assert.equal(scene.reflector.state.lists, lists + 1);
  assert.ok(scene.told.includes('removed before-1 unseen'), scene.told.join());
  await scene.end();
});

it('a kind that is not installed is waited for; deleted and installed again while it is watched', async (t) => {
  const namespace = await namespaceOf('crd');
  const scene = await reflecting(t, kube, things, { watches: 'http1', namespace });
  await until('it is found missing', () => scene.reflector.state.isMissing);
  const install = async () => {
    await kube.kubectl(['create', '-f', '-'], { input: JSON.stringify(definition) });
    await kube.kubectl(['wait', '--for=condition=Established', 'crd/things.test.reeve.dev']);
    await until('it is served', () => scene.direct.list());
  };
  await install();
  for (const name of ['a', 'b']) await scene.direct.create({ metadata: { name } });
  await scene.equalsServer();
  await kube.kubectl(['delete', 'crd', 'things.test.reeve.dev']);
  await until('it is found missing again', () => scene.reflector.state.isMissing);
  await until('the server says so', () =>
    scene.direct.list().then(
      () => false,
      (error: unknown) => isKubeError(error, 'KUBE_NOT_FOUND'),
    ),
  );
  await install();
  await scene.direct.create({ metadata: { name: 'a' } });
  await scene.equalsServer();
  assert.deepEqual([...scene.cache.keys()], ['crd/a']);
  assert.equal(scene.told.filter((one) => one === 'added a').length, 2, 'another object of the same name');
  await scene.end();
});

it('a first list by pages equals one that is streamed', async (t) => {
  const namespace = await namespaceOf('many');
  await fill(namespace, 600);
  const streamed = await reflecting(t, kube, maps, { watches: 'http1', namespace, speed: UNHURRIED });
  await streamed.equalsServer();
  assert.deepEqual([streamed.reflector.state.streams, streamed.cache.size], [true, 600]);
  await streamed.end();
  const paged = await reflecting(t, kube, maps, { watches: 'http1', namespace, streams: false });
  await paged.equalsServer();
  assert.deepEqual([paged.reflector.state.streams, paged.cache.size], [false, 600]);
  await paged.end();
});

async function fill(namespace: string, count: number): Promise<void> {
  using straight = await connect(systemKubePorts(), { file: kube.kubeconfig });
  const all = straight.client.resource(maps, namespace);
  await Promise.all(Array.from({ length: count }, (_, index) => all.create({ metadata: { name: `m-${index}` } })));
}
