/**
 * A tiny world for tests of plans: commands are applied to TestNodes as the handlers would, with their refusals, and
 * gossip is instant. Enough to show that a plan reaches its goal and stops there.
 */
import { type InFlight, isReached, type Plan } from '@reeve/runtime';
import type { RedisCommand, Replicate } from '../api/commands.ts';
import type { Needs, Operation } from '../api/operation.ts';
import {
  countSlots,
  formatSlots,
  intersectSlots,
  minusSlots,
  type SlotRanges,
  slotsOf,
  unionSlots,
} from '../api/slots.ts';
import type { ClusterView, NodeId, OpenSlot, SlotMeasure } from '../api/view.ts';
import { slotsFromText } from './moves-view.ts';
import { type TestNode, viewOfNodes } from './testing.ts';

export type World = readonly TestNode[];

/** The view with the keys counted that were asked for: a slot without keys is a slot with 0 keys. */
export function viewWith(world: World, needs: Needs): ClusterView {
  const none: Record<number, SlotMeasure> = {};
  for (const slot of slotsOf(needs.countKeysIn ?? [])) none[slot] = { keys: 0 };
  return viewOfNodes(
    world.map((node) => {
      const counted = Object.entries(node.keys).filter(([slot]) => Number(slot) in none);
      // Most have no keys: thousands of zeros are not copied for each.
      if (counted.length === 0) return { ...node, measures: none };
      return { ...node, measures: { ...none, ...Object.fromEntries(counted.map(([slot, keys]) => [slot, { keys }])) } };
    }),
  );
}

function change(world: World, id: NodeId, by: (node: TestNode) => Partial<TestNode>): World {
  return world.map((node) => (node.id === id ? { ...node, ...by(node) } : node));
}

function nodeAt(world: World, id: NodeId): TestNode {
  const node = world.find((each) => each.id === id);
  if (!node) throw new Error(`no node ${id}`);
  return node;
}

function owned(node: TestNode): SlotRanges {
  return node.role === 'primary' ? slotsFromText(node.slots) : [];
}

function without(open: readonly OpenSlot[], slots: SlotRanges): readonly OpenSlot[] {
  const closed = new Set(slotsOf(slots));
  return open.filter(({ slot }) => !closed.has(slot));
}

function close(world: World, id: NodeId, slots: SlotRanges): World {
  return change(world, id, ({ migrating, importing }) => ({
    migrating: without(migrating, slots),
    importing: without(importing, slots),
  }));
}

function moveKeys(world: World, from: NodeId, to: NodeId, slots: readonly number[]): World {
  const source = { ...nodeAt(world, from).keys };
  const target = { ...nodeAt(world, to).keys };
  for (const slot of slots) {
    const keys = source[slot] ?? 0;
    if (keys > 0) target[slot] = (target[slot] ?? 0) + keys;
    delete source[slot];
  }
  return change(
    change(world, from, () => ({ keys: source })),
    to,
    () => ({ keys: target }),
  );
}

function give(world: World, owner: NodeId, slots: SlotRanges): World {
  const epoch = Math.max(0, ...world.map((node) => node.epoch)) + 1;
  return world.map((node) => {
    const rest = minusSlots(slotsFromText(node.slots), slots);
    if (node.id === owner) return { ...node, slots: formatSlots(unionSlots(rest, slots)), epoch };
    return { ...node, slots: formatSlots(rest) };
  });
}

/** As the handler proves it: whom a copy of slots leaves must be there, and in sync with it. */
function mayBeEmptied(world: World, { replica, leaves, mustBeEmpty }: Replicate): boolean {
  const node = nodeAt(world, replica.id);
  const old = node.role === 'replica' ? world.find(({ id }) => id === node.primaryId) : undefined;
  if (mustBeEmpty || !old || countSlots(owned(old)) === 0) return true;
  return leaves?.id === old.id && old.unreachable === undefined && old.flags.length === 0 && node.linkUp;
}

const isOpen = (open: readonly OpenSlot[], slot: number) => open.some((each) => each.slot === slot);

/** Undefined: the handler would have answered `stale`. */
export function applyCommand(world: World, command: RedisCommand): World | undefined {
  switch (command.type) {
    case 'migrate-slots': {
      const slots = slotsFromText(command.slots);
      const source = nodeAt(world, command.source.id);
      const target = nodeAt(world, command.target.id);
      for (const slot of slotsOf(slots)) {
        const formerly = command.formerly ?? [];
        const towards = (open: readonly OpenSlot[], peer: NodeId) =>
          open.every((each) => each.slot !== slot || each.peer === peer || formerly.includes(each.peer));
        if (!towards(source.migrating, target.id) || !towards(target.importing, source.id)) return undefined;
        if (isOpen(source.importing, slot) || isOpen(target.migrating, slot)) return undefined;
        if (
          command.others.some(({ id }) =>
            isOpen([...nodeAt(world, id).migrating, ...nodeAt(world, id).importing], slot),
          )
        )
          return undefined;
      }
      if (minusSlots(slots, unionSlots(owned(source), owned(target))).length > 0) return undefined;
      const moved = moveKeys(world, source.id, target.id, [...slotsOf(slots)]);
      return close(close(give(moved, target.id, slots), source.id, slots), target.id, slots);
    }
    case 'claim-slots': {
      const slots = slotsFromText(command.slots);
      if (command.others.some(({ id }) => intersectSlots(owned(nodeAt(world, id)), slots).length > 0)) return undefined;
      return close(give(world, command.owner.id, slots), command.owner.id, slots);
    }
    case 'collect-keys': {
      const slots = slotsFromText(command.slots);
      const owner = nodeAt(world, command.owner.id);
      if (minusSlots(slots, owned(owner)).length > 0) return undefined;
      if (intersectSlots(slots, owned(nodeAt(world, command.from.id))).length > 0) return undefined;
      if ([...slotsOf(slots)].some((slot) => isOpen(owner.migrating, slot))) return undefined;
      return close(moveKeys(world, command.from.id, owner.id, [...slotsOf(slots)]), command.from.id, slots);
    }
    case 'close-slots': {
      const node = nodeAt(world, command.node.id);
      const slots = slotsFromText(command.slots);
      for (const slot of slotsOf(slots)) {
        if (isOpen(node.importing, slot) && (node.keys[slot] ?? 0) > 0) return undefined;
        for (const { peer } of node.migrating.filter((open) => open.slot === slot)) {
          const other = world.find(({ id }) => id === peer);
          if (other && !other.flags.includes('fail') && (other.keys[slot] ?? 0) > 0) return undefined;
        }
      }
      const carriers = (command.carriedBy ?? []).map(({ id }) => id);
      return carriers.reduce((next, id) => close(next, id, slots), close(world, node.id, slots));
    }
    case 'bump-epoch':
      return change(world, command.node.id, () => ({ epoch: Math.max(...world.map((node) => node.epoch)) + 1 }));
    case 'failover': {
      const old = nodeAt(world, command.primary.id);
      const epoch = Math.max(...world.map((node) => node.epoch)) + 1;
      const promoted = change(world, command.replica.id, () => ({ role: 'primary', slots: old.slots, epoch }));
      return promoted.map((node) =>
        node.id === old.id || (node.primaryId === old.id && node.id !== command.replica.id)
          ? { ...node, role: 'replica', primaryId: command.replica.id, slots: '' }
          : node,
      );
    }
    case 'replicate':
      if (!mayBeEmptied(world, command)) return undefined;
      return change(world, command.replica.id, () => ({ role: 'replica', primaryId: command.primary.id, slots: '' }));
    case 'meet': {
      const joined = new Set(command.pairs.flatMap(({ from, to }) => [from.id, to.id]));
      return world.map((node) => {
        if (!joined.has(node.id)) return node;
        const { knows: _knows, report: _report, ...known } = node;
        return known;
      });
    }
    case 'forget-node': {
      const others = world.filter((node) => node.id !== command.node.id);
      const victim = nodeAt(world, command.node.id);
      return command.reset ? [...others, { ...victim, knows: [], role: 'primary', keys: {} }] : others;
    }
    case 'copy-functions':
      return change(world, command.to.id, () => ({
        functionLibraries: nodeAt(world, command.from.id).functionLibraries,
      }));
    default:
      throw new Error(`${command.type} is not modelled`);
  }
}

export interface Pursued {
  readonly world: World;
  readonly turns: number;
  readonly plan: Plan<RedisCommand>;
  readonly commands: readonly RedisCommand[];
}

/** Plans and applies until the plan is reached, refuses, or only waits; throws when it does not come to an end. */
export function pursue<Request, Goal>(
  operation: Pick<Operation<Request, Goal>, 'goalNeeds' | 'plan'>,
  goal: Goal,
  start: World,
  options: { readonly most?: number; readonly meanwhile?: (world: World, turn: number) => World } = {},
): Pursued {
  const most = options.most ?? 20;
  let world = start;
  const commands: RedisCommand[] = [];
  const none: readonly InFlight<RedisCommand>[] = [];
  for (let turn = 0; turn < most; turn++) {
    const seen = viewWith(world, operation.goalNeeds(goal, viewWith(world, {})));
    const plan = operation.plan(goal, viewWith(world, operation.goalNeeds(goal, seen)), turn, none);
    if (plan.commands.length === 0) return { world, turns: turn, plan, commands };
    if (isReached(plan)) throw new Error('a plan with commands is not reached');
    for (const command of plan.commands) {
      const next = applyCommand(world, command);
      if (!next) throw new Error(`stale: ${JSON.stringify(command)}`);
      world = next;
      commands.push(command);
    }
    world = options.meanwhile?.(world, turn) ?? world;
  }
  throw new Error(`no end after ${most} turns: ${JSON.stringify(commands.slice(-3))}`);
}

/** Commands without their reasons and addresses: what a table of expected commands names. */
export function brief(commands: readonly RedisCommand[]): readonly string[] {
  const short = (ref: { readonly id: NodeId }) => Buffer.from(ref.id.replace(/(00)+$/, ''), 'hex').toString();
  return commands.map((command) => {
    switch (command.type) {
      case 'migrate-slots':
        return `migrate ${command.slots} ${short(command.source)}→${short(command.target)}`;
      case 'claim-slots': {
        const from = command.releaseFrom.map(short).join(',');
        return `claim ${command.slots} ${short(command.owner)}${from === '' ? '' : ` from ${from}`}`;
      }
      case 'collect-keys':
        return `collect ${command.slots} ${short(command.from)}→${short(command.owner)}`;
      case 'close-slots': {
        const carried = (command.carriedBy ?? []).map(short).join(',');
        return `close ${command.slots} ${short(command.node)}${carried === '' ? '' : ` for ${carried}`}`;
      }
      case 'failover':
        return `failover ${short(command.primary)}→${short(command.replica)} ${command.mode}`;
      case 'replicate':
        return `replicate ${short(command.replica)}→${short(command.primary)}`;
      case 'meet':
        return `meet ${command.pairs.map(({ from, to }) => `${short(from)}→${short(to)}`).join(' ')}`;
      case 'forget-node':
        return `forget ${short(command.node)} by ${command.by.map(short).join(',')}${command.reset ? ' reset' : ''}`;
      case 'bump-epoch':
        return `bump ${short(command.node)}`;
      case 'copy-functions':
        return `copy-functions ${short(command.from)}→${short(command.to)}`;
      default:
        return command.type;
    }
  });
}

export function openAt(slots: Iterable<number>, peer: NodeId): readonly OpenSlot[] {
  return [...slots].map((slot) => ({ slot, peer }));
}
