import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RedisCommand } from '../api/commands.ts';
import type { NodeRef } from '../api/view.ts';
import { checkCluster } from './check.ts';
import { printCommand, printDecision, printFindings, printPlan, printView } from './print.ts';
import { idOf, viewOf } from './testing.ts';

const a: NodeRef = { id: idOf('a'), endpoint: { host: '10.0.0.1', port: 7000 } };
const b: NodeRef = { id: idOf('b'), endpoint: { host: '10.0.0.2', port: 7000 } };

test('every command prints as one line that names its nodes', () => {
  const why = 'because';
  const commands: readonly RedisCommand[] = [
    { type: 'assign-slots', why, node: a, slots: '0-99' },
    { type: 'set-epochs', why, epochs: [{ node: a, epoch: 4 }] },
    { type: 'meet', why, pairs: [{ from: b, to: a, toBusPort: 17_000 }] },
    { type: 'replicate', why, replica: a, primary: b, mustBeEmpty: true },
    { type: 'migrate-slots', why, source: a, target: b, slots: '7', others: [], engine: 'auto', pace: 'gentle' },
    { type: 'claim-slots', why, owner: a, slots: '1', releaseFrom: [b], others: [] },
    { type: 'collect-keys', why, from: a, owner: b, slots: '1' },
    { type: 'close-slots', why, node: a, slots: '1' },
    { type: 'bump-epoch', why, node: a, epoch: 1 },
    { type: 'forget-node', why, node: a, by: [b], reset: true },
    { type: 'failover', why, replica: a, primary: b, mode: 'graceful' },
    { type: 'copy-functions', why, from: a, to: b },
  ];
  for (const command of commands) {
    const text = printCommand(command);
    assert.ok(text.includes('61000000 (10.0.0.1:7000)'), text);
    assert.ok(!text.includes('\n'), text);
  }
  assert.equal(new Set(commands.map(printCommand)).size, commands.length);
});

test('many pairs are cut, with their number', () => {
  const pairs = Array.from({ length: 20 }, () => ({ from: a, to: b, toBusPort: 17_000 }));
  assert.match(printCommand({ type: 'meet', why: '', pairs }), /and 14 more pairs$/);
});

test('decisions: steps with numbers, reasons, nothing to do, refusals', () => {
  const text = printDecision({ goal: {}, steps: ['one', 'two'], reasons: ['so'] });
  assert.equal(text, 'Steps:\n  1. one\n  2. two\nWhy so:\n  - so');
  assert.match(printDecision({ goal: {}, steps: [], reasons: [], nothingToDo: true }), /^Nothing to do/);
  const refused = printDecision({ refused: [{ code: 'NODE_NOT_EMPTY', message: 'has keys', subjects: [] }] });
  assert.equal(refused, 'Refused, nothing is changed:\n  - NODE_NOT_EMPTY: has keys');
});

test('plans: commands with their why, waits, refusals, or reached', () => {
  assert.match(printPlan({ commands: [] }), /^Reached/);
  const text = printPlan({
    commands: [{ type: 'bump-epoch', why: 'it collides', node: a, epoch: 1 }],
    waitingFor: [{ reason: 'ReplicaSync', message: 'b is syncing', subjects: [] }],
    refused: [{ code: 'X', message: 'no', subjects: [] }],
  });
  for (const part of ['it collides', 'ReplicaSync: b is syncing', 'X: no']) assert.ok(text.includes(part), part);
});

test('findings keep their order and show what to do', () => {
  assert.match(printFindings([]), /^Clean/);
  const view = viewOf({ primaries: 3, nodes: { p0: { slots: '1-5461' } } });
  const text = printFindings(checkCluster(view));
  assert.match(text, /broken: slot 0: no node owns them \[SLOT_UNCOVERED\]\n {4}→ reeve redis fix 10\.0\.0\.1:7000/);
});

test('a view is a table with replicas below their primary and question marks for what is not known', () => {
  const view = viewOf({
    primaries: 3,
    replicas: 1,
    nodes: {
      p0: { keys: { 5: 12 }, annotations: { host: 'alpha', zone: 'z1' }, migrating: [{ slot: 5, peer: idOf('p1') }] },
      p1r0: { unreachable: 'refused', flags: ['fail'] },
      p2r0: { linkUp: false },
    },
    silent: [{ endpoint: { host: '10.9.9.9', port: 1 }, code: 'REDIS_UNREACHABLE', why: 'refused' }],
  });
  const rows = printView(view).split('\n');
  assert.equal(rows.length, 8);
  assert.match(rows[0] ?? '', /^ID +ADDRESS +ROLE +SLOTS +REPLICA OF +LINK +KEYS +MEMORY +HOST +ZONE +FLAGS$/);
  assert.match(
    rows[1] ?? '',
    /^70300000 +10\.0\.0\.1:7000 +primary +5462: 0-5461 +12 +976\.6 KiB +alpha +z1 +migrating 1$/,
  );
  assert.match(rows[2] ?? '', /^70307230 +10\.0\.0\.2:7000 +replica +70300000 +up /);
  assert.match(rows[4] ?? '', /^70317230 .* \? +\? +\? .*unreachable fail$/);
  assert.match(rows[6] ?? '', / down /);
  assert.equal(rows[7], '10.9.9.9:1 does not answer: refused');
});
