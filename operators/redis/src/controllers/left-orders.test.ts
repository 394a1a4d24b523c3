import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MemberRef, unknown } from '@reeve/runtime';
import { settled } from '@reeve/runtime/testing';
import { LeftOrders } from './left-orders.ts';
import type { Enrolled } from './roster.ts';

const cluster = { key: 'ns/c', uid: 'first' };

const enrolled = (name: string, openOrders = 0): Enrolled => ({
  namespace: 'ns',
  name,
  uid: `uid-${name}`,
  endpoint: { host: '10.0.0.1', port: 6379 },
  isDeleting: false,
  presence: { is: 'unknown' },
  facts: unknown('nobody said'),
  annotations: {},
  openOrders,
});

class Orders {
  readonly swept: string[] = [];
  readonly abandoned: string[] = [];
  readonly ends: { readonly end: () => void; readonly fail: () => void }[] = [];

  sweep({ name }: MemberRef, isWanted: (id: string) => boolean, signal: AbortSignal): Promise<void> {
    assert.equal(isWanted('any'), false);
    this.swept.push(name);
    return new Promise((resolve, reject) => {
      this.ends.push({ end: resolve, fail: () => reject(new Error('no answer')) });
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  async abandon({ name }: MemberRef, isGone: () => Promise<boolean>): Promise<boolean> {
    const answer = await isGone();
    if (answer) this.abandoned.push(name);
    return answer;
  }
}

function scene() {
  const orders = new Orders();
  const woken: string[] = [];
  return { orders, woken, left: new LeftOrders(orders, (cluster) => void woken.push(cluster)) };
}

test('the first time all members are read live; it is told until all is taken back, and then nothing is', async () => {
  const { orders, woken, left } = scene();
  const roster = [enrolled('a'), enrolled('b', 1)];
  const [wait] = left.takeBack(cluster, roster);
  assert.deepEqual([wait?.reason, wait?.subjects], ['OrdersOpen', ['b']]);
  assert.deepEqual(orders.swept, ['a', 'b']);
  orders.ends[0]?.end();
  await settled();
  assert.equal(left.takeBack(cluster, roster).length, 1);
  assert.equal(orders.swept.length, 2, 'one sweep at a time');
  orders.ends[1]?.end();
  await settled();
  assert.deepEqual(woken, ['ns/c']);
  assert.deepEqual(left.takeBack(cluster, [enrolled('a'), enrolled('b')]), []);
  assert.equal(orders.swept.length, 2);
  assert.equal(left.takeBack(cluster, roster).length, 1, 'an order that shows later is taken back, too');
  assert.deepEqual(orders.swept.slice(2), ['b']);
});

test('what failed is begun anew by the next turn, without a loop; orders of ours make it forget', async () => {
  const { orders, woken, left } = scene();
  left.takeBack(cluster, [enrolled('a', 1)]);
  orders.ends[0]?.fail();
  await settled();
  assert.deepEqual(woken, []);
  assert.equal(left.takeBack(cluster, [enrolled('a', 1)]).length, 1);
  assert.deepEqual(orders.swept, ['a', 'a']);
  left.forget('ns/c');
  await settled();
  left.takeBack(cluster, [enrolled('a')]);
  assert.equal(orders.swept.length, 3, 'all are read anew');
  await left[Symbol.asyncDispose]();
  assert.deepEqual(left.takeBack(cluster, []), [], 'where there is no agent there are no orders');
});

test('of agents that are to leave nobody waits for one that is surely gone; others are waited for', async () => {
  const { orders, woken, left } = scene();
  const heard: Enrolled = { ...enrolled('h', 1), presence: { is: 'heard', silentMs: 0, isProved: true } };
  const roster = [enrolled('a', 1), enrolled('b', 1), heard, enrolled('d')];
  const gone = new Set(['h', 'd']);
  const asked: string[] = [];
  const isGone = async ({ name }: Enrolled) => {
    asked.push(name);
    if (name === 'b' && asked.length < 3) throw new Error('no answer');
    return gone.has(name);
  };
  const turn = async () => {
    const waits = left.takeBack(cluster, roster, isGone);
    await settled();
    return waits;
  };
  assert.equal((await turn()).length, 1);
  assert.deepEqual(
    [asked.sort(), orders.abandoned],
    [['a', 'b'], []],
    'who is heard of answers; who has no order need not',
  );
  orders.ends[2]?.end();
  orders.ends[3]?.end();
  gone.add('a');
  await turn();
  assert.deepEqual([orders.abandoned, woken], [['a'], []]);
  gone.add('b');
  await turn();
  assert.deepEqual([orders.abandoned, woken], [['a', 'b'], ['ns/c']]);
  assert.deepEqual(left.takeBack(cluster, [enrolled('a'), enrolled('b')], isGone), []);
  assert.equal(orders.swept.length, 4);
});

test('who is only paused is waited for, however dead an agent is', async () => {
  const { orders, left } = scene();
  left.takeBack(cluster, [enrolled('a', 1)]);
  await settled();
  assert.equal(left.takeBack(cluster, [enrolled('a', 1)]).length, 1);
  assert.deepEqual(orders.abandoned, []);
  await left[Symbol.asyncDispose]();
});

test('a cluster of the same name has nothing of the one before it', async () => {
  const { orders, left } = scene();
  left.takeBack(cluster, [enrolled('a')]);
  orders.ends[0]?.end();
  await settled();
  assert.deepEqual(left.takeBack(cluster, [enrolled('a')]), []);
  const next = { ...cluster, uid: 'second' };
  assert.equal(left.takeBack(next, [enrolled('a')]).length, 1, 'its members are read live, too');
  assert.equal(orders.swept.length, 2);
  left.takeBack(cluster, [enrolled('a')]);
  await settled();
  assert.equal(orders.swept.length, 3);
  await left[Symbol.asyncDispose]();
});
