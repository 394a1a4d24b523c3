import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fateOf, type Owned, type OwnerState } from './plan.ts';

const states: readonly OwnerState[] = ['solid', 'absent', 'waiting', 'unknown'];

function of(owners: string, finalizers: readonly string[] = [], dependents: Owned['dependents'] = 'none'): Owned {
  const named = owners.split(' ').filter(Boolean);
  return { owners: named.map((state, at) => ({ uid: `${at}`, state: state as OwnerState })), finalizers, dependents };
}

const rows: readonly (readonly [name: string, owned: Owned, expected: string])[] = [
  ['no owners', of(''), 'keep'],
  ['one that lives', of('solid'), 'keep'],
  ['one that is gone', of('absent'), 'Background'],
  ['one of two is gone', of('solid absent'), 'leave 1'],
  ['one of two waits', of('waiting solid'), 'leave 0'],
  ['one could not be looked for', of('absent unknown'), 'keep'],
  ['waiting, nothing below', of('waiting'), 'Background'],
  ['waiting, something below', of('waiting', [], 'some'), 'Foreground'],
  ['in a circle', of('waiting', [], 'some are being deleted in foreground'), 'Foreground unblocked'],
  ['gone, wants to orphan', of('absent', ['orphan']), 'Orphan'],
  ['gone, wants foreground', of('absent', ['foregroundDeletion'], 'some'), 'Foreground'],
];

for (const [name, owned, expected] of rows) {
  test(`the fate of an object with owners: ${name}`, () => {
    const fate = fateOf(owned);
    const said =
      fate.type === 'keep'
        ? 'keep'
        : fate.type === 'leave'
          ? `leave ${fate.uids.join()}`
          : `${fate.policy}${fate.unblock ? ' unblocked' : ''}`;
    assert.equal(said, expected);
  });
}

test('nothing is deleted while an owner lives or is unknown', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...states), { maxLength: 4 }), (owners) => {
      const { type } = fateOf(of(owners.join(' ')));
      const isSafe = owners.length === 0 || owners.includes('solid') || owners.includes('unknown');
      assert.equal(type === 'delete', !isSafe);
    }),
  );
});
