import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeClient, type KubeObject, type Stored } from '@reeve/kube';
import { ResourceCache } from '../cache/cache.ts';
import { TestApi } from '../manager/api-testing.ts';
import { parts, things } from '../manager/manager-testing.ts';
import { constantRandom, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { type AnyReflection, ReflectionHandle } from './parts.ts';
import { covers, Writer } from './writer.ts';

test('what was applied to objects of a kind that is not reflected is not remembered: nobody would say that they are gone', async () => {
  const api = new TestApi();
  const client = new KubeClient({ clock: new VirtualClock(), random: constantRandom(0), transport: api.transport });
  const handle = new ReflectionHandle<KubeObject>(things, {});
  const cache = new ResourceCache<Stored<KubeObject>>({ scope: { group: 'test.dev', kind: 'Thing' } });
  cache.replace([], '100');
  handle.attach(cache);
  const of = handle as unknown as AnyReflection;
  const during = async (_key: string, work: () => Promise<string>) => void (await work());
  const writer = new Writer(client, 'test', [of], () => ({ quiet: { during }, echo: { during } }) as never);
  const owner = api.put('things', 'owner', {}) as Stored<KubeObject>;
  const { signal } = new AbortController();
  for (let i = 0; i < 20; i++) await writer.apply(of, owner, parts, { metadata: { name: `p${i}` } }, {}, signal);
  assert.equal(writer.remembered, 0);
  await writer.apply(of, owner, things, { metadata: { name: 't' } }, {}, signal);
  assert.equal(writer.remembered, 1);
  const sent = api.writes.length;
  await writer.apply(of, owner, things, { metadata: { name: 't' } }, {}, signal);
  assert.equal(api.writes.length, sent, 'the same again is not sent');
  writer.forget(things, 'ns/t');
  assert.equal(writer.remembered, 0);
});

test('a status that changes nothing is not taken for an own write: its version is that of somebody else', async () => {
  const api = new TestApi();
  const client = new KubeClient({ clock: new VirtualClock(), random: constantRandom(0), transport: api.transport });
  const versions: (string | undefined)[] = [];
  const during = async (_key: string, work: () => Promise<string | undefined>) => void versions.push(await work());
  const object = api.put('things', 'a', {}) as Stored<KubeObject>;
  const { signal } = new AbortController();
  /** Of a process that knows the object as it was in the beginning. */
  const write = async () => {
    const handle = new ReflectionHandle<KubeObject>(things, {});
    const cache = new ResourceCache<Stored<KubeObject>>({ scope: { group: 'test.dev', kind: 'Thing' } });
    cache.replace([object], object.metadata.resourceVersion);
    handle.attach(cache);
    const of = handle as unknown as AnyReflection;
    const writer = new Writer(client, 'test', [of], () => ({ quiet: { during }, echo: { during } }) as never);
    await writer.status(of, object, { phase: 'Up' }, signal);
  };
  await write();
  assert.ok(versions[0] !== undefined && versions[0] !== object.metadata.resourceVersion);
  await write();
  assert.deepEqual(versions.slice(1), [undefined]);
});

test('compare and swap: a status that was decided on another one is not written, whoever knows of that', async () => {
  const api = new TestApi();
  const client = new KubeClient({ clock: new VirtualClock(), random: constantRandom(0), transport: api.transport });
  const during = async (_key: string, work: () => Promise<unknown>) => void (await work());
  const object = api.put('things', 'a', {}) as Stored<KubeObject>;
  const { signal } = new AbortController();
  const handle = new ReflectionHandle<KubeObject>(things, {});
  const cache = new ResourceCache<Stored<KubeObject>>({ scope: { group: 'test.dev', kind: 'Thing' } });
  cache.replace([object], object.metadata.resourceVersion);
  handle.attach(cache);
  const of = handle as unknown as AnyReflection;
  const writer = new Writer(client, 'test', [of], () => ({ quiet: { during }, echo: { during } }) as never);
  const goalOf = (status: unknown) => (status as { readonly goal?: string } | undefined)?.goal;
  const status = () => (api.object('things', 'ns/a') as { readonly status?: unknown } | undefined)?.status;
  const write = (goal: string, before: string | undefined) =>
    writer.status(of, object, { goal }, signal, { onlyIf: (present) => goalOf(present) === before });
  // Another process wrote its goal, and the watch has not told of it.
  const other = { metadata: { name: 'a', namespace: 'ns' }, status: { goal: 'theirs' } };
  await client.resource(things, 'ns').apply(other as never, { subresource: 'status', fieldManager: 'test' });
  await assert.rejects(write('ours', undefined), { code: 'STATUS_STALE' });
  assert.deepEqual(status(), { goal: 'theirs' });
  // A write in between that says nothing of the goal is no reason not to write.
  api.put('things', 'a', { size: 2 });
  assert.equal(
    await write('ours', 'theirs').catch(({ code }: { code: string }) => code),
    'STATUS_STALE',
    'by the cache',
  );
  cache.replace([api.object('things', 'ns/a') as Stored<KubeObject>], '200');
  api.put('things', 'a', { size: 3 });
  assert.equal(await write('ours', 'theirs'), true);
  assert.deepEqual(status(), { goal: 'ours' });
});

test('what a status says is there, also where the server or others have added to it', () => {
  const rows: readonly (readonly [unknown, unknown, boolean])[] = [
    [{ a: 1, b: 2 }, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [[1, 2], [1, 2], true],
    [[1, 2], [1], false],
    [[{ name: 'x', more: null }], [{ name: 'x' }], true],
    [[{ name: 'x' }, { name: 'y' }], [{ name: 'x' }], false],
    [
      [
        { type: 'B', by: 'them' },
        { type: 'A', status: 'True', at: null },
      ],
      [{ type: 'A', status: 'True' }],
      true,
    ],
    [[{ type: 'A', status: 'False' }], [{ type: 'A', status: 'True' }], false],
    [undefined, [], false],
    [[], [], true],
  ];
  for (const [whole, part, expected] of rows)
    assert.equal(covers(whole, part), expected, JSON.stringify([whole, part]));
});
