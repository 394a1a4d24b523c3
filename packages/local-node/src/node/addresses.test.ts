import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constantRandom } from '@reeve/runtime/testing';
import { MemoryMachine } from '../host/memory-host-testing.ts';
import { AddressPool, addressOf } from './addresses.ts';

const pool = (machine: MemoryMachine, start = 0) =>
  new AddressPool(machine.host.files, constantRandom(start), '/addresses');

test('a new address each time, none that is in use, none that looks like a network', async () => {
  const machine = new MemoryMachine(() => 0);
  const one = pool(machine);
  const other = pool(machine);
  const claimed: string[] = [];
  for (let count = 0; count < 300; count++) claimed.push(await (count % 2 === 0 ? one : other).claim());
  assert.equal(new Set(claimed).size, claimed.length);
  assert.equal(claimed[0], '127.1.0.1');
  assert.ok(!claimed.some((address) => address.endsWith('.0') || address.endsWith('.255')));
  await one.release(claimed[0] as string);
  assert.notEqual(await one.claim(), claimed[0], 'the same one only after all others');
});

test('many at once get different ones', async () => {
  const one = pool(new MemoryMachine(() => 0), 0.5);
  const claimed = await Promise.all(Array.from({ length: 50 }, () => one.claim()));
  assert.equal(new Set(claimed).size, 50);
});

test('addresses come round', () => {
  assert.equal(addressOf(0), '127.1.0.0');
  assert.equal(addressOf((254 << 16) - 1), '127.254.255.255');
  assert.equal(addressOf(254 << 16), '127.1.0.0');
});
