import assert from 'node:assert/strict';
import { test } from 'node:test';
import { known, unknown } from '@reeve/runtime';
import { isRefused } from '../api/operation.ts';
import { ALL_SLOTS, countSlots, formatSlots, minusSlots, unionSlots } from '../api/slots.ts';
import type { NodeReport } from '../api/view.ts';
import { fixOperation } from './fix.ts';
import { counted, decide, goalFor, gone, keysOf, mend, type Nodes, p0, p1, p2, p3, worldOf } from './fix-testing.ts';
import { brief, openAt, viewWith, type World } from './moves-testing.ts';
import { slotsFromText } from './moves-view.ts';
import { clusterNodes, freshNode, idOf, viewOf } from './testing.ts';

const ownership: readonly { readonly name: string; readonly nodes: Nodes; readonly done: readonly string[] }[] = [
  {
    name: 'keys on no node: fewest slots',
    nodes: { p0: { slots: '0-4,6-4095' } },
    done: ['claim 5 p0'],
  },
  {
    name: 'keys on no node: of those with fewest slots the one with most free memory',
    nodes: {
      p0: { slots: '1-4095', usedBytes: 900, maxBytes: 1000 },
      p1: { slots: '4097-8191', usedBytes: 100, maxBytes: 1000 },
      p2: { slots: '8193-12287', usedBytes: 50, maxBytes: 1000 },
    },
    done: ['claim 4096 p1', 'claim 8192 p0', 'claim 0 p2'],
  },
  {
    name: 'keys on no node, many slots: in runs, level with the others',
    nodes: { p0: { slots: '' } },
    done: ['claim 0-4095 p0'],
  },
  {
    name: 'keys on one node: that one',
    nodes: { p0: { slots: '0-4,6-4095' }, p2: { keys: { 5: 1 } } },
    done: ['claim 5 p2'],
  },
  {
    name: 'keys on several nodes: most keys, the others are collected',
    nodes: { p0: { slots: '0-4,6-4095', keys: { 5: 2 } }, p2: { keys: { 5: 3 } }, p3: { keys: { 5: 1 } } },
    done: ['claim 5 p2', 'collect 5 p0→p2', 'collect 5 p3→p2'],
  },
  {
    name: 'equally many keys: the lowest id',
    nodes: { p0: { slots: '0-4,6-4095' }, p3: { keys: { 5: 2 } }, p2: { keys: { 5: 2 } } },
    done: ['claim 5 p2', 'collect 5 p3→p2'],
  },
  {
    name: 'nobody owns it and it is open: most keys, then the marks',
    nodes: {
      p0: { slots: '0-4,6-4095', migrating: openAt([5], p1), keys: { 5: 2 } },
      p1: { importing: openAt([5], p0), keys: { 5: 3 } },
    },
    done: ['claim 5 p1', 'collect 5 p0→p1'],
  },
  {
    name: 'several owners: most keys, the others give it up',
    nodes: { p0: { keys: { 5: 2 } }, p1: { slots: '5,4096-8191', keys: { 5: 3 } } },
    done: ['claim 5 p1 from p0', 'collect 5 p0→p1'],
  },
  {
    name: 'several owners without keys: the newest configuration',
    nodes: { p1: { slots: '5,4096-8191' }, p2: { slots: '5,8192-12287' } },
    done: ['claim 5 p2 from p1,p0'],
  },
  {
    name: 'several owners, one of them half-way in a move',
    nodes: {
      p0: { migrating: openAt([5], p2), keys: { 5: 4 } },
      p1: { slots: '5,4096-8191' },
      p2: { importing: openAt([5], p0), keys: { 5: 1 } },
    },
    done: ['claim 5 p0 from p1', 'collect 5 p2→p0'],
  },
  {
    name: 'keys outside their slot: collected to the owner',
    nodes: { p1: { keys: { 5: 3, 4100: 7 } }, p3: { keys: { 5: 1 } } },
    done: ['collect 5 p1→p0', 'collect 5 p3→p0'],
  },
];

for (const { name, nodes, done } of ownership) {
  test(`ownership: ${name}`, () => {
    const world = worldOf(nodes);
    const result = mend(world);
    assert.deepEqual([...result.done].sort(), [...done].sort());
    assert.equal(keysOf(result.world), keysOf(world));
    const all = unionSlots(...result.world.map(({ slots }) => slotsFromText(slots)));
    assert.equal(countSlots(all), 16384);
  });
}

test('slots that nobody owns are shared out evenly and in runs', () => {
  const world = clusterNodes({
    primaries: 3,
    nodes: { p0: { slots: '0-99' }, p1: { slots: '6000-6199' }, p2: { slots: '16000' } },
  });
  const { world: mended, commands } = mend(world);
  const counts = mended.map(({ slots }) => countSlots(slotsFromText(slots)));
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, String(counts));
  assert.equal(commands.length, 3);
});

test('nothing is decided about slots whose keys were not counted everywhere', () => {
  const world = worldOf({ p0: { slots: '0-4,6-4095' } });
  const goal = goalFor(world);
  const blind = viewWith(world, {});
  const plan = fixOperation.plan(goal, blind, 0, []);
  assert.deepEqual(plan.commands, []);
  assert.deepEqual(
    plan.waitingFor?.map(({ reason }) => reason),
    ['KeyCounts'],
  );
});

test('slots that a running command works on are left alone', () => {
  const world = worldOf({ p0: { keys: { 5: 4 } }, p1: { importing: openAt([5, 6], p0), keys: { 5: 5, 6: 1 } } });
  const goal = goalFor(world);
  const view = viewWith(world, fixOperation.goalNeeds(goal, viewWith(world, {})));
  const [command] = fixOperation.plan(goal, view, 0, []).commands;
  assert.ok(command?.type === 'collect-keys');
  const plan = fixOperation.plan(goal, view, 0, [{ command: { ...command, slots: '5' }, startedAt: 0 }]);
  assert.deepEqual(brief(plan.commands), ['collect 6 p1→p0']);
});

test('slots in an atomic migration are left to the servers', () => {
  const job = {
    name: 'x',
    operation: 'export' as const,
    slots: [[5, 6]] as const,
    sourceId: p0,
    targetId: p1,
    state: 'importing',
    message: '',
  };
  const world = worldOf({ p0: { atomicJobs: [job] }, p1: { keys: { 5: 3, 9: 1 } } });
  const plan = fixOperation.plan(goalFor(world), counted(world), 0, []);
  assert.deepEqual(brief(plan.commands), ['collect 9 p1→p0']);
});

test('damage of a kind that was not approved is refused, not mended', () => {
  const healthy = goalFor(worldOf({}));
  const view = counted(worldOf({ p0: { slots: '0-4,6-4095' } }));
  assert.deepEqual(
    fixOperation.plan(healthy, view, 0, []).refused?.map(({ code }) => code),
    ['FIX_NEW_DAMAGE'],
  );
});

test('the goal names the damage, not how many keys there are', () => {
  const some = goalFor(worldOf({ p0: { keys: { 5: 4 } }, p1: { importing: openAt([5], p0), keys: { 5: 5 } } }));
  const more = goalFor(worldOf({ p0: { keys: { 5: 40 } }, p1: { importing: openAt([5], p0), keys: { 5: 50 } } }));
  const other = goalFor(worldOf({ p0: { keys: { 5: 4 } }, p2: { importing: openAt([5], p0), keys: { 5: 5 } } }));
  assert.deepEqual(some, more);
  assert.notEqual(some.damage, other.damage);
});

test('a healthy cluster needs nothing', () => {
  const decision = decide(worldOf({}));
  assert.ok(!isRefused(decision));
  assert.equal(decision.nothingToDo, true);
  assert.deepEqual(decision.steps, []);
});

test('two halves of a split cluster are refused, with both sides named', () => {
  const left = [p0, idOf('p0r0'), p1, idOf('p1r0')];
  const right = [p2, idOf('p2r0'), p3, idOf('p3r0')];
  const knows = (ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, { knows: ids }]));
  const byId = { ...knows(left), ...knows(right) };
  const world = worldOf({}).map((node) => ({ ...node, ...byId[node.id] }));
  const decision = decide(world);
  assert.ok(isRefused(decision));
  assert.deepEqual(
    decision.refused.map(({ code, subjects }) => ({ code, subjects })),
    [{ code: 'SPLIT_CLUSTER', subjects: right }],
  );
  for (const id of [...left, ...right]) assert.match(decision.refused[0]?.message ?? '', new RegExp(id.slice(0, 8)));
});

test('a fresh node that was asked, too, is no other half', () => {
  const world = worldOf({ p0: { slots: '0-4,6-4095' } }, [freshNode('new')]);
  assert.deepEqual(mend(world).done, ['claim 5 p0']);
});

test('epochs: a collision that was there at the approval is ended, a new one is left to the servers', () => {
  const world = worldOf({ p1: { epoch: 3 } });
  assert.deepEqual(mend(world).done, ['bump p1']);
  const before = goalFor(worldOf({}));
  const plan = fixOperation.plan(before, viewWith(world, {}), 0, []);
  assert.deepEqual(plan.commands, []);
  assert.deepEqual(
    plan.waitingFor?.map(({ reason }) => reason),
    ['EpochSettling'],
  );
});

test('epochs: nobody is asked to take the epoch that it has', () => {
  const world = worldOf({ p2: { epoch: 4 } });
  const plan = fixOperation.plan(goalFor(world), viewWith(world, {}), 0, []);
  assert.deepEqual(plan.commands, []);
  assert.deepEqual(
    plan.waitingFor?.map(({ reason }) => reason),
    ['EpochSettling'],
  );
});

test('epochs: an owner that a replica of the former one does not believe gets a later epoch, when it has heard of one', () => {
  // p3 took slot 0 from p0, which had epoch 9 already; p0r0 knows that and keeps to it.
  const keptTo = (report: NodeReport): NodeReport => ({
    ...report,
    others: report.others.map((line) => ({
      ...line,
      slots: slotsFromText(line.id === p0 ? '0-4095' : line.id === p3 ? '12288-16383' : formatSlots(line.slots)),
    })),
  });
  const damaged = (heard: number): World =>
    worldOf({
      p0: { slots: '1-4095', epoch: 9 },
      p0r0: { report: keptTo },
      p3: {
        slots: '0,12288-16383',
        report: (report) => ({ ...report, info: { ...report.info, currentEpoch: heard } }),
      },
    });
  const plan = (world: World) => fixOperation.plan(goalFor(world), viewWith(world, {}), 0, []);
  assert.deepEqual(brief(plan(damaged(9)).commands), ['bump p3']);
  assert.deepEqual(plan(damaged(4)).commands, [], 'BUMPEPOCH would do nothing');
  assert.deepEqual(
    plan(damaged(4)).waitingFor?.map(({ reason }) => reason),
    ['EpochSettling', 'GossipAgreement'],
  );
  const later = damaged(9).map((node) => (node.id === p3 ? { ...node, epoch: 10 } : node));
  assert.deepEqual(plan(later).commands, [], 'it will be believed');
});

test('replicas that follow nobody who leads get a primary', () => {
  const world = worldOf({ p1r0: { primaryId: idOf('p2r0') }, p3r0: { primaryId: gone } });
  assert.deepEqual(mend(world).done, ['replicate p1r0→p2', 'replicate p3r0→p1']);
});

test('members that lost each other are introduced again, an empty primary is not', () => {
  const all = worldOf({}).map((node) => node.id);
  const world = worldOf({ p1: { knows: all.filter((id) => id !== p2) } });
  assert.deepEqual(mend(world).done, ['meet p1→p2']);
  const spare = worldOf({ p1: { knows: all } }, [{ ...freshNode('new'), knows: all }]);
  const decision = decide(spare);
  assert.ok(!isRefused(decision));
  assert.equal(decision.nothingToDo, true);
});

test('a node that was deleted while a member was away is forgotten by that one, too', () => {
  const world = worldOf({}, [freshNode('new', { host: '10.0.1.1' })]);
  const all = world.map(({ id }) => id);
  const remembers = world.map((node) => (node.id === idOf('p1r0') ? { ...node, knows: all } : node));
  assert.deepEqual(mend(remembers).done, ['forget new by p0,p0r0,p1,p1r0,p2,p2r0,p3,p3r0']);
  const withKeys = remembers.map((node) => (node.id === idOf('new') ? { ...node, keys: { 5: 1 } } : node));
  const plan = fixOperation.plan(goalFor(withKeys), counted(withKeys), 0, []);
  assert.ok(plan.commands.every(({ type }) => type !== 'forget-node'));
});

test('what a fix does not mend is said', () => {
  const decision = decide(worldOf({ p0r0: { unreachable: 'refused', flags: ['fail'] } }));
  assert.ok(!isRefused(decision));
  assert.equal(decision.nothingToDo, true);
  assert.ok(decision.reasons.some((reason) => reason.startsWith('not mended by this')));
});

test('a replica without link to its primary is left to a person, and named with what to do', () => {
  const alone = decide(worldOf({ p0r0: { linkUp: false } }));
  assert.ok(!isRefused(alone));
  assert.equal(alone.nothingToDo, true);
  assert.equal(alone.reasons.length, 1);
  assert.match(alone.reasons[0] ?? '', /^not mended by this: .*not in step.*log of the replica/);

  const besides = decide(worldOf({ p0r0: { linkUp: false }, p1: { importing: openAt([5], p0) } }));
  assert.ok(!isRefused(besides));
  assert.ok(besides.reasons.some((reason) => /^not mended by this: .*not in step/.test(reason)));
  assert.ok(
    besides.steps.every((step) => !step.includes('in sync')),
    'and it is not waited for',
  );
  assert.deepEqual(mend(worldOf({ p0r0: { linkUp: false }, p1: { importing: openAt([5], p0) } })).done, ['close 5 p1']);

  // Links follow roles: this one is waited for.
  const following = decide(worldOf({ p1r0: { linkUp: false, primaryId: idOf('p2r0') } }));
  assert.ok(!isRefused(following));
  assert.deepEqual(
    following.reasons.filter((reason) => reason.includes('not in step')),
    [],
  );
});

test('agreement is waited for at the end', () => {
  const late = (report: NodeReport): NodeReport => ({
    ...report,
    others: report.others.map((line) =>
      line.id === p1 ? { ...line, slots: minusSlots(line.slots, [[5000, 5000]]) } : line,
    ),
  });
  const view = viewOf({ primaries: 4, replicas: 1, nodes: { p2: { report: late } } });
  const plan = fixOperation.plan(goalFor(worldOf({})), view, 0, []);
  assert.deepEqual(plan.commands, []);
  assert.ok(plan.waitingFor?.some(({ reason }) => reason === 'GossipAgreement'));
});

test('keys are counted in every slot unless every node has proved that it has none beyond its slots', () => {
  const nothing = viewWith([], {});
  assert.deepEqual(fixOperation.needs({}, nothing), { keysBeyondSlots: true });
  const healthy = worldOf({ p0: { keys: { 5: 2 } } });
  assert.deepEqual(fixOperation.needs({}, viewWith(healthy, {})), { keysBeyondSlots: true });
  const open = worldOf({ p0: { keys: { 5: 2 }, migrating: openAt([9], p1) } });
  assert.deepEqual(fixOperation.needs({}, viewWith(open, {})), {
    keysBeyondSlots: true,
    countKeysIn: [[9, 9]],
  });
  for (const keysBeyondSlots of [known(1), known(-1), unknown('not asked')]) {
    const unproved = worldOf({ p0: { keys: { 5: 2 } }, p1: { keysBeyondSlots } });
    assert.deepEqual(fixOperation.needs({}, viewWith(unproved, {})), { countKeysIn: ALL_SLOTS });
  }
});

test('while a fix runs, keys are counted where it matters', () => {
  assert.deepEqual(fixOperation.goalNeeds(goalFor(worldOf({})), viewWith([], {})), { countKeysIn: [] });
  const world = worldOf({ p0: { slots: '0-4,6-4095' }, p1: { importing: openAt([9], p0), keys: { 7: 1 } } });
  const goal = goalFor(world);
  assert.deepEqual(fixOperation.goalNeeds(goal, viewWith(world, {})), {
    countKeysIn: [
      [5, 5],
      [7, 7],
      [9, 9],
    ],
  });
});
