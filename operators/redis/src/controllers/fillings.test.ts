import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeReport } from '../api/view.ts';
import { idOf, type TestNode, viewOf } from '../plan/testing.ts';
import { Fillings } from './fillings.ts';

const filling: Partial<TestNode> = {
  linkUp: false,
  report: (report: NodeReport) => ({ ...report, replication: { ...report.replication, syncInProgress: true } }),
};
const down: Partial<TestNode> = { linkUp: false };
const loading: Partial<TestNode> = { unreachable: 'LOADING Valkey is loading the dataset in memory' };

const viewWith = (p0r0: Partial<TestNode>) => viewOf({ primaries: 3, replicas: 1, nodes: { p0r0 } });
const waitFor = (...names: readonly string[]) => ({
  reason: 'ReplicaSync',
  message: 'it is in sync',
  subjects: names.map(idOf),
});

test('a replica that is being filled, or reads what it got, is all that is waited for; others are not', () => {
  const fillings = new Fillings();
  for (const [node, isWaitedFor] of [
    [filling, true],
    [loading, true],
    [down, false],
    [{ unreachable: 'refused' }, false],
    [{}, false],
  ] as const) {
    fillings.saw(viewWith(node));
    assert.equal(fillings.isAllThatIsWaitedFor([waitFor('p0r0')]), isWaitedFor, JSON.stringify(node));
  }
  fillings.saw(viewWith(filling));
  assert.ok(fillings.isAllThatIsWaitedFor([waitFor('p0', 'p0r0')]));
  assert.ok(!fillings.isAllThatIsWaitedFor([waitFor('p0r0'), waitFor('p1r0')]));
  assert.ok(!fillings.isAllThatIsWaitedFor([]));
});

test('one that breaks off again and again is waited for like anything else, until it was complete once', () => {
  const fillings = new Fillings();
  const isCounted = (...looks: readonly Partial<TestNode>[]) => {
    for (const look of looks) fillings.saw(viewWith(look));
    return !fillings.isAllThatIsWaitedFor([waitFor('p0r0')]);
  };
  assert.equal(isCounted(filling, down, filling, loading, filling, down, filling), false);
  assert.equal(isCounted(down, filling), true);
  assert.equal(isCounted({}, filling), false);
  // It dies each time that it reads what it got, and nobody ever hears of it in between.
  const dead = { unreachable: 'refused' };
  assert.equal(isCounted(loading, dead, loading, dead, loading), false);
  assert.equal(isCounted(dead, loading), true);
});
