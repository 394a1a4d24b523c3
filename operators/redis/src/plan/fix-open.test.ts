import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefused } from '../api/operation.ts';
import type { FixRequest } from './fix.ts';
import { decide, gone, keysOf, mend, type Nodes, p0, p1, p2, p3, worldOf } from './fix-testing.ts';
import { openAt } from './moves-testing.ts';
import { idOf, testNode } from './testing.ts';

/** Slot 5 belongs to p0, unless said otherwise. */
const openSlots: readonly { readonly name: string; readonly nodes: Nodes; readonly done: readonly string[] }[] = [
  {
    name: 'a move that was just opened is finished',
    nodes: { p0: { migrating: openAt([5], p1), keys: { 5: 9 } }, p1: { importing: openAt([5], p0) } },
    done: ['migrate 5 p0→p1'],
  },
  {
    name: 'a move with some keys over is finished',
    nodes: { p0: { migrating: openAt([5], p1), keys: { 5: 4 } }, p1: { importing: openAt([5], p0), keys: { 5: 5 } } },
    done: ['migrate 5 p0→p1'],
  },
  {
    name: 'a move with all keys over is finished',
    nodes: { p0: { migrating: openAt([5], p1) }, p1: { importing: openAt([5], p0), keys: { 5: 9 } } },
    done: ['migrate 5 p0→p1'],
  },
  {
    name: 'a move whose target was told gets its last step',
    nodes: {
      p0: { slots: '0-4,6-4095', migrating: openAt([5], p1) },
      p1: { slots: '5,4096-8191', keys: { 5: 9 }, epoch: 9 },
    },
    done: ['migrate 5 p0→p1'],
  },
  {
    name: 'target told, source not yet: the target keeps it',
    nodes: {
      p0: { migrating: openAt([5], p1) },
      p1: { slots: '5,4096-8191', importing: openAt([5], p0), keys: { 5: 9 }, epoch: 9 },
    },
    done: ['claim 5 p1 from p0', 'migrate 5 p0→p1'],
  },
  {
    name: 'a second mark towards the target waits until the move to it is finished',
    nodes: {
      p0: { migrating: openAt([5], p1), keys: { 5: 5 } },
      p1: { importing: openAt([5], p0) },
      p2: { migrating: openAt([5], p1) },
    },
    done: ['migrate 5 p0→p1', 'migrate 5 p2→p1'],
  },
  {
    name: 'importing without migrating, no keys: closed',
    nodes: { p0: { keys: { 5: 9 } }, p1: { importing: openAt([5], p0) } },
    done: ['close 5 p1'],
  },
  {
    name: 'importing without migrating, with keys: collected',
    nodes: { p0: { keys: { 5: 4 } }, p1: { importing: openAt([5], p0), keys: { 5: 5 } } },
    done: ['collect 5 p1→p0'],
  },
  {
    name: 'several importing with keys, nobody migrating: each is collected',
    nodes: {
      p0: { keys: { 5: 4 } },
      p1: { importing: openAt([5], p0), keys: { 5: 5 } },
      p2: { importing: openAt([5], p0), keys: { 5: 6 } },
      p3: { importing: openAt([5], p1) },
    },
    done: ['collect 5 p1→p0', 'collect 5 p2→p0', 'close 5 p3'],
  },
  {
    name: 'one migrating, two importing, one of them the target: finished, the other closed',
    nodes: {
      p0: { migrating: openAt([5], p1), keys: { 5: 9 } },
      p1: { importing: openAt([5], p0) },
      p2: { importing: openAt([5], p0) },
    },
    done: ['migrate 5 p0→p1', 'close 5 p2'],
  },
  {
    name: 'one migrating, two importing with keys: finished, then the rest collected',
    nodes: {
      p0: { migrating: openAt([5], p1), keys: { 5: 3 } },
      p1: { importing: openAt([5], p0), keys: { 5: 3 } },
      p2: { importing: openAt([5], p0), keys: { 5: 3 } },
    },
    done: ['migrate 5 p0→p1', 'collect 5 p2→p1'],
  },
  {
    name: 'one migrating to a node without mark, two others importing with keys: closed, then collected',
    nodes: {
      p0: { migrating: openAt([5], p3), keys: { 5: 3 } },
      p1: { importing: openAt([5], p0), keys: { 5: 3 } },
      p2: { importing: openAt([5], p0) },
    },
    done: ['close 5 p0', 'close 5 p2', 'collect 5 p1→p0'],
  },
  {
    name: 'migrating without importing, target empty: closed',
    nodes: { p0: { migrating: openAt([5], p1), keys: { 5: 9 } } },
    done: ['close 5 p0'],
  },
  {
    name: 'migrating without importing, target with keys: finished',
    nodes: { p0: { migrating: openAt([5], p1), keys: { 5: 4 } }, p1: { keys: { 5: 5 } } },
    done: ['migrate 5 p0→p1'],
  },
  {
    name: 'migrating to a node that nobody knows: closed',
    nodes: { p0: { migrating: openAt([5], gone), keys: { 5: 9 } } },
    done: ['close 5 p0'],
  },
  {
    name: 'migrating to a node that nobody knows, one other with keys: moved on to that one',
    nodes: { p0: { migrating: openAt([5], gone), keys: { 5: 4 } }, p2: { keys: { 5: 5 } } },
    done: ['migrate 5 p0→p2'],
  },
  {
    name: 'migrating to a node that nobody knows, two others with keys: closed, both collected',
    nodes: { p0: { migrating: openAt([5], gone), keys: { 5: 4 } }, p2: { keys: { 5: 5 } }, p3: { keys: { 5: 1 } } },
    done: ['close 5 p0', 'collect 5 p2→p0', 'collect 5 p3→p0'],
  },
  {
    name: 'migrating to a primary that was failed over: moved on to the one it follows',
    nodes: {
      p0: { migrating: openAt([5], p1), keys: { 5: 4 } },
      p1: { role: 'replica', primaryId: idOf('p1r0'), slots: '' },
      p1r0: { role: 'primary', slots: '4096-8191', keys: { 5: 5 }, epoch: 9 },
    },
    done: ['migrate 5 p0→p1r0'],
  },
  {
    name: 'migrating to a replica whose primary has nothing of it: settled by the owner',
    nodes: { p0: { migrating: openAt([5], idOf('p1r0')), keys: { 5: 4 } } },
    done: ['claim 5 p0'],
  },
  {
    name: 'migrating to a node that imports from elsewhere and has keys: settled, then collected',
    nodes: { p0: { migrating: openAt([5], p1), keys: { 5: 4 } }, p1: { importing: openAt([5], p2), keys: { 5: 5 } } },
    done: ['claim 5 p0', 'collect 5 p1→p0'],
  },
  {
    name: 'importing from a node that is gone: collected and closed',
    nodes: { p0: { keys: { 5: 4 } }, p1: { importing: openAt([5, 6], gone), keys: { 5: 5 } } },
    done: ['collect 5 p1→p0', 'close 6 p1'],
  },
  {
    name: 'the owner itself is marked importing: settled by it',
    nodes: { p0: { importing: openAt([5], p1), keys: { 5: 4 } } },
    done: ['claim 5 p0'],
  },
  {
    name: 'a bystander is marked migrating to a third: closed',
    nodes: { p0: { keys: { 5: 4 } }, p1: { migrating: openAt([5], p2) } },
    done: ['close 5 p1'],
  },
  {
    name: 'a bystander is marked migrating to a third with keys: those are collected, and nothing from the bystander',
    nodes: { p0: { keys: { 5: 4 } }, p1: { migrating: openAt([5], p2) }, p2: { keys: { 5: 1 } } },
    done: ['collect 5 p1→p0', 'collect 5 p2→p0'],
  },
  {
    name: 'a bystander is marked migrating to a replica, which has the keys of its primary: nothing is collected from it',
    nodes: { p0: { keys: { 5: 4 } }, p1: { migrating: openAt([5], idOf('p0r0')) }, p0r0: { keys: { 5: 4 } } },
    done: ['collect 5 p1→p0'],
  },
  {
    name: 'two migrating to each other',
    nodes: {
      p0: { migrating: openAt([5], p1), keys: { 5: 4 } },
      p1: { migrating: openAt([5], p0), importing: openAt([5], p0), keys: { 5: 2 } },
    },
    done: ['claim 5 p0', 'collect 5 p1→p0'],
  },
  {
    name: 'a replica carries a mark that its primary has not: the primary is told again',
    nodes: { p0r0: { migrating: openAt([5], p1) }, p2r0: { importing: openAt([5, 6], p0) } },
    done: ['close 5 p0 for p0r0', 'close 5-6 p2 for p2r0'],
  },
  {
    name: 'a replica carries the mark of its primary: it goes with it',
    nodes: { p0: { migrating: openAt([5], p1) }, p0r0: { migrating: openAt([5], p1) } },
    done: ['close 5 p0', 'close 5 p0 for p0r0'],
  },
];

test('a move is taken back, not finished, while a dead primary that was failed over may come back with a mark of it', () => {
  const nodes: Nodes = {
    p0: { migrating: openAt([5], p1), keys: { 5: 4 } },
    p1: { importing: openAt([5], p0), keys: { 5: 5 } },
  };
  const dead = { unreachable: 'refused', flags: ['fail'], host: '10.0.0.99' };
  const target = mend(worldOf(nodes, [testNode('old', dead)]));
  assert.deepEqual(target.done, ['claim 5 p0', 'collect 5 p1→p0']);
  assert.equal(keysOf(target.world), 9);
  // A dead replica comes back as one, and follows.
  const replica = { ...dead, role: 'replica', primaryId: p1 } as const;
  assert.deepEqual(mend(worldOf(nodes, [testNode('old', replica)])).done, ['migrate 5 p0→p1']);
});

test('a move that is finished goes as fast as was asked for, and windowed, as it was begun', () => {
  const nodes = { p0: { migrating: openAt([5], p1), keys: { 5: 9 } }, p1: { importing: openAt([5], p0) } };
  const how = (request?: FixRequest) =>
    mend(worldOf(nodes), request).commands.flatMap((command) =>
      command.type === 'migrate-slots' ? [[command.engine, command.pace]] : [],
    );
  assert.deepEqual(how(), [['windowed', 'gentle']]);
  assert.deepEqual(how({ pace: 'gentle' }), [['windowed', 'gentle']]);
  assert.deepEqual(how({ pace: 'fast' }), [['windowed', 'fast']]);
});

for (const { name, nodes, done } of openSlots) {
  test(`open slot: ${name}`, () => {
    const world = worldOf(nodes);
    const result = mend(world);
    assert.deepEqual(result.done, done);
    assert.equal(keysOf(result.world), keysOf(world));
    assert.ok(result.world.every((node) => node.migrating.length + node.importing.length === 0));
    const again = decide(result.world);
    assert.ok(!isRefused(again) && again.nothingToDo);
  });
}
