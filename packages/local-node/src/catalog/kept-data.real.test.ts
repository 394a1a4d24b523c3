/** Manifests as people write them for images in registries, with every driver that works here: where data lies, and how a server is named. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { once, pathWithBubblewrap } from '@reeve/rig';
import { systemPorts } from '@reeve/runtime';
import { detectDrivers } from '../driver/detect.ts';
import type { Driver } from '../driver/driver.ts';
import { systemHost } from '../host/system-host.ts';
import { statefulSets } from '../kinds/statefulset.ts';
import { eventually, NodeScene } from '../node/node-testing.ts';
import { valkey } from './redis-like.ts';
import { catalogOf } from './system-catalog-testing.ts';

const folder = await mkdtemp(join(tmpdir(), 'reeve-kept-'));
after(() => rm(folder, { recursive: true }));
const { drivers } = await detectDrivers(
  { ...systemPorts, host: systemHost(await pathWithBubblewrap()) },
  join(folder, 'drivers'),
);

const imagesOf = (t: TestContext) => catalogOf(t, join(folder, 'images'), [{ ...valkey, installed: undefined }]);

const server = {
  name: 'main',
  image: 'valkey',
  ports: [{ name: 'client', containerPort: 6379 }],
  readinessProbe: { tcpSocket: { port: 'client' }, periodSeconds: 1 },
};

/** A set of one server with a claim at the usual place of its data. */
async function serverWith(t: TestContext, driver: Driver) {
  const scene = await NodeScene.open(t);
  await scene.start({ images: imagesOf(t), drivers: [driver], volumes: scene.volumes });
  await scene.startControlPlane();
  const labels = { app: 'store' };
  const size = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } };
  await scene.client.resource(statefulSets, 'default').create({
    metadata: { name: 'store' },
    spec: {
      replicas: 1,
      serviceName: 'store',
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { 'reeve.dev/relocatable': 'true' } },
        spec: {
          containers: [
            {
              ...server,
              args: ['--appendonly', 'yes'],
              volumeMounts: [{ name: 'data', mountPath: '/data' }],
            },
          ],
        },
      },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: size }],
    },
  });
  const ask = async (...words: string[]) => {
    const { status } = await scene.ready('store-0', 60_000);
    return once({ host: status?.podIP ?? '', port: 6379 }, {}, ...words);
  };
  return { scene, ask };
}

for (const driver of drivers) {
  test(`${driver.name}: what a server wrote to the claim at the usual place outlives its pod`, async (t) => {
    const { scene, ask } = await serverWith(t, driver);
    assert.equal(await ask('SET', 'word', 'kept'), 'OK');
    const { metadata } = await scene.ready('store-0');
    await scene.delete('store-0');
    await eventually(async () => (await scene.find('store-0'))?.metadata.uid !== metadata.uid, 'the pod is gone');
    assert.equal(await ask('GET', 'word'), 'kept');
  });
}

test('a pod that says itself where data lies is heard', async (t) => {
  const scene = await NodeScene.open(t);
  await scene.start({ images: imagesOf(t), drivers });
  const own = '/srv/reeve/own';
  const cases = { usual: {}, argument: { args: ['--dir', own] }, folder: { workingDir: own } };
  for (const [name, more] of Object.entries(cases)) {
    await scene.create(name, {
      volumes: ['data', 'own'].map((volume) => ({ name: volume, emptyDir: {} })),
      containers: [
        {
          ...server,
          ...more,
          volumeMounts: [
            { name: 'data', mountPath: '/data' },
            { name: 'own', mountPath: own },
          ],
        },
      ],
    });
    const { status } = await scene.ready(name, 60_000);
    const answer = await once({ host: status?.podIP ?? '', port: 6379 }, {}, 'CONFIG', 'GET', 'dir');
    assert.deepEqual(answer, ['dir', name === 'usual' ? '/data' : own], name);
  }
});

test('a server that is named as the command, or as the first argument, is told its address', async (t) => {
  const scene = await NodeScene.open(t);
  await scene.start({ images: imagesOf(t), drivers });
  const cases = {
    command: { command: ['valkey-server'], args: ['--save', ''] },
    argument: { args: ['valkey-server'] },
  };
  for (const [name, more] of Object.entries(cases)) {
    await scene.create(name, { containers: [{ ...server, ...more }] });
    const { status } = await scene.ready(name, 60_000);
    const address = status?.podIP ?? '';
    assert.deepEqual(await once({ host: address, port: 6379 }, {}, 'CONFIG', 'GET', 'bind'), ['bind', address], name);
  }
});
