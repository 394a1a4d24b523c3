import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefused } from '../api/operation.ts';
import type { NodeReport } from '../api/view.ts';
import { fixOperation } from './fix.ts';
import { counted, decide, goalFor, mend, type Nodes, p0, p1, refusedCodes, worldOf } from './fix-testing.ts';
import { brief, openAt } from './moves-testing.ts';

const databases = (keyspace: Readonly<Record<number, number>>) => (report: NodeReport) => ({ ...report, keyspace });

/** Half-way from p0 to p1, with keys in database 3 of the source. */
const halfWay: Nodes = {
  p0: { migrating: openAt([5], p1), keys: { 5: 2 }, report: databases({ 0: 1, 3: 1 }) },
  p1: { importing: openAt([5], p0), keys: { 5: 1 } },
};

test('a move that MIGRATE cannot finish is refused at once', () => {
  const decision = decide(worldOf(halfWay));
  assert.ok(isRefused(decision));
  assert.deepEqual(
    decision.refused.map(({ code, subjects }) => ({ code, subjects })),
    [{ code: 'MIGRATE_DATABASES', subjects: [p0] }],
  );
  assert.match(decision.refused[0]?.message ?? '', /databases 3,.*slot 5/);
});

test('strays that are in no database that MIGRATE sees are refused at once', () => {
  assert.deepEqual(refusedCodes(worldOf({ p1: { keys: { 5: 3 }, report: databases({ 1: 3 }) } })), [
    'MIGRATE_DATABASES',
  ]);
});

test('strays that may be in database 0 are left to the handler, which looks', () => {
  const world = worldOf({ p1: { keys: { 5: 3 }, report: databases({ 0: 3, 1: 40 }) } });
  assert.deepEqual(mend(world).done, ['collect 5 p1→p0']);
});

test('the last step of a move needs no MIGRATE', () => {
  const world = worldOf({
    p0: { slots: '0-4,6-4095', migrating: openAt([5], p1), report: databases({ 3: 1 }) },
    p1: { slots: '5,4096-8191' },
  });
  assert.deepEqual(mend(world).done, ['migrate 5 p0→p1']);
});

test('what else is damaged is mended first', () => {
  const world = worldOf({ ...halfWay, p2: { slots: '8193-12287' } });
  const goal = goalFor(world);
  const plan = fixOperation.plan(goal, counted(world), 0, []);
  assert.deepEqual(plan.refused ?? [], []);
  assert.deepEqual(brief(plan.commands), ['claim 8192 p2']);
  const after = fixOperation.plan(goal, counted(worldOf(halfWay)), 0, []);
  assert.deepEqual(
    after.refused?.map(({ code }) => code),
    ['MIGRATE_DATABASES'],
  );
});
