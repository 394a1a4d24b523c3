import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bestPrimaryAmong, bestPrimaryFor } from './add-node-placement.ts';
import { type Placeable, type Placed, placementProblems } from './placement-score.ts';

const spreadBy = ['zone'];
const at = (id: string, zone: string): Placeable => ({ id, annotations: { zone } });
const primary = (id: string, zone: string): Placed => ({ ...at(id, zone), role: 'primary' });

/** Who follows whom when they come one after the other, each with those who come after it in sight. */
function placeAll(primaries: readonly Placed[], coming: readonly Placeable[], sees: number): readonly Placed[] {
  let placed: readonly Placed[] = primaries;
  const candidates = primaries.map(({ id }) => id);
  for (const [index, one] of coming.entries()) {
    const company = coming.slice(index + 1, index + 1 + sees);
    const primaryId = bestPrimaryAmong([one, ...company], placed, candidates, spreadBy);
    assert.ok(primaryId !== undefined);
    placed = [...placed, { ...one, role: 'replica', primaryId }];
  }
  return placed;
}

const shared = (placed: readonly Placed[]) =>
  placementProblems(placed, spreadBy).filter(({ kind }) => kind === 'shared');

test('alone it goes where a replica is missing and shares least; the last one of several is not left beside its primary', () => {
  const primaries = [primary('p1', 'a'), primary('p2', 'b'), primary('p3', 'c')];
  assert.equal(bestPrimaryFor(at('r', 'a'), primaries, ['p1', 'p2', 'p3'], spreadBy), 'p2');
  const coming = [at('r1', 'a'), at('r2', 'b'), at('r3', 'c')];
  assert.deepEqual(shared(placeAll(primaries, coming, 2)), []);
  // By itself the first takes the place that only the last could have had.
  assert.equal(shared(placeAll(primaries, [at('r1', 'a'), at('r2', 'b'), at('r3', 'c')], 0)).length, 1);
});

test('whoever comes in whatever order: nobody lies beside its primary where that can be', () => {
  const zone = fc.constantFrom('a', 'b', 'c');
  const worlds = fc.record({
    primaries: fc.array(zone, { minLength: 6, maxLength: 6 }),
    replicas: fc.array(zone, { minLength: 6, maxLength: 6 }),
  });
  fc.assert(
    fc.property(worlds, (zones) => {
      const all = [...zones.primaries, ...zones.replicas];
      // A zone with more nodes than there are shards has two of one.
      fc.pre(['a', 'b', 'c'].every((one) => all.filter((each) => each === one).length <= 6));
      const primaries = zones.primaries.map((where, index) => primary(`p${index}`, where));
      const coming = zones.replicas.map((where, index) => at(`r${index}`, where));
      const placed = placeAll(primaries, coming, 8);
      assert.deepEqual(shared(placed), []);
      const followed = placed.flatMap(({ primaryId }) => primaryId ?? []);
      assert.equal(new Set(followed).size, 6);
    }),
    { numRuns: 100 },
  );
});
