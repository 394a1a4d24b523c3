import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keySlot, tagForSlot } from './slot.ts';

test('slots are those of the cluster specification', () => {
  // The specification's own example: CRC16 of 123456789 is 0x31C3.
  assert.equal(keySlot('123456789'), 0x31c3 % 16384);
  assert.equal(keySlot('foo'), 12182);
  assert.equal(keySlot(Buffer.from([0x66, 0x6f, 0x6f])), 12182);
});

test('only a hash tag that is not empty counts', () => {
  assert.equal(keySlot('{user1000}.following'), keySlot('{user1000}.followers'));
  assert.equal(keySlot('foo{}{bar}'), keySlot(Buffer.from('foo{}{bar}')));
  assert.notEqual(keySlot('foo{}{bar}'), keySlot('bar'));
  assert.equal(keySlot('foo{{bar}}zap'), keySlot('{bar'));
  assert.equal(keySlot('foo{bar}{zap}'), keySlot('bar'));
});

test('there is a tag for every slot', () => {
  for (const slot of [0, 1, 8191, 16383]) assert.equal(keySlot(`key:{${tagForSlot(slot)}}`), slot);
});
