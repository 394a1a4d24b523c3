/** More of volumes: modes, single files, how long things live, and claims that cannot be had. */
import assert from 'node:assert/strict';
import { mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '@reeve/runtime';
import { PROVISIONED_BY, PROVISIONER } from '../controllers/volumeclaim/plan.ts';
import { configMaps } from '../kinds/config-map.ts';
import { pods, type PodSpec } from '../kinds/pod.ts';
import { secrets } from '../kinds/secret.ts';
import { serviceAccounts } from '../kinds/service-account.ts';
import { volumes, volumeClaims } from '../kinds/volumeclaim.ts';
import type { LocalNodeOptions } from '../node/local-node.ts';
import { eventually, NodeScene, type NodeScenarios } from '../node/node-testing.ts';

const forever = 'trap "exit 0" TERM; while :; do sleep 0.02; done';
const sh = (script: string) => ['sh', '-c', script];
const marked = { annotations: { 'reeve.dev/relocatable': 'true' } };
const quick = { firstMs: 50, mostMs: 100, resetMs: 600_000 };
const signal = new AbortController().signal;

async function stage(t: TestContext, options: Partial<LocalNodeOptions> = {}) {
  const scene = await NodeScene.open(t);
  const { node } = await scene.start({ drivers: await scene.drivers(), volumes: scene.volumes, ...options });
  const run = async (pod: string, script: string) =>
    (await node.exec({ namespace: 'default', pod }, sh(script), { signal })).stdout;
  return { scene, node, run };
}

/** What its first container waits for. */
async function waitsFor(scene: NodeScene, name: string): Promise<string> {
  const pod = await scene.until(
    name,
    ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.message !== undefined,
    `${name} says what it waits for`,
  );
  return pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '';
}

function mounting(volume: NonNullable<PodSpec['volumes']>[number], script = forever): Partial<PodSpec> {
  const volumeMounts = [{ name: volume.name, mountPath: '/srv/reeve/v' }];
  return { volumes: [volume], containers: [{ name: 'main', command: sh(script), volumeMounts }] };
}

async function makeVolume(scene: NodeScene, claim: string, name: string, path: string, isOurs: boolean) {
  const size = { accessModes: ['ReadWriteOnce'] };
  const { metadata } = await scene.client.resource(volumeClaims, 'default').create({
    metadata: { name: claim },
    spec: { ...size, resources: { requests: { storage: '1Mi' } }, storageClassName: '', volumeName: name },
  });
  const annotations = isOurs ? { [PROVISIONED_BY]: PROVISIONER } : {};
  const claimRef = { kind: 'PersistentVolumeClaim', namespace: 'default', name: claim, uid: metadata.uid };
  await scene.client.resource(volumes).create({
    metadata: { name, annotations },
    spec: { ...size, capacity: { storage: '1Mi' }, hostPath: { path }, claimRef },
  });
  const setPhase = (phase: 'Bound' | 'Lost') =>
    scene.client
      .resource(volumeClaims, 'default')
      .patch(claim, { type: 'merge', value: { status: { phase } } }, { subresource: 'status' });
  return { setPhase };
}

export const moreVolumeScenarios: NodeScenarios = {
  async 'files of secrets have the modes that they were given'(t) {
    const { scene, run } = await stage(t);
    const data = { a: 'MQ==', b: 'Mg==', c: 'Mw==' };
    await scene.client.resource(secrets, 'default').create({ metadata: { name: 's' }, data });
    const items = [
      { key: 'a', path: 'a' },
      { key: 'b', path: 'deep/b', mode: 0o440 },
    ];
    await scene.create(
      'modes',
      mounting({ name: 'v', secret: { secretName: 's', items, defaultMode: 0o400 } }),
      marked,
    );
    await scene.ready('modes');
    const seen = await run(
      'modes',
      'cd /srv/reeve/v && stat -L -c "%a" a deep/b && cat a deep/b; [ -e c ] || echo " no c"',
    );
    assert.equal(seen, '400\n440\n12 no c\n');
  },
  async 'one file of a config map by its sub-path, which does not follow changes'(t) {
    const { scene, run } = await stage(t);
    const maps = scene.client.resource(configMaps, 'default');
    await maps.create({ metadata: { name: 'c' }, data: { one: 'old', two: '2' } });
    const volume = { name: 'v', configMap: { name: 'c' } };
    const volumeMounts = [
      { name: 'v', mountPath: '/srv/reeve/one.conf', subPath: 'one' },
      { name: 'v', mountPath: '/srv/reeve/all' },
    ];
    const containers = [{ name: 'main', command: sh(forever), volumeMounts }];
    await scene.create('single', { volumes: [volume], containers }, marked);
    await scene.ready('single');
    assert.equal(await run('single', 'cat /srv/reeve/one.conf'), 'old');
    await maps.patch('c', { type: 'merge', value: { data: { one: 'new' } } });
    await eventually(async () => (await run('single', 'cat /srv/reeve/all/one')) === 'new', 'the folder follows');
  },
  async 'an empty folder lives as long as its pod, not as its containers'(t) {
    const { scene, run } = await stage(t, { backoff: quick });
    const pod = await scene.create(
      'keeps',
      mounting({ name: 'v', emptyDir: {} }, `echo x >>/srv/reeve/v/runs; ${forever}`),
      marked,
    );
    await scene.ready('keeps');
    await eventually(async () => (await run('keeps', 'cat /srv/reeve/v/runs')) === 'x\n', 'it ran once');
    scene.killAll();
    await scene.until('keeps', ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1, 'it runs again');
    await eventually(
      async () => (await run('keeps', 'cat /srv/reeve/v/runs').catch(() => '')) === 'x\nx\n',
      'what it wrote is there',
    );
    const folder = join(scene.folder, 'here', 'pods', pod.metadata.uid);
    await scene.delete('keeps');
    await scene.gone('keeps');
    await eventually(async () => (await scene.host.files.stat(folder)) === undefined, 'it went with its pod');
  },
  async 'a token is asked for anew before it ends'(t) {
    const scene = await NodeScene.open(t);
    let ahead = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + ahead };
    await scene.start({}, {}, clock);
    await scene.client.resource(serviceAccounts, 'default').create({ metadata: { name: 'robot' } });
    const token = { serviceAccountToken: { path: 't', expirationSeconds: 600 } };
    const spec = mounting({ name: 'v', projected: { sources: [token] } });
    const pod = await scene.create('robot', { ...spec, serviceAccountName: 'robot' }, marked);
    await scene.ready('robot');
    const path = join(scene.folder, 'here', 'pods', pod.metadata.uid, 'volumes', 'v', 't');
    const first = await readFile(path, 'utf8');
    const look = (at: string) =>
      scene.client.resource(pods, 'default').patch('robot', { type: 'merge', value: { metadata: { labels: { at } } } });
    ahead = 470_000;
    await look('early');
    await scene.until('robot', ({ metadata }) => metadata.labels?.at === 'early', 'it was looked at');
    assert.equal(await readFile(path, 'utf8'), first, 'with a fifth of its life left it is good enough');
    ahead = 490_000;
    await look('late');
    await eventually(async () => (await readFile(path, 'utf8')) !== first, 'there is another one');
  },
  async 'a claim that is not there, not bound, or lost is said so'(t) {
    const { scene } = await stage(t);
    const claimed = (claimName: string) => mounting({ name: 'v', persistentVolumeClaim: { claimName } });
    await scene.create('absent', claimed('no-such-claim'), marked);
    assert.match(await waitsFor(scene, 'absent'), /persistentvolumeclaim "no-such-claim" not found/);
    const { setPhase } = await makeVolume(scene, 'c', 'v1', join(scene.folder, 'disk'), false);
    await scene.create('unbound', claimed('c'), marked);
    assert.match(await waitsFor(scene, 'unbound'), /persistentvolumeclaim "c" is not bound/);
    await setPhase('Lost');
    await eventually(
      async () => /bound to non-existent persistentvolume "v1"/.test(await waitsFor(scene, 'unbound')),
      'it is lost',
    );
    assert.ok(
      (await scene.events()).some((line) => line.startsWith('FailedMount: MountVolume.SetUp failed for volume "v"')),
    );
  },
  async 'what a pod waits for is told anew when that is something else'(t) {
    const { scene } = await stage(t);
    const sources = [
      { configMap: { name: 'later-1' } },
      { configMap: { name: 'later-2' } },
      { secret: { name: 'later-3' } },
    ];
    const absent = ['configmap "later-1"', 'configmap "later-2"', 'secret "later-3"'];
    await scene.create('late', mounting({ name: 'v', projected: { sources } }), marked);
    for (const [done, what] of absent.entries()) {
      const told = async () => (await scene.events()).filter((line) => /^FailedMount: .* not found/.test(line));
      await eventually(async () => (await told()).length > done, `${what} is missed`);
      const said = await told();
      assert.equal(said.length, done + 1, said.join('\n'));
      assert.ok(
        said.some((line) => line.includes(`${what} not found`)),
        said.join('\n'),
      );
      const metadata = { name: `later-${done + 1}` };
      if (done < 2)
        await scene.client.resource(configMaps, 'default').create({ metadata, data: { [`f${done}`]: 'x' } });
      else await scene.client.resource(secrets, 'default').create({ metadata });
    }
    await scene.ready('late');
  },
  async 'a volume that was made for a claim leads to its own folder, and nowhere else'(t) {
    const { scene, run } = await stage(t);
    const secret = join(scene.folder, 'secret');
    await mkdir(secret);
    const own = (name: string) => join(scene.volumes, name, 'data');
    await mkdir(join(scene.volumes, 'v2'), { recursive: true });
    await symlink(secret, own('v2'));
    const rows = [
      ['moved', 'v0', secret],
      ['neighbour', 'v1', own('good')],
      ['linked', 'v2', own('v2')],
      ['above', 'v3', scene.volumes],
    ] as const;
    for (const [claim, volume, path] of rows) {
      const { setPhase } = await makeVolume(scene, claim, volume, path, true);
      await setPhase('Bound');
      await scene.create(claim, mounting({ name: 'v', persistentVolumeClaim: { claimName: claim } }), marked);
      assert.match(await waitsFor(scene, claim), /which is not the folder made for it/, claim);
    }
    assert.ok((await scene.events()).some((line) => /FailedMount: .*"v0" leads to ".*", which is not/.test(line)));
    const { setPhase } = await makeVolume(scene, 'by-hand', 'v4', secret, false);
    await setPhase('Bound');
    await scene.create('by-hand', mounting({ name: 'v', persistentVolumeClaim: { claimName: 'by-hand' } }), marked);
    assert.match(await waitsFor(scene, 'by-hand'), /does not lie below a folder that this node allows/);
    const good = await makeVolume(scene, 'good', 'good', own('good'), true);
    await good.setPhase('Bound');
    await scene.create('good', mounting({ name: 'v', persistentVolumeClaim: { claimName: 'good' } }), marked);
    await scene.ready('good');
    await run('good', 'echo kept >/srv/reeve/v/x');
    assert.equal(await readFile(join(own('good'), 'x'), 'utf8'), 'kept\n');
    assert.ok((await stat(secret)).isDirectory());
  },
};
