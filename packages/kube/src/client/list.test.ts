import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resource } from '../object/resource.ts';
import { testPorts } from '../ports/testing.ts';
import { KubeClient } from './client.ts';
import { type Answer, type Exchange, failureBody, scripted } from './server-testing.ts';

const pods = resource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });

function clientOf(answer: (exchange: Exchange, count: number) => Answer) {
  const { transport, seen } = scripted(answer);
  return { seen, pods: new KubeClient({ ...testPorts(), transport }).resource(pods) };
}

/** A server with `total` pods that hands them out in pages and forgets them after `patience` pages. */
function paged(total: number, patience = Number.POSITIVE_INFINITY) {
  return clientOf(({ query }, count) => {
    if (query.continue && count > patience) return { status: 410, body: failureBody(410, 'Expired') };
    const from = Number(query.continue ?? 0);
    const to = Math.min(total, from + Number(query.limit ?? total));
    const items = Array.from({ length: to - from }, (_, index) => ({
      metadata: { name: `p${from + index}`, managedFields: [{ manager: 'm' }] },
    }));
    const more = to < total ? { continue: String(to) } : {};
    return { body: { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '9', ...more }, items } };
  });
}

test('pages follow each other, by 500 if not told otherwise', async () => {
  const { pods: client, seen } = paged(1200);
  const sizes: number[] = [];
  for await (const page of client.pages({ resourceVersion: '5', resourceVersionMatch: 'NotOlderThan' }))
    sizes.push(page.items.length);
  assert.deepEqual(sizes, [500, 500, 200]);
  assert.deepEqual(
    seen.map(({ query }) => query),
    [
      { limit: '500', resourceVersion: '5', resourceVersionMatch: 'NotOlderThan' },
      { limit: '500', continue: '500' },
      { limit: '500', continue: '1000' },
    ],
  );
});

test('all of them, with the version to watch from, also when pages expire on the way', async () => {
  const good = await paged(1200).pods.listAll({ limit: 100 });
  assert.equal(good.items.length, 1200);
  assert.equal(good.resourceVersion, '9');
  const expiring = paged(1200, 2);
  const whole = await expiring.pods.listAll({ labelSelector: 'a=b' });
  assert.equal(new Set(whole.items.map(({ metadata }) => metadata.name)).size, 1200);
  assert.equal(whole.items.length, 1200);
  assert.deepEqual(expiring.seen.at(-1)?.query, { labelSelector: 'a=b' });
  await assert.rejects(
    async () => {
      for await (const _page of paged(1200, 1).pods.pages());
    },
    { code: 'KUBE_GONE' },
  );
});

test('a first page that is gone is the caller’s to know', async () => {
  const { pods: client, seen } = clientOf(() => ({ status: 410, body: failureBody(410, 'Expired') }));
  await assert.rejects(client.listAll({ resourceVersion: '1' }), { code: 'KUBE_GONE' });
  assert.equal(seen.length, 1);
});

test('items say what they are, and lose managed fields when asked', async () => {
  const [first] = (await paged(1).pods.list()).items;
  assert.deepEqual([first?.apiVersion, first?.kind, first?.metadata.managedFields?.length], ['v1', 'Pod', 1]);
  const [second] = (await paged(1).pods.list({ dropManagedFields: true })).items;
  assert.equal(second?.metadata.managedFields, undefined);
});

test('a lazy list is the same list', async () => {
  assert.deepEqual(await paged(3).pods.list({ lazy: true, limit: 2 }), await paged(3).pods.list({ limit: 2 }));
  const [first] = (await paged(1).pods.list({ lazy: true, dropManagedFields: true })).items;
  assert.deepEqual(first, { metadata: { name: 'p0' }, apiVersion: 'v1', kind: 'Pod' });
});

test('a list of metadata that has nothing in it comes with null for its items', async () => {
  const body = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata: {}, items: null };
  const { pods: client } = clientOf(() => ({ body: body as never }));
  assert.deepEqual((await client.list()).items, []);
});
