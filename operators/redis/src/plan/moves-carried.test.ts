import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeCarriedMarks } from './moves-carried.ts';
import { idOf, viewOf } from './testing.ts';

const open = (slot: number, peer: string) => ({ slot, peer: idOf(peer) });

test('a mark that only a replica carries is closed through its primary', () => {
  const view = viewOf({ primaries: 3, replicas: 1, nodes: { p0r0: { migrating: [open(5, 'p1'), open(6, 'p1')] } } });
  const [command, ...more] = closeCarriedMarks(view, [[0, 100]]);
  assert.equal(more.length, 0);
  assert.equal(command?.node.id, idOf('p0'));
  assert.equal(command?.slots, '5-6');
  assert.deepEqual(
    command?.carriedBy?.map(({ id }) => id),
    [idOf('p0r0')],
  );
});

test('a mark that the primary has itself, or of other slots, is left alone', () => {
  const both = viewOf({
    primaries: 3,
    replicas: 1,
    nodes: { p0: { migrating: [open(5, 'p1')] }, p0r0: { migrating: [open(5, 'p1')] } },
  });
  assert.deepEqual(closeCarriedMarks(both, [[0, 100]]), []);
  const elsewhere = viewOf({ primaries: 3, replicas: 1, nodes: { p0r0: { migrating: [open(5, 'p1')] } } });
  assert.deepEqual(closeCarriedMarks(elsewhere, [[50, 100]]), []);
});
