import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EmbeddedError } from '../errors/errors.ts';
import { bodies, clock, key, put, remove, storeContract } from './contract-testing.ts';
import { type Batch, type Journal, memoryJournal } from './journal.ts';
import { Store } from './store.ts';

storeContract(
  'memory',
  () => {
    const journal = memoryJournal();
    return { open: () => journal, end: () => undefined };
  },
  100,
);

/** A journal that finishes a batch when it is told to. */
function slowJournal() {
  const batches: { readonly batch: Batch; readonly done: () => void; readonly fail: (error: Error) => void }[] = [];
  const journal: Journal = {
    load: async () => ({ rows: [], compacted: 0 }),
    append: (batch) => new Promise((done, fail) => batches.push({ batch, done, fail })),
    close: async () => undefined,
  };
  return { journal, batches, turn: () => new Promise((resolve) => setImmediate(resolve)) };
}

test('nothing is visible, and nothing answered, before it is durable; what came meanwhile goes out together', async () => {
  const { journal, batches, turn } = slowJournal();
  const store = await Store.open({ journal, clock });
  const seen: string[] = [];
  store.listen('pods', (events) => seen.push(...events.map(({ entry }) => entry.body)));
  const answers: string[] = [];
  const note = (name: string) => () => void answers.push(name);
  void store.write(key('x'), put('1')).then(note('first'));
  void store.write(key('y'), put('2')).then(note('second'));
  void store.write(key('z'), put('3')).then(note('third'));
  // Reads on top of what is not durable wait for it.
  void store.write(key('x'), () => ({ type: 'keep' })).then(note('keep'));
  const refusal = store
    .write(key('x'), (current) => {
      throw new Error(`refused on ${current?.body}`);
    })
    .catch((error: Error) => answers.push(error.message));
  await turn();
  assert.deepEqual([store.revision, bodies(store), seen, answers], [0, [], [], []]);
  assert.equal(batches.length, 1);
  batches[0]?.done();
  await refusal;
  await turn();
  assert.deepEqual(answers.sort(), ['first', 'keep', 'refused on 1@1']);
  assert.deepEqual([store.revision, bodies(store), seen], [1, ['a/x 1@1'], ['1@1']]);
  assert.deepEqual(
    batches[1]?.batch.rows.map(({ revision }) => revision),
    [2, 3],
  );
  batches[1]?.done();
  await turn();
  assert.deepEqual(seen, ['1@1', '2@2', '3@3']);
});

test('a journal that fails ends all writing, and what was visible stays readable', async () => {
  const { journal, batches, turn } = slowJournal();
  const store = await Store.open({ journal, clock });
  const first = store.write(key('x'), put('1'));
  batches[0]?.done();
  await first;
  const doomed = [store.write(key('x'), put('2')), store.write(key('y'), put('3'))];
  await turn();
  batches[1]?.fail(new Error('disk full'));
  for (const { status } of await Promise.allSettled(doomed)) assert.equal(status, 'rejected');
  await assert.rejects(store.write(key('z'), put('4')), { code: 'EMBEDDED_STORE_FAILED', message: /disk full/ });
  assert.deepEqual(bodies(store), ['a/x 1@1']);
});

test('a disk that is full refuses what is on its way, and takes writes again when there is room', async () => {
  const { journal, batches, turn } = slowJournal();
  const store = await Store.open({ journal, clock });
  const first = store.write(key('x'), put('1'));
  batches[0]?.done();
  await first;
  const refused = [store.write(key('x'), put('2')), store.write(key('y'), put('3'))];
  // Decided on what is not stored yet, and goes with it.
  refused.push(store.write(key('x'), (current, revision) => ({ type: 'put', body: `${current?.body}+@${revision}` })));
  await turn();
  batches[1]?.fail(new EmbeddedError('EMBEDDED_STORE_FULL', 'database or disk is full'));
  for (const { status } of await Promise.allSettled(refused)) assert.equal(status, 'rejected');
  assert.deepEqual(bodies(store), ['a/x 1@1']);
  const later = store.write(key('x'), (current, revision) => ({ type: 'put', body: `${current?.body}+@${revision}` }));
  await turn();
  batches[2]?.done();
  await later;
  assert.deepEqual(bodies(store), ['a/x 1@1+@2']);
  assert.equal(store.revision, 2);
});

test('lists are in the order of etcd, by namespace or over all, from any place, at any kept revision', async () => {
  const store = await Store.open({ journal: memoryJournal(), clock });
  for (const [namespace, name] of [
    ['a', 'z'],
    ['a-b', 'x'],
    ['a', 'b'],
    ['', 'c'],
  ] as const) {
    await store.write(key(name, namespace), put(''));
  }
  const places = (range: Partial<Parameters<Store['range']>[0]>) =>
    store.range({ resource: 'pods', ...range }).map(({ place }) => place);
  assert.deepEqual(places({}), ['/c', 'a-b/x', 'a/b', 'a/z']);
  assert.deepEqual(places({ namespace: 'a' }), ['a/b', 'a/z']);
  assert.deepEqual(places({ namespace: '' }), ['/c']);
  assert.deepEqual(places({ from: 'a/b\u0000' }), ['a/z']);
  await store.write(key('b', 'a'), remove);
  assert.deepEqual(places({ at: 4, namespace: 'a' }), ['a/b', 'a/z']);
  assert.deepEqual(places({ at: 4, from: 'a/c' }), ['a/z']);
  assert.deepEqual(places({ at: 2 }), ['a-b/x', 'a/z']);
});

test('old events go by age, number and size, never the youngest ones before', async () => {
  let now = 0;
  const history = { maxAgeMs: 10, leastEvents: 2, maxEvents: 4, maxBytes: 100 };
  const store = await Store.open({ journal: memoryJournal(), clock: { now: () => now }, history });
  for (let i = 0; i < 6; i++) await store.write(key('x'), put(''));
  assert.equal(store.compacted, 2);
  now = 11;
  await store.write(key('x'), put(''));
  assert.equal(store.compacted, 5);
  await store.write(key('x'), put('y'.repeat(200)));
  assert.equal(store.compacted, 8);
  assert.deepEqual(store.since('pods', 8), []);
});

test('a listener that throws is reported; others hear of the write, and it is answered', async () => {
  const errors: unknown[] = [];
  const store = await Store.open({ journal: memoryJournal(), clock, onError: (error) => errors.push(error) });
  const problem = new Error('a listener that cannot');
  const seen: string[] = [];
  store.listen('pods', () => {
    throw problem;
  });
  store.listen('pods', (events) => seen.push(...events.map(({ entry }) => entry.body)));
  const written = await store.write(key('x'), put('1'));
  assert.equal(written.entry?.body, '1@1');
  await store.write(key('x'), put('2'));
  assert.deepEqual([seen, errors, bodies(store)], [['1@1', '2@2'], [problem, problem], ['a/x 2@2']]);
});
