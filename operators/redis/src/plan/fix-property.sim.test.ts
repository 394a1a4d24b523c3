import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReached } from '@reeve/runtime';
import fc from 'fast-check';
import { isRefused } from '../api/operation.ts';
import { countSlots, formatSlots, minusSlots, rangesOf, slotsOf, unionSlots } from '../api/slots.ts';
import { fixOperation } from './fix.ts';
import { damagedSlots } from './fix-facts.ts';
import { pursue, viewWith, type World } from './moves-testing.ts';
import { slotsFromText } from './moves-view.ts';
import { clusterNodes, idOf, type TestNode } from './testing.ts';

const primaries = ['p0', 'p1', 'p2', 'p3'];
const SLOTS = 6;

interface SlotDamage {
  /** Which primaries claim the slot. */
  readonly claims: readonly boolean[];
  readonly keys: readonly number[];
  /** For each primary: whom its marks name (4 = a node that nobody knows, 5 = a replica), or none. */
  readonly migrating: readonly (number | null)[];
  readonly importing: readonly (number | null)[];
  /** Replicas that carry a mark. */
  readonly carried: readonly boolean[];
}

const perNode = <T>(values: fc.Arbitrary<T>) => fc.array(values, { minLength: 4, maxLength: 4 });
const mark = fc.option(fc.nat(5), { freq: 2 });
const slotDamage: fc.Arbitrary<SlotDamage> = fc.record({
  claims: perNode(fc.boolean()),
  keys: perNode(fc.constantFrom(0, 0, 1, 5)),
  migrating: perNode(mark),
  importing: perNode(mark),
  carried: perNode(fc.constantFrom(false, false, false, true)),
});

function peerId(peer: number): string {
  return [...primaries.map(idOf), idOf('gone'), idOf('p2r0')][peer] ?? '';
}

/** Slots 0…5 damaged as drawn; all others as in a healthy cluster. */
function damaged(damage: readonly SlotDamage[]): World {
  const spoiled = rangesOf(damage.map((_, slot) => slot));
  return clusterNodes({ primaries: 4, replicas: 1 }).map((node): TestNode => {
    const index = primaries.findIndex((name) => idOf(name) === node.id);
    const open = (marks: 'migrating' | 'importing', of: number) =>
      damage.flatMap((each, slot) => {
        const peer = each[marks][of];
        return peer === null || peer === undefined || peerId(peer) === node.id ? [] : [{ slot, peer: peerId(peer) }];
      });
    if (index < 0) {
      const primary = primaries.findIndex((name) => idOf(name) === node.primaryId);
      const carried = damage.flatMap((each, slot) => (each.carried[primary] ? [{ slot, peer: idOf('p0') }] : []));
      return { ...node, importing: carried };
    }
    const claimed = rangesOf(damage.flatMap((each, slot) => (each.claims[index] ? [slot] : [])));
    return {
      ...node,
      slots: formatSlots(unionSlots(minusSlots(slotsFromText(node.slots), spoiled), claimed)),
      keys: Object.fromEntries(damage.map((each, slot) => [slot, each.keys[index] ?? 0])),
      migrating: open('migrating', index),
      importing: open('importing', index),
    };
  });
}

function keysIn(world: World, slot: number): number {
  return world.reduce((sum, node) => sum + (node.keys[slot] ?? 0), 0);
}

test('any damage of slots is mended in a few turns: one owner each, with all the keys, nothing open, nothing lost', () => {
  fc.assert(
    fc.property(fc.array(slotDamage, { minLength: SLOTS, maxLength: SLOTS }), (damage) => {
      const world = damaged(damage);
      const needs = { countKeysIn: unionSlots(damagedSlots(viewWith(world, {})), [[0, SLOTS]]) };
      const decision = fixOperation.decide({}, viewWith(world, needs));
      assert.ok(!isRefused(decision), JSON.stringify(decision));
      const { world: mended, plan } = pursue(fixOperation, decision.goal, world, { most: 8 });
      assert.ok(isReached(plan), JSON.stringify(plan));
      assert.ok(mended.every((node) => node.migrating.length + node.importing.length === 0));
      const counts = mended.reduce((sum, node) => sum + countSlots(slotsFromText(node.slots)), 0);
      assert.equal(counts, 16384);
      assert.equal(countSlots(unionSlots(...mended.map((node) => slotsFromText(node.slots)))), 16384);
      for (const slot of slotsOf([[0, SLOTS - 1]])) {
        assert.equal(keysIn(mended, slot), keysIn(world, slot), `keys of slot ${slot}`);
        const owner = mended.find((node) => [...slotsOf(slotsFromText(node.slots))].includes(slot));
        assert.equal(owner?.keys[slot] ?? 0, keysIn(world, slot), `slot ${slot} on its owner`);
      }
      const again = fixOperation.decide({}, viewWith(mended, needs));
      assert.ok(!isRefused(again) && again.nothingToDo, JSON.stringify(again));
    }),
    { numRuns: 60 },
  );
});

test('the same damage gives the same plan, and commands of one turn never touch a slot on the same node twice', () => {
  fc.assert(
    fc.property(fc.array(slotDamage, { minLength: SLOTS, maxLength: SLOTS }), (damage) => {
      const view = viewWith(damaged(damage), { countKeysIn: [[0, SLOTS]] });
      const decision = fixOperation.decide({}, view);
      assert.deepEqual(fixOperation.decide({}, view), decision);
      assert.ok(!isRefused(decision));
      const seen = new Set<string>();
      for (const command of fixOperation.plan(decision.goal, view, 0, []).commands) {
        if (!('slots' in command)) continue;
        const changed =
          command.type === 'close-slots'
            ? [command.node]
            : command.type === 'collect-keys'
              ? [command.from]
              : command.type === 'migrate-slots'
                ? [command.source, command.target]
                : command.type === 'claim-slots'
                  ? [command.owner, ...command.releaseFrom]
                  : [];
        for (const slot of slotsOf(slotsFromText(command.slots))) {
          for (const { id } of changed) {
            assert.ok(!seen.has(`${slot} ${id}`), `${command.type} ${slot} ${id}`);
            seen.add(`${slot} ${id}`);
          }
        }
      }
    }),
    { numRuns: 40 },
  );
});
