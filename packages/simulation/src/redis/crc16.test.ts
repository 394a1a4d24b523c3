import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotOfKey } from './crc16.ts';

test('slots of keys, as real servers give them', () => {
  // CLUSTER KEYSLOT of a real server; operations/fresh.ts asks one again.
  const slots = { foo: 12182, '{foo}bar': 12182, 'foo{bar}{zap}': 5061, bar: 5061, '123456789': 12739 };
  for (const [key, slot] of Object.entries(slots)) assert.equal(slotOfKey(key), slot, key);
});
