import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pulledText, pulling } from './pulling.ts';

const coming = { message: 'fetching', isComing: true };
const failed = { message: 'no network' };

test('an image on its way is told once, and asked for again soon', () => {
  const first = pulling('valkey:9', coming, undefined, 1_000);
  assert.equal(first.event, 'Pulling image "valkey:9"');
  assert.deepEqual(first.obstacle, {
    reason: 'ContainerCreating',
    message: 'fetching',
    retryAt: 2_000,
    pullingSince: 1_000,
  });
  const second = pulling('valkey:9', coming, first.obstacle, 2_000);
  assert.equal(second.event, undefined);
  assert.equal(second.obstacle.pullingSince, 1_000);
});

test('one that cannot be had is put off for longer and longer, also when it was on its way in between', () => {
  const first = pulling('x', failed, undefined, 0);
  assert.equal(first.event, 'Failed to pull image "x": no network');
  assert.deepEqual([first.obstacle.reason, first.obstacle.waitMs], ['ErrImagePull', 10_000]);
  const between = pulling('x', coming, first.obstacle, 10_000);
  assert.equal(between.event, 'Pulling image "x"');
  const second = pulling('x', failed, between.obstacle, 11_000);
  assert.deepEqual([second.obstacle.reason, second.obstacle.waitMs], ['ImagePullBackOff', 20_000]);
  let last = second.obstacle;
  for (let times = 0; times < 10; times++) last = pulling('x', failed, last, 0).obstacle;
  assert.equal(last.waitMs, 300_000);
});

test('how long it took, as Go writes it', () => {
  assert.equal(pulledText('x', 250), 'Successfully pulled image "x" in 250ms (250ms including waiting).');
  assert.equal(pulledText('x', 3_200), 'Successfully pulled image "x" in 3.2s (3.2s including waiting).');
  assert.equal(pulledText('x', 10_000), 'Successfully pulled image "x" in 10s (10s including waiting).');
  assert.equal(pulledText('x', 70_500), 'Successfully pulled image "x" in 1m10.5s (1m10.5s including waiting).');
});
