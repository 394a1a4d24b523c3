import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryMachine } from '../host/memory-host-testing.ts';
import { podOf } from '../pod/pod-testing.ts';
import type { Content, Sources } from './sources.ts';
import { PodVolumes } from './pod-volumes.ts';

const around = { nodeName: 'n', hostAddress: '127.0.0.1', address: '127.1.0.1', allocatable: {} };
const token = { name: 't', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } };

function scene(more: Partial<Sources> = {}) {
  const machine = new MemoryMachine(() => 0);
  const asked: string[] = [];
  const sources: Sources = {
    configMap: async () => null,
    configMapTexts: async () => null,
    secret: async () => null,
    claim: async () => null,
    volume: async () => null,
    token: async ({ account }) => {
      asked.push(account);
      return { token: `token-${asked.length}`, expiresAt: 1_000, renewAt: asked.length * 800 };
    },
    ...more,
  };
  const volumes = new PodVolumes({ files: machine.host.files, folder: '/v', hostPathRoots: ['/allowed'] });
  const update = (list: Parameters<PodVolumes['update']>[0], now: number) =>
    volumes.update(list, { pod: podOf(), sources, around, now });
  /** What is in the volume, behind its link. */
  const read = async (volume: string, name: string) => {
    const data = await machine.host.files.linkTarget(`/v/${volume}/..data`);
    return machine.host.files.read(`/v/${volume}/${data}/${name}`);
  };
  const mountOf = async (name: string) => {
    const container = { name: 'main', volumeMounts: [{ name, mountPath: `/m/${name}` }] };
    return (await volumes.mountsOf(container, {}))[0];
  };
  return { machine, asked, update, read, mountOf };
}

test('a token is asked for once, and again when it is time', async () => {
  const { asked, update, read } = scene();
  assert.equal(await update([token], 0), 800);
  assert.equal(await update([token], 799), 800);
  assert.deepEqual([asked.length, await read('t', 'token')], [1, 'token-1']);
  assert.equal(await update([token], 800), 1_600);
  assert.deepEqual([asked.length, await read('t', 'token')], [2, 'token-2']);
});

test('nothing is written when nothing changed, and what went away is gone', async () => {
  let content: Content | null = { a: Buffer.from('1'), b: Buffer.from('2') };
  const { machine, update, read } = scene({ configMap: async () => content });
  const volume = { name: 'c', configMap: { name: 'm' } };
  await update([volume], 1);
  const first = await machine.host.files.linkTarget('/v/c/..data');
  await update([volume], 2);
  assert.equal(await machine.host.files.linkTarget('/v/c/..data'), first);
  content = { b: Buffer.from('3') };
  await update([volume], 3);
  assert.equal(await read('c', 'b'), '3');
  const left = ((await machine.host.files.list('/v/c')) ?? [])
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('..'));
  assert.deepEqual(left, ['b']);
  content = null;
  await assert.rejects(update([volume], 4), /configmap "m" not found/);
  assert.equal(await read('c', 'b'), '3', 'what was there stays');
});

test('paths that lead out of a volume are refused, whoever let them through', async () => {
  const { update } = scene({ configMap: async () => ({ k: Buffer.from('x') }) });
  for (const path of ['../x', '/x', 'a/../../x', 'a//b', '']) {
    const volume = { name: 'c', configMap: { name: 'm', items: [{ key: 'k', path }] } };
    await assert.rejects(update([volume], 1), /leads out of the volume/, path);
  }
});

test('what is made of objects is not for pods to write to, nor is a claim that is asked for so', async () => {
  const claim = { metadata: { name: 'c', uid: 'u' }, spec: { volumeName: 'pv' }, status: { phase: 'Bound' } } as const;
  const volume = { metadata: {}, spec: { claimRef: { uid: 'u' }, hostPath: { path: '/allowed/pv' } } };
  const { machine, update, mountOf } = scene({
    configMap: async () => ({ a: Buffer.from('1') }),
    secret: async () => ({ a: Buffer.from('1') }),
    claim: async () => claim as unknown as Awaited<ReturnType<Sources['claim']>>,
    volume: async () => volume as unknown as Awaited<ReturnType<Sources['volume']>>,
  });
  await machine.host.files.makeFolder('/allowed');
  const sealed = [
    { name: 'conf', configMap: { name: 'm' } },
    { name: 'secret', secret: { secretName: 's' } },
    { name: 'me', downwardAPI: { items: [{ path: 'n', fieldRef: { fieldPath: 'metadata.name' } }] } },
    { name: 'all', projected: { sources: [{ configMap: { name: 'm' } }] } },
    { name: 'read', persistentVolumeClaim: { claimName: 'c', readOnly: true } },
  ];
  const open = [
    { name: 'empty', emptyDir: {} },
    { name: 'written', persistentVolumeClaim: { claimName: 'c' } },
  ];
  await update([...sealed, ...open], 0);
  for (const { name } of sealed) assert.equal((await mountOf(name))?.isReadOnly, true, name);
  for (const { name } of open) assert.equal((await mountOf(name))?.isReadOnly, false, name);
});

test('host paths are what they are said to be; a file is made if so wished, the way to it is not', async () => {
  const { machine, update, mountOf } = scene();
  const { files } = machine.host;
  await files.makeFolder('/allowed/folder');
  const at = (path: string, type: string) => [{ name: 'h', hostPath: { path, type } }];
  await update(at('/allowed/made', 'FileOrCreate'), 0);
  assert.deepEqual([await files.kindOf('/allowed/made'), (await mountOf('h'))?.isFile], ['file', true]);
  await update(at('/allowed/made', 'FileOrCreate'), 1);
  await update(at('/allowed/new', 'DirectoryOrCreate'), 2);
  assert.equal(await files.kindOf('/allowed/new'), 'folder');
  const refusals = [
    ['/allowed/folder', 'FileOrCreate', /is not a file/],
    ['/allowed/none/file', 'FileOrCreate', /does not exist/],
    ['/elsewhere', 'FileOrCreate', /does not lie below/],
    ['/allowed/made', 'Socket', /is not a socket file/],
    ['/allowed/folder', 'BlockDevice', /is not a block device/],
    ['/allowed/made', 'Directory', /is not a directory/],
  ] as const;
  for (const [path, type, message] of refusals) await assert.rejects(update(at(path, type), 3), message, type);
  assert.equal(await files.kindOf('/elsewhere'), undefined);
});
