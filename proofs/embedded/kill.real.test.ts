import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { World } from './world.ts';

test('kill -9 under concurrent writes: what was acknowledged is there, nothing is half, watchers see no gap', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-kill-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const world = new World(folder, 8, Math.random);
  let acknowledged = 0;
  for (let round = 0; round < 4; round++) {
    const result = await world.round();
    assert.deepEqual(result.problems, []);
    acknowledged += result.acknowledged;
  }
  assert.deepEqual(await world.finish(), []);
  assert.ok(acknowledged > 20, `only ${acknowledged} writes were acknowledged`);
});
