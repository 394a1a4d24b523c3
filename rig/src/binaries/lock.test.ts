import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { exclusively } from './lock.ts';

test('work of one name is done one after the other, work of another name is not held up', async () => {
  const name = randomUUID();
  const order: string[] = [];
  let waits = 0;
  const piece = (label: string) => async () => {
    order.push(`${label} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${label} ends`);
    return label;
  };
  const all = ['a', 'b', 'c'].map((label) => exclusively(name, piece(label), () => waits++));
  assert.equal(await exclusively(randomUUID(), async () => 'other', assert.fail), 'other');
  assert.deepEqual(await Promise.all(all), ['a', 'b', 'c']);
  for (let i = 0; i < order.length; i += 2)
    assert.equal(order[i]?.replace('begins', 'ends'), order[i + 1], order.join());
  assert.equal(waits, 2);
  await assert.rejects(
    exclusively(
      name,
      () => Promise.reject(new Error('no')),
      () => undefined,
    ),
    /no/,
  );
  assert.equal(await exclusively(name, async () => 'again', assert.fail), 'again');
});

test('a holder that is killed holds nothing any more', async () => {
  const name = randomUUID();
  const holder: ChildProcess = fork(fileURLToPath(new URL('./lock-testing.ts', import.meta.url)), [name], {
    stdio: 'ignore',
  });
  assert.deepEqual(await once(holder, 'message'), ['held', undefined]);
  let killed = false;
  const result = await exclusively(
    name,
    async () => killed,
    () => {
      killed = true;
      holder.kill('SIGKILL');
    },
  );
  assert.equal(result, true);
});
