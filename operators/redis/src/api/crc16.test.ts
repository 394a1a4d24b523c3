import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc16, slotOfKey } from './crc16.ts';

test('the CRC is the one that the cluster specification names', () => {
  assert.equal(crc16(Buffer.from('123456789')), 0x31c3);
  assert.equal(crc16(Buffer.alloc(0)), 0);
});

test('slots are those that real servers answer to CLUSTER KEYSLOT', () => {
  const answers: readonly [string | Buffer, number][] = [
    ['', 0],
    ['a', 15495],
    ['foo', 12182],
    ['somekey', 11058],
    ['ключ', 10303],
    [Buffer.from([0xff, 0x00, 0x80, 0x0d, 0x0a]), 14051],
  ];
  for (const [key, slot] of answers) assert.equal(slotOfKey(key), slot, `key ${JSON.stringify(key)}`);
});

test('a hash tag alone decides, an empty or unclosed one does not count', () => {
  assert.equal(slotOfKey('foo{hash_tag}'), slotOfKey('hash_tag'));
  assert.equal(slotOfKey('{user1000}.following'), slotOfKey('{user1000}.followers'));
  assert.equal(slotOfKey('foo{{bar}}zap'), slotOfKey('{bar'));
  assert.equal(slotOfKey('foo{bar}{zap}'), slotOfKey('bar'));
  assert.equal(slotOfKey('foo{}{bar}'), crc16(Buffer.from('foo{}{bar}')) % 16384);
  assert.notEqual(slotOfKey('foo{}{bar}'), slotOfKey('bar'));
  assert.equal(slotOfKey('}a{b'), crc16(Buffer.from('}a{b')) % 16384);
});
