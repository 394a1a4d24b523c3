import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReached } from '@reeve/runtime';
import fc from 'fast-check';
import type { MigrateSlots, RedisCommand } from '../api/commands.ts';
import { formatSlots, intersectSlots, minusSlots, takeSlots } from '../api/slots.ts';
import type { AtomicJob, NodeReport } from '../api/view.ts';
import { type MoveGoal, moveGoal, planMoves, reverseMoves } from './moves.ts';
import { brief, openAt, pursue, type World } from './moves-testing.ts';
import { slotsFromText } from './moves-view.ts';
import { clusterNodes, idOf, type TestNode, viewOf, viewOfNodes } from './testing.ts';

const operation = { goalNeeds: () => ({}), plan: planMoves };
const p = (n: number) => idOf(`p${n}`);

function goalOf(...moves: readonly (readonly [number, number, string])[]): MoveGoal {
  const view = viewOf({ primaries: 4, replicas: 1 });
  return moveGoal(
    moves.map(([source, target, slots]) => ({ source: p(source), target: p(target), slots })),
    view,
    'auto',
    'gentle',
  );
}

function inFlightOf(command: RedisCommand) {
  return [{ command, startedAt: 0 }];
}

/** Slots changed hands between test nodes. */
function handed(from: number, to: number, slots: string): Readonly<Record<string, Partial<TestNode>>> {
  const base = clusterNodes({ primaries: 4, replicas: 1 });
  const slotsOfNode = (n: number) => slotsFromText(base.find(({ id }) => id === p(n))?.slots ?? '');
  const moved = slotsFromText(slots);
  return {
    [`p${from}`]: { slots: formatSlots(minusSlots(slotsOfNode(from), moved)) },
    [`p${to}`]: { slots: `${formatSlots(slotsOfNode(to))},${slots}` },
  };
}

test('all pairs go at once, the longest first, and every other primary is named', () => {
  const goal = goalOf([0, 3, '0-9'], [1, 3, '4096-4195'], [2, 3, '8192-8200']);
  const plan = planMoves(goal, viewOf({ primaries: 4, replicas: 1 }), 5, []);
  assert.deepEqual(brief(plan.commands), ['migrate 4096-4195 p1→p3', 'migrate 0-9 p0→p3', 'migrate 8192-8200 p2→p3']);
  const [first] = plan.commands as [MigrateSlots];
  assert.deepEqual(
    first.others.map(({ id }) => id),
    [p(0), p(2)],
  );
});

test('only what is left is asked for, and nothing once everybody agrees', () => {
  const goal = goalOf([0, 3, '0-9']);
  const half = viewOf({ primaries: 4, replicas: 1, nodes: handed(0, 3, '0-4') });
  assert.deepEqual(brief(planMoves(goal, half, 0, []).commands), ['migrate 5-9 p0→p3']);
  const all = viewOf({ primaries: 4, replicas: 1, nodes: handed(0, 3, '0-9') });
  assert.ok(isReached(planMoves(goal, all, 0, [])));
});

test('a slot has not arrived while its source claims it, too', () => {
  const goal = goalOf([0, 3, '0-9']);
  const nodes = handed(0, 3, '0-9');
  const both = viewOf({ primaries: 4, replicas: 1, nodes: { p3: nodes['p3'] ?? {} } });
  assert.deepEqual(brief(planMoves(goal, both, 0, []).commands), ['migrate 0-9 p0→p3']);
});

test('a node that has not heard of the new owner is waited for', () => {
  const goal = goalOf([0, 3, '0-9']);
  const late = (report: NodeReport): NodeReport => ({
    ...report,
    others: report.others.map((line) => (line.id === p(3) ? { ...line, slots: [[12288, 16383]] } : line)),
  });
  const view = viewOf({ primaries: 4, replicas: 1, nodes: { ...handed(0, 3, '0-9'), p1: { report: late } } });
  const plan = planMoves(goal, view, 7, []);
  assert.deepEqual(plan.commands, []);
  assert.deepEqual(
    plan.waitingFor?.map(({ reason, subjects }) => ({ reason, subjects })),
    [{ reason: 'GossipAgreement', subjects: [p(1)] }],
  );
  assert.ok((plan.wakeAt ?? 0) > 7);
});

test('a pair in flight is not started again, other pairs are', () => {
  const goal = goalOf([0, 3, '0-9'], [1, 3, '4096-4099']);
  const view = viewOf({ primaries: 4, replicas: 1 });
  const [first] = planMoves(goal, view, 0, []).commands as [MigrateSlots];
  const plan = planMoves(goal, view, 0, inFlightOf(first));
  assert.deepEqual(brief(plan.commands), ['migrate 4096-4099 p1→p3']);
  assert.deepEqual(
    plan.waitingFor?.map(({ reason }) => reason),
    ['Migration'],
  );
});

test('half-open slots of the goal go into the command; others are refused', () => {
  const goal = goalOf([0, 3, '0-9']);
  const ours = viewOf({
    primaries: 4,
    replicas: 1,
    nodes: { p0: { migrating: openAt([3, 4], p(3)) }, p3: { importing: openAt([3, 4], p(0)) } },
  });
  assert.deepEqual(brief(planMoves(goal, ours, 0, []).commands), ['migrate 0-9 p0→p3']);
  const foreign = viewOf({ primaries: 4, replicas: 1, nodes: { p1: { importing: openAt([3], p(0)) } } });
  const plan = planMoves(goal, foreign, 0, []);
  assert.deepEqual(plan.commands, []);
  assert.deepEqual(
    plan.refused?.map(({ code, subjects }) => ({ code, subjects })),
    [{ code: 'SLOTS_OPEN_ELSEWHERE', subjects: [p(1)] }],
  );
});

test('a slot that arrived but is still marked needs its last step', () => {
  const goal = goalOf([0, 3, '0-9']);
  const nodes = handed(0, 3, '0-9');
  const view = viewOf({
    primaries: 4,
    replicas: 1,
    nodes: { ...nodes, p0: { ...nodes['p0'], migrating: openAt([7], p(3)) } },
  });
  assert.deepEqual(brief(planMoves(goal, view, 0, []).commands), ['migrate 7 p0→p3']);
});

test('slots that a third node owns are refused, with its name', () => {
  const plan = planMoves(goalOf([0, 3, '0-9']), viewOf({ primaries: 4, nodes: handed(0, 1, '0-4') }), 0, []);
  assert.deepEqual(
    plan.refused?.map(({ code, subjects }) => ({ code, subjects })),
    [{ code: 'GOAL_OVERTAKEN', subjects: [p(1)] }],
  );
});

test('a replica that took over for the source is the source', () => {
  const goal = goalOf([0, 3, '0-9']);
  const promoted: Partial<TestNode> = { role: 'primary', slots: '0-4095', epoch: 9 };
  const dead = viewOf({
    primaries: 4,
    replicas: 1,
    nodes: { p0: { unreachable: 'refused', flags: ['fail'], slots: '' }, p0r0: promoted },
  });
  assert.deepEqual(brief(planMoves(goal, dead, 0, []).commands), ['migrate 0-9 p0r0→p3']);
  const back = viewOf({
    primaries: 4,
    replicas: 1,
    nodes: { p0: { role: 'replica', primaryId: idOf('p0r0'), slots: '' }, p0r0: promoted },
  });
  assert.deepEqual(brief(planMoves(goal, back, 0, []).commands), ['migrate 0-9 p0r0→p3']);
});

test('a replica that took over for the target is the target', () => {
  const goal = goalOf([0, 3, '0-9']);
  const view = viewOf({
    primaries: 4,
    replicas: 1,
    nodes: {
      p3: { role: 'replica', primaryId: idOf('p3r0'), slots: '' },
      p3r0: { role: 'primary', slots: '12288-16383', epoch: 9 },
    },
  });
  assert.deepEqual(brief(planMoves(goal, view, 0, []).commands), ['migrate 0-9 p0→p3r0']);
});

test('a target that follows its source, which was elected in its place, gets nothing: somebody must decide anew', () => {
  const goal = goalOf([0, 3, '0-4095']);
  const elected: Partial<TestNode> = { slots: '0-4095,12288-16383', epoch: 9 };
  const dead = viewOf({
    primaries: 4,
    nodes: { p0: elected, p3: { unreachable: 'refused', flags: ['fail'], slots: '' } },
  });
  assert.ok(planMoves(goal, dead, 0, []).waitingFor?.some(({ reason }) => reason === 'TargetUnavailable'));
  const back = viewOf({ primaries: 4, nodes: { p0: elected, p3: { role: 'replica', primaryId: p(0), slots: '' } } });
  assert.deepEqual(
    planMoves(goal, back, 0, []).refused?.map(({ code, subjects }) => ({ code, subjects })),
    [{ code: 'GOAL_OVERTAKEN', subjects: [p(3), p(0)] }],
  );
});

test('a move waits for a target that died in the middle of it: it may come back with its marks', () => {
  const goal = goalOf([0, 3, '0-9']);
  const nodes = (dead: Partial<TestNode>): Readonly<Record<string, Partial<TestNode>>> => ({
    p0: { slots: '0-4095', migrating: openAt([3, 4], p(3)) },
    p3: { slots: '', ...dead },
    p3r0: { role: 'primary', slots: '12288-16383', epoch: 9 },
  });
  // While it comes back, nobody calls it failed any more, but nobody has read its marks either.
  for (const flags of [['fail'], []]) {
    const away = viewOf({ primaries: 4, replicas: 1, nodes: nodes({ unreachable: 'refused', flags }) });
    const plan = planMoves(goal, away, 0, []);
    assert.deepEqual(plan.commands, []);
    assert.ok(plan.waitingFor?.some(({ reason, subjects }) => reason === 'TargetMayReturn' && subjects.includes(p(3))));
  }
  const back = viewOf({ primaries: 4, replicas: 1, nodes: nodes({ role: 'replica', primaryId: idOf('p3r0') }) });
  assert.deepEqual(brief(planMoves(goal, back, 0, []).commands), ['migrate 0-9 p0→p3r0']);
});

test('a former source that comes back as a primary without slots gets its marks ended', () => {
  const goal = goalOf([0, 3, '0-9']);
  const nodes = {
    p0: { slots: '', epoch: 1, migrating: openAt([3, 4], p(3)) },
    p0r0: { role: 'primary', slots: '10-4095', epoch: 9 },
    p3: { slots: '0-9,12288-16383', epoch: 10 },
  } as const;
  const view = viewOf({ primaries: 4, replicas: 1, nodes });
  assert.deepEqual(brief(planMoves(goal, view, 0, []).commands), ['migrate 3-4 p0→p3']);
});

test('the marks that the heir of a dead target copied are enough to wait for it', () => {
  const goal = goalOf([0, 3, '0-9']);
  const nodes = {
    p3: { slots: '', unreachable: 'refused', flags: ['fail'] },
    p3r0: { role: 'primary', slots: '12288-16383', epoch: 9, importing: openAt([5], p(0)) },
  } as const;
  const plan = planMoves(goal, viewOf({ primaries: 4, replicas: 1, nodes }), 0, []);
  assert.deepEqual(plan.commands, []);
  assert.ok(plan.waitingFor?.some(({ reason }) => reason === 'TargetMayReturn'));
});

test('a target that comes back with slots of which its heir had not heard gives them to the heir', () => {
  const goal = goalOf([0, 3, '0-9']);
  const view = viewOf({
    primaries: 4,
    replicas: 1,
    nodes: {
      p0: { slots: '5-4095', migrating: openAt([3, 4], p(3)) },
      p3: { slots: '3-4', epoch: 8 },
      p3r0: { role: 'primary', slots: '0-2,12288-16383', epoch: 9 },
    },
  });
  assert.deepEqual(brief(planMoves(goal, view, 0, []).commands), ['migrate 5-9 p0→p3r0', 'migrate 3-4 p3→p3r0']);
});

test('a target that comes back as a primary in the middle of its move gets what was half moved to it, and gives it to the heir', () => {
  const goal = { ...goalOf([0, 3, '0-9']), standIns: { [p(3)]: [idOf('p3r0')] } };
  const nodes = (
    former: Partial<TestNode>,
    source: Partial<TestNode>,
  ): Readonly<Record<string, Partial<TestNode>>> => ({
    p0: { slots: '3-4095', ...source },
    p3: { slots: '', epoch: 4, ...former },
    p3r0: { role: 'primary', slots: '0-2,12288-16383', epoch: 9 },
  });
  const commands = (former: Partial<TestNode>, source: Partial<TestNode> = {}) =>
    brief(planMoves(goal, viewOf({ primaries: 4, replicas: 1, nodes: nodes(former, source) }), 0, []).commands);
  const importing = openAt([3, 4], p(0));
  const migrating = openAt([3, 4, 5], p(3));
  assert.deepEqual(commands({ importing }, { migrating }), ['migrate 5-9 p0→p3r0', 'migrate 3-4 p0→p3']);
  assert.deepEqual(commands({ importing }), ['migrate 5-9 p0→p3r0', 'migrate 3-4 p0→p3'], 'opened on one side only');
  assert.deepEqual(commands({}, { migrating }), ['migrate 3-9 p0→p3r0']);
  assert.deepEqual(commands({ slots: '3-4' }, { slots: '10-4095' }), ['migrate 3-4 p3→p3r0']);
});

test('nothing is started while a primary is missing or suspected', () => {
  const goal = goalOf([0, 3, '0-9']);
  const cases: readonly (readonly [Partial<TestNode>, string])[] = [
    [{ unreachable: 'refused', flags: ['fail'] }, 'PrimaryUnavailable'],
    [{ flags: ['fail?'] }, 'PrimarySuspected'],
  ];
  for (const name of ['p0', 'p1', 'p3']) {
    for (const [change, reason] of cases) {
      const plan = planMoves(goal, viewOf({ primaries: 4, replicas: 1, nodes: { [name]: change } }), 0, []);
      assert.deepEqual(plan.commands, [], `${name} ${reason}`);
      assert.equal(plan.refused, undefined);
      assert.ok(
        plan.waitingFor?.some((waiting) => waiting.reason === reason && waiting.subjects.includes(idOf(name))),
        `${name} ${reason}`,
      );
    }
  }
});

test('an atomic migration that runs already is waited for, one of somebody else refuses', () => {
  const job = (source: number, target: number): AtomicJob => ({
    name: 'job',
    operation: 'export',
    slots: [[0, 9]],
    sourceId: p(source),
    targetId: p(target),
    state: 'snapshotting',
    message: '',
  });
  const goal = goalOf([0, 3, '0-9']);
  const own = planMoves(goal, viewOf({ primaries: 4, nodes: { p0: { atomicJobs: [job(0, 3)] } } }), 0, []);
  assert.deepEqual(own.commands, []);
  assert.deepEqual(
    own.waitingFor?.map(({ reason }) => reason),
    ['AtomicJob'],
  );
  const nodes = handed(0, 3, '0-9');
  const late = viewOf({ primaries: 4, nodes: { ...nodes, p0: { ...nodes['p0'], atomicJobs: [job(0, 3)] } } });
  assert.deepEqual(
    planMoves(goal, late, 0, []).waitingFor?.map(({ reason }) => reason),
    ['AtomicJob'],
    'the slots are there, but the job is not over',
  );
  const foreign = planMoves(goal, viewOf({ primaries: 4, nodes: { p0: { atomicJobs: [job(0, 1)] } } }), 0, []);
  assert.deepEqual(
    foreign.refused?.map(({ code }) => code),
    ['SLOTS_BUSY'],
  );
});

test('servers that take one task at a time get a matching of pairs', () => {
  const limited = (report: NodeReport): NodeReport => ({
    ...report,
    server: {
      ...report.server,
      capabilities: { ...report.server.capabilities, atomicMigration: false, redisAtomicMigration: true },
    },
  });
  const nodes = Object.fromEntries(['p0', 'p1', 'p2', 'p3'].map((name) => [name, { report: limited }]));
  const view = viewOf({ primaries: 4, product: 'redis', nodes });
  const goal = goalOf([0, 3, '0-9'], [1, 3, '4096-4099'], [1, 2, '4100-4105'], [0, 2, '10-12']);
  const commands = planMoves({ ...goal, engine: 'redis-atomic' }, view, 0, []).commands;
  assert.deepEqual(brief(commands), ['migrate 0-9 p0→p3', 'migrate 4100-4105 p1→p2']);
  assert.equal(planMoves({ ...goal, engine: 'windowed' }, view, 0, []).commands.length, 4);
});

test('reversed: moved slots come back, half-moved ones are finished first', () => {
  const goal = goalOf([0, 3, '0-9'], [1, 3, '4096-4099']);
  const nodes = handed(0, 3, '0-4');
  const view = viewOf({
    primaries: 4,
    replicas: 1,
    nodes: {
      ...nodes,
      p0: { ...nodes['p0'], migrating: openAt([5], p(3)) },
      p3: { ...nodes['p3'], importing: openAt([5], p(0)) },
    },
  });
  const back = reverseMoves(goal, view);
  assert.deepEqual(back.moves, [{ source: p(3), target: p(0), slots: '0-9' }]);
  assert.deepEqual(brief(planMoves(back, view, 0, []).commands), ['migrate 0-4 p3→p0', 'migrate 5 p0→p3']);
});

test('reversed and pursued, the cluster is what it was', () => {
  const start = clusterNodes({ primaries: 4, replicas: 1 });
  const goal = goalOf([0, 3, '0-9'], [1, 2, '4096-4299']);
  const there = pursue(operation, goal, start);
  const back = pursue(operation, reverseMoves(goal, viewOfNodes(there.world)), there.world);
  assert.ok(isReached(back.plan));
  assert.deepEqual(
    back.world.map(({ slots }) => slots),
    start.map(({ slots }) => slots),
  );
});

/** Some of the goal's slots moved, some half-way, as a crash would leave them. */
const crashes = fc.record({
  moves: fc.uniqueArray(fc.record({ source: fc.nat(3), target: fc.nat(3), count: fc.integer({ min: 1, max: 60 }) }), {
    maxLength: 6,
    selector: ({ source, target }) => `${source} ${target}`,
  }),
  done: fc.nat(30),
  opened: fc.nat(20),
  marks: fc.constantFrom('both', 'source', 'target'),
  failover: fc.option(fc.nat(3)),
  /** After a failover Valkey mends the peers of marks and keeps them on the new primary; Redis does neither. */
  mends: fc.boolean(),
});

test('from wherever a crash left it, the goal is reached', () => {
  fc.assert(
    fc.property(crashes, ({ moves, done, opened, marks, failover, mends }) => {
      const start = clusterNodes({ primaries: 4, replicas: 1 });
      let free = start.map(({ slots }) => slotsFromText(slots));
      const goal = moveGoal(
        moves
          .filter(({ source, target }) => source !== target)
          .map(({ source, target, count }) => {
            const slots = takeSlots(free[source * 2] ?? [], count);
            free = free.map((each, index) => (index === source * 2 ? minusSlots(each, slots) : each));
            return { source: p(source), target: p(target), slots: formatSlots(slots) };
          }),
        viewOfNodes(start),
        'auto',
        'fast',
      );
      let world: World = start;
      for (const move of goal.moves) {
        const slots = slotsFromText(move.slots);
        const arrived = takeSlots(slots, done);
        const open = takeSlots(minusSlots(slots, arrived), opened);
        const numbers = open.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
        world = world.map((node) => {
          const own = slotsFromText(node.slots);
          if (node.id === move.source) {
            const migrating = marks === 'target' ? [] : openAt(numbers, move.target);
            return {
              ...node,
              slots: formatSlots(minusSlots(own, arrived)),
              migrating: [...node.migrating, ...migrating],
            };
          }
          if (node.id !== move.target) return node;
          const importing = marks === 'source' ? [] : openAt(numbers, move.source);
          return {
            ...node,
            slots: [formatSlots(own), formatSlots(arrived)].filter((text) => text !== '').join(','),
            importing: [...node.importing, ...importing],
          };
        });
      }
      const lost = failover === null ? undefined : `p${failover}`;
      if (lost !== undefined) {
        const old = world.find(({ id }) => id === idOf(lost)) as TestNode;
        const heir = idOf(`${lost}r0`);
        world = world.map((node) => {
          if (node.id === heir) {
            const { slots, migrating, importing } = old;
            const kept = mends ? { migrating, importing } : {};
            return { ...node, role: 'primary', slots, ...kept, epoch: 99 };
          }
          const mended = (open: TestNode['migrating']) =>
            open.map(({ slot, peer }) => ({ slot, peer: mends && peer === old.id ? heir : peer }));
          const marked = { ...node, migrating: mended(node.migrating), importing: mended(node.importing) };
          return node.id === old.id
            ? { ...marked, role: 'replica', primaryId: heir, slots: '', migrating: [], importing: [] }
            : marked;
        });
      }
      const result = pursue(operation, goal, world, { most: 6 });
      assert.ok(isReached(result.plan));
      for (const move of goal.moves) {
        const target = move.target === idOf(lost ?? '') ? idOf(`${lost}r0`) : move.target;
        const at = result.world.find(({ id }) => id === target);
        assert.equal(
          formatSlots(intersectSlots(slotsFromText(at?.slots ?? ''), slotsFromText(move.slots))),
          move.slots,
        );
      }
      assert.ok(result.world.every((node) => node.migrating.length + node.importing.length === 0));
    }),
    { numRuns: 150 },
  );
});
