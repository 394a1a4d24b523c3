import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MemberRef, unknown } from '@reeve/runtime';
import { settled } from '@reeve/runtime/testing';
import { LeftOrders } from './left-orders.ts';
import type { Enrolled } from './roster.ts';

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
  readonly ends: { readonly end: () => void; readonly fail: () => void }[] = [];

  sweep({ name }: MemberRef, isWanted: (id: string) => boolean, signal: AbortSignal): Promise<void> {
    assert.equal(isWanted('any'), false);
    this.swept.push(name);
    return new Promise((resolve, reject) => {
      this.ends.push({ end: resolve, fail: () => reject(new Error('no answer')) });
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
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
  const [wait] = left.takeBack('ns/c', roster);
  assert.deepEqual([wait?.reason, wait?.subjects], ['OrdersOpen', ['b']]);
  assert.deepEqual(orders.swept, ['a', 'b']);
  orders.ends[0]?.end();
  await settled();
  assert.equal(left.takeBack('ns/c', roster).length, 1);
  assert.equal(orders.swept.length, 2, 'one sweep at a time');
  orders.ends[1]?.end();
  await settled();
  assert.deepEqual(woken, ['ns/c']);
  assert.deepEqual(left.takeBack('ns/c', [enrolled('a'), enrolled('b')]), []);
  assert.equal(orders.swept.length, 2);
  assert.equal(left.takeBack('ns/c', roster).length, 1, 'an order that shows later is taken back, too');
  assert.deepEqual(orders.swept.slice(2), ['b']);
});

test('what failed is begun anew by the next turn, without a loop; orders of ours make it forget', async () => {
  const { orders, woken, left } = scene();
  left.takeBack('ns/c', [enrolled('a', 1)]);
  orders.ends[0]?.fail();
  await settled();
  assert.deepEqual(woken, []);
  assert.equal(left.takeBack('ns/c', [enrolled('a', 1)]).length, 1);
  assert.deepEqual(orders.swept, ['a', 'a']);
  left.forget('ns/c');
  await settled();
  left.takeBack('ns/c', [enrolled('a')]);
  assert.equal(orders.swept.length, 3, 'all are read anew');
  await left[Symbol.asyncDispose]();
  assert.deepEqual(left.takeBack('ns/c', []), [], 'where there is no agent there are no orders');
});
