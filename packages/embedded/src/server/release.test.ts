import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { releaseStartMemory } from './release.ts';

test('garbage is collected, and nobody else can collect afterwards', async () => {
  const ref = new WeakRef({ some: 'garbage' });
  // What a WeakRef was made for lives at least as long as this turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  releaseStartMemory();
  assert.equal(ref.deref(), undefined);
  assert.equal(runInNewContext('typeof gc'), 'undefined');
});
