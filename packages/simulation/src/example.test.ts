/** The example of the public face: two counters that read, add one and write back, as many a program does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Incarnation, runSeeds, type Scenario, simulate, Violation, weightOf } from './index.ts';

const lostUpdate: Scenario = {
  name: 'lost-update',
  build() {
    let stored = 0;
    const addOne = async (life: Incarnation) => {
      const read = await life.effect('store.read', { apply: () => stored });
      await life.effect('store.write', {
        detail: String(read + 1),
        apply: () => {
          stored = read + 1;
        },
      });
    };
    return {
      processes: [
        { name: 'first', run: addOne },
        { name: 'second', run: addOne },
      ],
      faults: { kinds: [] },
      atEnd() {
        if (stored !== 2) throw new Violation('LOST_UPDATE', `two additions gave ${stored}`);
      },
    };
  },
};

test('seeds find the lost update, shrinking makes it short, the list replays it', async () => {
  const { failures } = await runSeeds(lostUpdate, { count: 50, stopAfter: 1 });
  const [found] = failures;
  assert.equal(found?.failure.code, 'LOST_UPDATE');
  assert.ok(weightOf(found.smallest.choices) <= 1, `still ${found.smallest.choices}`);

  const again = await simulate(lostUpdate, { choices: found.smallest.choices });
  assert.equal(again.failure?.code, 'LOST_UPDATE');
  assert.equal(again.hash, found.smallest.hash);
  assert.deepEqual(
    again.trace.filter((line) => line.includes('store')).map((line) => line.replace(/^\+0 ms /, '')),
    [
      'first#1 store.read → ok',
      'second#1 store.read → ok',
      'first#1 store.write 1 → ok',
      'second#1 store.write 1 → ok',
    ],
  );
});
