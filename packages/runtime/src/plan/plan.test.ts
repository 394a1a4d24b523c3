import assert from 'node:assert/strict';
import { test } from 'node:test';
import { known, unknown, valueOf } from './known.ts';
import { isReached, reached, refuse, waitFor } from './plan.ts';

test('a goal is reached only when there is nothing to do, nothing waited for and nothing refused', () => {
  assert.equal(isReached(reached), true);
  assert.equal(isReached(waitFor(5, { reason: 'Sync', message: 'replica syncs', subjects: [] })), false);
  assert.equal(isReached(refuse({ code: 'NO', message: 'no', subjects: [] })), false);
  assert.equal(isReached({ commands: [{ type: 'x', why: 'y' }] }), false);
});

test('unknown is not absent', () => {
  assert.deepEqual(known(undefined), { known: true, value: undefined });
  assert.equal(valueOf(unknown('no answer')), undefined);
  assert.equal(valueOf(known(7)), 7);
});
