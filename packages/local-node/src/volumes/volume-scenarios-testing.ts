/** Volumes as pods see them: made of objects, kept current, and nobody else's business. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configMaps } from '../kinds/config-map.ts';
import type { PodSpec } from '../kinds/pod.ts';
import { secrets } from '../kinds/secret.ts';
import { serviceAccounts } from '../kinds/service-account.ts';
import { volumes, volumeClaims } from '../kinds/volumeclaim.ts';
import { eventually, NodeScene, type NodeScenarios } from '../node/node-testing.ts';

const command = ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.02; done'];
const marked = { annotations: { 'reeve.dev/relocatable': 'true' } };

/** A pod with these volumes, and where they are on this machine. */
async function withVolumes(scene: NodeScene, name: string, volumes: PodSpec['volumes'], more: Partial<PodSpec> = {}) {
  const volumeMounts = (volumes ?? []).map((volume) => ({ name: volume.name, mountPath: `/reeve/${volume.name}` }));
  const pod = await scene.create(
    name,
    { volumes: volumes ?? [], containers: [{ name: 'main', command, volumeMounts }], ...more },
    marked,
  );
  return (volume: string, ...path: readonly string[]) =>
    join(scene.folder, 'here', 'pods', pod.metadata.uid, 'volumes', volume, ...path);
}

export const volumeScenarios: NodeScenarios = {
  async 'config maps and secrets are files, swapped as a whole when they change'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    const maps = scene.client.resource(configMaps, 'default');
    await maps.create({ metadata: { name: 'c' }, data: { a: '1', b: '2' }, binaryData: { raw: '/w==' } });
    await scene.client.resource(secrets, 'default').create({ metadata: { name: 's' }, data: { word: 'aGVsbG8=' } });
    const pathOf = await withVolumes(scene, 'reads', [
      { name: 'conf', configMap: { name: 'c' } },
      { name: 'some', configMap: { name: 'c', items: [{ key: 'a', path: 'deep/x' }], defaultMode: 0o400 } },
      { name: 'secret', secret: { secretName: 's' } },
      { name: 'none', configMap: { name: 'nowhere', optional: true } },
      { name: 'me', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    ]);
    await scene.ready('reads');
    assert.equal(await readFile(pathOf('conf', 'a'), 'utf8'), '1');
    assert.deepEqual([...(await readFile(pathOf('conf', 'raw')))], [255]);
    assert.equal(await readFile(pathOf('some', 'deep', 'x'), 'utf8'), '1');
    assert.equal((await stat(pathOf('some', 'deep', 'x'))).mode & 0o777, 0o400);
    assert.equal(await readFile(pathOf('secret', 'word'), 'utf8'), 'hello');
    assert.equal((await stat(pathOf('secret', 'word'))).mode & 0o007, 0, 'not for everybody');
    assert.deepEqual(
      (await readdir(pathOf('none'))).filter((name) => !name.startsWith('..')),
      [],
    );
    await maps.patch('c', { type: 'merge', value: { data: { a: '3', b: null, d: '4' } } });
    await eventually(async () => (await readFile(pathOf('conf', 'a'), 'utf8')) === '3', 'the change is visible');
    // What is behind the link is swapped at once; names that come and go follow it.
    await eventually(async () => {
      const names = (await readdir(pathOf('conf'))).sort();
      return names.length === 5 && names.filter((name) => !name.startsWith('..')).join() === 'a,d,raw';
    }, 'the old ones are gone');
    await eventually(async () => (await readFile(pathOf('some', 'deep', 'x'), 'utf8')) === '3', 'everywhere');
  },
  async 'a volume that is not there yet is waited for'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    const pathOf = await withVolumes(scene, 'waits', [{ name: 'conf', configMap: { name: 'late' } }]);
    const waiting = await scene.until(
      'waits',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.message !== undefined,
      'it says what it waits for',
    );
    assert.equal(waiting.status?.containerStatuses?.[0]?.state?.waiting?.reason, 'ContainerCreating');
    assert.match(waiting.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /configmap "late" not found/);
    await scene.client.resource(configMaps, 'default').create({ metadata: { name: 'late' }, data: { a: '1' } });
    await scene.ready('waits');
    assert.equal(await readFile(pathOf('conf', 'a'), 'utf8'), '1');
  },
  async 'a token of the service account, for this pod only, readable by its owner only'(t) {
    const scene = await NodeScene.open(t);
    const { node } = await scene.start({}, { apiServer: { host: '127.0.0.1', port: 6443 } });
    await scene.client.resource(serviceAccounts, 'default').create({ metadata: { name: 'robot' } });
    const pathOf = await withVolumes(
      scene,
      'robot',
      [
        {
          name: 'token',
          projected: { sources: [{ serviceAccountToken: { path: 't', audience: 'vault', expirationSeconds: 600 } }] },
        },
      ],
      { serviceAccountName: 'robot' },
    );
    const pod = await scene.ready('robot');
    const token = await readFile(pathOf('token', 't'), 'utf8');
    assert.equal((await stat(pathOf('token', 't'))).mode & 0o777, 0o600);
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      aud: readonly string[];
      'kubernetes.io': { pod: { uid: string } };
    };
    assert.deepEqual(claims.aud, ['vault']);
    assert.equal(claims['kubernetes.io'].pod.uid, pod.metadata.uid);
    const { signal } = new AbortController();
    const look =
      'cat $REEVE_SERVICE_ACCOUNT/namespace; [ -s $REEVE_SERVICE_ACCOUNT/token ] && echo; echo $KUBERNETES_SERVICE_PORT';
    const seen = await node.exec({ namespace: 'default', pod: 'robot' }, ['sh', '-c', look], { signal });
    assert.equal(seen.stdout, 'default\n6443\n');
  },
  async 'the folder of a bound volume, and no other'(t) {
    const scene = await NodeScene.open(t);
    const folder = join(scene.folder, 'disk');
    const { node } = await scene.start({}, { hostPathRoots: [scene.folder] });
    const claims = scene.client.resource(volumeClaims, 'default');
    const made = scene.client.resource(volumes);
    const size = { resources: { requests: { storage: '1Mi' } }, accessModes: ['ReadWriteOnce'] };
    const claim = await claims.create({ metadata: { name: 'c' }, spec: { ...size, volumeName: 'v' } as object });
    await made.create({
      metadata: { name: 'v' },
      spec: {
        capacity: { storage: '1Mi' },
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: folder },
        claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'c', uid: claim.metadata.uid },
      } as object,
    });
    await withVolumes(scene, 'keeps', [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }]);
    const waiting = await scene.until(
      'keeps',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.message !== undefined,
      'it is not bound yet',
    );
    assert.match(waiting.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /"c" is not bound/);
    await claims.patch('c', { type: 'merge', value: { status: { phase: 'Bound' } } }, { subresource: 'status' });
    await scene.ready('keeps');
    const { signal } = new AbortController();
    await node.exec({ namespace: 'default', pod: 'keeps' }, ['sh', '-c', 'echo kept >/reeve/data/x'], { signal });
    assert.equal(await readFile(join(folder, 'x'), 'utf8'), 'kept\n');
    await scene.delete('keeps');
    await scene.gone('keeps');
    assert.equal(await readFile(join(folder, 'x'), 'utf8'), 'kept\n', 'it outlives the pod');
  },
  async 'host paths only below what the node allows, wherever links lead'(t) {
    const scene = await NodeScene.open(t);
    const open = join(scene.folder, 'open');
    await mkdir(open);
    await writeFile(join(scene.folder, 'private'), 'secret');
    await symlink(scene.folder, join(open, 'out'));
    await scene.start({}, { hostPathRoots: [open] });
    const refused = async (name: string, path: string, type?: string) => {
      await withVolumes(scene, name, [{ name: 'v', hostPath: { path, ...(type !== undefined && { type }) } }]);
      const pod = await scene.until(
        name,
        ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.message !== undefined,
        'it is refused',
      );
      return pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '';
    };
    assert.match(await refused('a', scene.folder), /not lie below/);
    assert.match(await refused('b', join(open, 'out')), /not lie below/);
    assert.match(await refused('c', join(open, 'out', 'private')), /not lie below/);
    assert.match(await refused('d', join(open, 'out', 'new'), 'DirectoryOrCreate'), /not lie below/);
    assert.match(await refused('e', join(open, 'no')), /does not exist/);
    assert.match(await refused('f', `${open}-beside`), /does not exist|not lie below/);
    await withVolumes(scene, 'good', [
      { name: 'v', hostPath: { path: join(open, 'made'), type: 'DirectoryOrCreate' } },
    ]);
    await scene.ready('good');
  },
  async 'sub-paths stay within their volume'(t) {
    const scene = await NodeScene.open(t);
    const { node } = await scene.start();
    const open = join(scene.folder, 'open');
    const sub = (subPath: string) => [{ name: 'v', mountPath: '/reeve/v', subPath }];
    const volumes = [{ name: 'v', emptyDir: {} }];
    const init = [
      { name: 'i', command: ['ln', '-s', open, '/reeve/v/link'], volumeMounts: [{ name: 'v', mountPath: '/reeve/v' }] },
    ];
    await mkdir(open);
    await scene.create(
      'inside',
      { volumes, containers: [{ name: 'main', command, volumeMounts: sub('a/b') }] },
      marked,
    );
    await scene.ready('inside');
    const { signal } = new AbortController();
    const where = await node.exec({ namespace: 'default', pod: 'inside' }, ['sh', '-c', 'cd /reeve/v && pwd'], {
      signal,
    });
    assert.match(where.stdout, /volumes\/v\/a\/b\n$/);
    await scene.create(
      'outside',
      { volumes, initContainers: init, containers: [{ name: 'main', command, volumeMounts: sub('link/x') }] },
      marked,
    );
    const pod = await scene.until(
      'outside',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError',
      'it is refused',
    );
    assert.match(pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /leads out of the volume/);
    assert.deepEqual(await readdir(open), []);
  },
  async 'the environment comes from objects, and a missing one is waited for'(t) {
    const scene = await NodeScene.open(t);
    const { node } = await scene.start();
    await scene.create('env', {
      containers: [
        {
          name: 'main',
          command: ['sh', '-c', 'echo "$WORD $COUNT $NODE $(POD_IP) ${RAW-no}${ONE-no}"; sleep 1000'],
          envFrom: [{ configMapRef: { name: 'late' } }],
          env: [
            { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
            { name: 'ONE', valueFrom: { configMapKeyRef: { name: 'late', key: 'RAW', optional: true } } },
          ],
        },
      ],
    });
    await scene.until(
      'env',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError',
      'it waits',
    );
    await scene.client
      .resource(configMaps, 'default')
      .create({ metadata: { name: 'late' }, data: { WORD: 'hi', COUNT: '3' }, binaryData: { RAW: 'AAEC' } }); // no text
    const pod = await scene.ready('env');
    await eventually(
      async () => (await scene.logOf(node, 'env')) === `hi 3 here ${pod.status?.podIP} nono\n`,
      'it was told all',
    );
  },
};
