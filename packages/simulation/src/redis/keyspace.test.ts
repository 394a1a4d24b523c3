import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { slotOfKey } from './crc16.ts';
import { entryOf, Keyspace } from './keyspace.ts';

test('the index by slot always agrees with the keys', () => {
  const step = fc.tuple(fc.constantFrom('a', 'b', '{a}1', '{a}2', 'c'), fc.constantFrom('set', 'volatile', 'delete'));
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const keys = new Keyspace();
      const expected = new Map<string, number | undefined>();
      for (const [key, action] of steps) {
        if (action === 'delete') {
          assert.equal(keys.delete(key), expected.delete(key));
          continue;
        }
        const expireAt = action === 'volatile' ? 100 : undefined;
        keys.set(key, entryOf(key, 'x', expireAt));
        expected.set(key, expireAt);
      }
      assert.equal(keys.size, expected.size);
      assert.deepEqual([...keys.keys()].sort(), [...expected.keys()].sort());
      for (const slot of new Set([...expected.keys()].map(slotOfKey))) {
        const inSlot = [...expected.keys()].filter((key) => slotOfKey(key) === slot);
        assert.equal(keys.countInSlot(slot), inSlot.length);
        assert.deepEqual(keys.keysInSlot(slot).sort(), inSlot.sort());
      }
      const volatile = [...expected].filter(([, at]) => at !== undefined).map(([key]) => key);
      assert.deepEqual(keys.expire(100).sort(), volatile.sort());
      assert.equal(keys.size, expected.size - volatile.length);
    }),
  );
});

test('what has expired is gone for readers before it is removed', () => {
  const keys = new Keyspace();
  keys.set('a', entryOf('a', 'x', 50));
  assert.equal(keys.get('a', 49)?.value, 'x');
  assert.equal(keys.get('a', 50), undefined);
  assert.equal(keys.size, 1);
});
