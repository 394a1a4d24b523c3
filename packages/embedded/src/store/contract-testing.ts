/** One suite for all journals: what a store on any of them must do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { HistoryLimits } from './history.ts';
import type { Journal } from './journal.ts';
import { type Decide, Store } from './store.ts';

export const clock = { now: () => 0 };
export const key = (name: string, namespace = 'a', resource = 'pods') => ({ resource, namespace, name });
export const put =
  (text: string): Decide =>
  (_current, revision) => ({ type: 'put', body: `${text}@${revision}` });
export const remove: Decide = (current, revision) => ({ type: 'delete', body: `${current?.body} gone@${revision}` });
export const bodies = (store: Store, range: Partial<Parameters<Store['range']>[0]> = {}) =>
  store.range({ resource: 'pods', ...range }).map(({ place, body }) => `${place} ${body}`);

/** A journal that can be opened again. */
export interface Reopenable {
  open(): Journal;
  end(): void;
}

export function storeContract(name: string, make: () => Reopenable, runs: number): void {
  const contract = (what: string, body: (open: (history?: HistoryLimits) => Promise<Store>) => Promise<void>) =>
    test(`${name}: ${what}`, async () => {
      const { open, end } = make();
      const stores: Store[] = [];
      try {
        await body(async (history = {}) => {
          const store = await Store.open({ journal: open(), clock, history });
          stores.push(store);
          return store;
        });
      } finally {
        for (const store of stores) await store.close();
        end();
      }
    });

  void contract('revisions count every write, in the order of their decisions', async (open) => {
    const store = await open();
    const written = await Promise.all([
      store.write(key('x'), put('1')),
      store.write(key('y'), put('2')),
      store.write(key('x'), (current, revision) => ({ type: 'put', body: `${current?.body}+@${revision}` })),
    ]);
    assert.deepEqual(
      written.map(({ entry }) => entry?.body),
      ['1@1', '2@2', '1@1+@3'],
    );
    assert.equal(store.revision, 3);
    assert.deepEqual(bodies(store), ['a/x 1@1+@3', 'a/y 2@2']);
  });

  void contract('everything is found again, with history, and revisions go on', async (open) => {
    const first = await open();
    await first.write(key('x'), put('1'));
    await first.write(key('x'), put('2'));
    await first.write(key('y'), put('3'));
    await first.write(key('y'), remove);
    first.compact(1);
    await first.write(key('é "\u0000', 'b'), put('ü🙂'));
    await first.close();
    const second = await open();
    assert.equal(second.revision, 5);
    assert.equal(second.compacted, 1);
    assert.deepEqual(bodies(second), ['a/x 2@2', 'b/é "\u0000 ü🙂@5']);
    assert.deepEqual(
      second.since('pods', 2).map(({ revision, deleted, previous }) => [revision, deleted, previous?.body]),
      [
        [3, false, undefined],
        [4, true, '3@3'],
        [5, false, undefined],
      ],
    );
    assert.deepEqual(bodies(second, { at: 3 }), ['a/x 2@2', 'a/y 3@3']);
    await second.write(key('x'), put('4'));
    assert.equal(second.revision, 6);
  });

  void contract('revisions never go back, not even when the newest rows were dropped', async (open) => {
    const first = await open({ maxEvents: 1 });
    await first.write(key('x'), put('1'));
    await first.write(key('x'), remove);
    first.compact(2);
    // The next write takes the garbage along.
    await first.write(key('y'), put('2'));
    await first.write(key('y'), remove);
    first.compact(4);
    await first.write(key('z', 'a', 'other'), put('3'));
    await first.close();
    const second = await open();
    assert.deepEqual(bodies(second), []);
    assert.equal(second.revision, 5);
  });

  void contract(
    'any sequence of writes, compactions and restarts leaves the state and past of a simple model',
    async (open) => {
      const step = fc.record({
        name: fc.constantFrom('a', 'b', 'c', 'd-e'),
        namespace: fc.constantFrom('n', 'n-m'),
        what: fc.constantFrom('put', 'put', 'remove', 'compact', 'restart'),
      });
      let round = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          const resource = `r${round++}`;
          let store = await open({ maxEvents: 5 });
          const base = store.revision;
          const past = [new Map<string, string>()];
          for (const { what, ...at } of steps) {
            const now = new Map<string, string>(past.at(-1));
            const place = `${at.namespace}/${at.name}`;
            if (what === 'put') {
              await store.write({ resource, ...at }, put('x'));
              now.set(place, `x@${store.revision}`);
              past.push(now);
            } else if (what === 'remove' && now.has(place)) {
              await store.write({ resource, ...at }, remove);
              now.delete(place);
              past.push(now);
            } else if (what === 'compact') {
              store.compact(store.revision - 1);
            } else if (what === 'restart') {
              await store.close();
              store = await open({ maxEvents: 5 });
            }
          }
          for (let back = 0; back < past.length && store.revision - back >= store.compacted; back++) {
            const at = store.revision - back;
            if (at < base) break;
            const state = store.range({ resource, at }).map(({ place, body }) => [place, body]);
            const wanted = past.at(-1 - back) ?? new Map<string, string>();
            assert.deepEqual(state, [...wanted.entries()].sort());
          }
          await store.close();
        }),
        { numRuns: runs, seed: 7 },
      );
    },
  );
}
