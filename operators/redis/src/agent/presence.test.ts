import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LeaseObject } from '@reeve/runtime';
import { type LeaseSight, lostAt, presenceOf, seeLease } from './presence.ts';

function lease(renewTime: string, more: Partial<NonNullable<LeaseObject['spec']>> = {}): LeaseObject {
  return { metadata: { name: 'member-a', uid: 'u' }, spec: { holderIdentity: 'one', renewTime, ...more } };
}

const BEGIN = 1_000_000;

test('an agent is lost after three silent turns of the manager’s clock', () => {
  const sight = seeLease(undefined, lease('t1'), BEGIN);
  assert.equal(presenceOf(sight, BEGIN + 29_999).is, 'heard');
  assert.deepEqual(presenceOf(sight, BEGIN + 30_000), { is: 'lost', silentMs: 30_000 });
  assert.equal(lostAt(sight, BEGIN + 29_999), BEGIN + 30_000);
  assert.equal(lostAt(sight, BEGIN + 30_000), undefined, 'it is lost already');
});

test('a renewal ends the silence; the same lease told again does not', () => {
  let sight: LeaseSight | undefined;
  for (let second = 0; second <= 60; second += 10) {
    sight = seeLease(sight, lease(`t${second}`), BEGIN + second * 1_000);
    assert.equal(presenceOf(sight, BEGIN + second * 1_000).is, 'heard');
  }
  for (let second = 61; second <= 90; second++) sight = seeLease(sight, lease('t60'), BEGIN + second * 1_000);
  assert.deepEqual(presenceOf(sight, BEGIN + 90_000), { is: 'lost', silentMs: 30_000 });
  sight = seeLease(sight, lease('t91'), BEGIN + 91_000);
  assert.equal(presenceOf(sight, BEGIN + 91_000).is, 'heard');
});

test('another life, or a lease made anew, is heard of though its times are the same', () => {
  const sight = seeLease(undefined, lease('t1'), BEGIN);
  for (const other of [lease('t1', { holderIdentity: 'two' }), { ...lease('t1'), metadata: { name: 'l', uid: 'v' } }]) {
    assert.equal(presenceOf(seeLease(sight, other, BEGIN + 40_000), BEGIN + 40_000).is, 'heard');
  }
});

test('times and durations that an agent writes are not believed', () => {
  const sight = seeLease(undefined, lease('2999-01-01T00:00:00.000000Z', { leaseDurationSeconds: 86_400 }), BEGIN);
  assert.equal(presenceOf(sight, BEGIN + 30_000).is, 'lost');
});

test('no lease says nothing, and one that nobody ever held is no loss', () => {
  assert.deepEqual(presenceOf(undefined, BEGIN), { is: 'unknown' });
  const sight = seeLease(undefined, { metadata: { name: 'l', uid: 'u' }, spec: { leaseDurationSeconds: 30 } }, BEGIN);
  assert.deepEqual(presenceOf(sight, BEGIN + 90_000), { is: 'awaited', silentMs: 90_000 });
  assert.equal(lostAt(sight, BEGIN), undefined);
});

test('a lease that is only found proves nobody alive; its first renewal does', () => {
  const found = seeLease(undefined, lease('t1'), BEGIN);
  assert.deepEqual(presenceOf(found, BEGIN), { is: 'heard', silentMs: 0, isProved: false });
  const told = seeLease(found, lease('t1'), BEGIN + 5_000);
  assert.deepEqual(presenceOf(told, BEGIN + 5_000), { is: 'heard', silentMs: 5_000, isProved: false });
  const renewed = seeLease(told, lease('t2'), BEGIN + 9_000);
  assert.deepEqual(presenceOf(renewed, BEGIN + 10_000), { is: 'heard', silentMs: 1_000, isProved: true });
});
