/**
 * Ten bugs that such a tool might have, each planted into the real parts by a wrapper. The simulation must find every
 * one of them: what it does not find it cannot be trusted to exclude.
 */
import { type AnyHandler, done, type Handler, type Plan } from '@reeve/runtime';
import type { CloseSlots, CollectKeys, ForgetNode, RedisCommand } from '../../src/api/commands.ts';
import type { Operation } from '../../src/api/operation.ts';
import type { Arg, CallOptions, RedisPort, Reply } from '../../src/api/port.ts';
import { type ClusterView, type Endpoint, formatEndpoint } from '../../src/api/view.ts';
import type { RedisContext } from '../../src/commands/context.ts';
import type { DeleteNodeGoal } from '../../src/plan/delete-node.ts';
import { slotsFrom } from './cluster.ts';
import type { Kind } from './kinds.ts';
import { realParts } from './scenarios.ts';
import type { Parts } from './tool.ts';

export interface PlantedBug {
  readonly name: string;
  /** The kinds of operation in which it can do harm. */
  readonly kinds: readonly Kind[];
  readonly parts: Parts;
}

type AnyOperation = Operation<unknown, unknown>;
type Call = (endpoint: Endpoint, args: readonly Arg[], options?: CallOptions) => Promise<Reply>;

const textOf = (arg: Arg | undefined) => String(arg ?? '').toUpperCase();
const isSetSlot = (args: readonly Arg[], state: string) => textOf(args[1]) === 'SETSLOT' && textOf(args[3]) === state;

/** A port that does some calls in another way. A new one for each life: it remembers nothing from before a crash. */
function callingBy(change: () => (call: Call) => Call): Parts {
  return {
    ...realParts,
    port(port) {
      const call = change()((endpoint, args, options) => port.call(endpoint, args, options));
      return { ...port, call } satisfies RedisPort;
    },
  };
}

function replacing<C extends RedisCommand>(handler: Handler<C, RedisContext>): readonly AnyHandler<RedisContext>[] {
  return [...realParts.handlers.filter(({ type }) => type !== handler.type), handler];
}

function planningBy(
  change: (plan: Plan<RedisCommand>, goal: unknown, view: ClusterView) => Plan<RedisCommand>,
): (operation: AnyOperation) => AnyOperation {
  return (operation) => ({
    ...operation,
    plan: (goal, view, now, inFlight) => change(operation.plan(goal, view, now, inFlight), goal, view),
  });
}

/** The source gives a slot away before the target has taken it: for a moment, or after a crash for good, nobody owns it. */
const sourceFirst = callingBy(() => (call) => {
  const kept = new Map<string, () => Promise<Reply>>();
  return async (endpoint, args, options) => {
    if (!isSetSlot(args, 'NODE')) return call(endpoint, args, options);
    const slot = textOf(args[2]);
    const target = kept.get(slot);
    if (!target) {
      kept.set(slot, () => call(endpoint, args, options));
      return 'OK';
    }
    kept.delete(slot);
    const reply = await call(endpoint, args, options);
    await target();
    return reply;
  };
});

/** A node is forgotten, without a look at it, while it still owns slots. */
const forgetUndrained: Parts = {
  ...realParts,
  handlers: replacing<ForgetNode>({
    type: 'forget-node',
    async run({ node, by }, { redis }) {
      await Promise.all(by.map(({ endpoint }) => redis.call(endpoint, ['CLUSTER', 'FORGET', node.id])));
      return done;
    },
  }),
  operation: planningBy((plan, goal, view) => {
    const { id, endpoint } = goal as DeleteNodeGoal;
    if (!plan.commands.some((command) => command.type === 'migrate-slots')) return plan;
    const by = view.nodes.filter((node) => node.id !== id).map((node) => ({ id: node.id, endpoint: node.endpoint }));
    return { commands: [{ type: 'forget-node', node: { id, endpoint }, by, reset: false, why: 'planted' }] };
  }),
};

/** Keys that are on both sides are overwritten instead of compared. */
const replaceOnConflict = callingBy(() => (call) => (endpoint, args, options) => {
  const at = args.findIndex((arg) => textOf(arg) === 'KEYS');
  if (textOf(args[0]) !== 'MIGRATE' || at < 0) {
    // Whoever asks whether the owner has a key hears that it has none.
    return textOf(args[0]) === 'EXISTS' ? Promise.resolve(0) : call(endpoint, args, options);
  }
  return call(endpoint, args.toSpliced(at, 0, 'REPLACE'), options);
});

const noJournal: Parts = { ...realParts, readsJournal: false };

/** A node that cannot be read is taken for gone. */
function withoutUnknown(view: ClusterView): ClusterView {
  const there = new Set(view.nodes.filter((node) => node.report.known).map((node) => node.id));
  return {
    ...view,
    silent: [],
    nodes: view.nodes
      .filter((node) => there.has(node.id))
      .map((node) => {
        if (!node.report.known) return node;
        const { value } = node.report;
        const others = value.others.filter((line) => there.has(line.id));
        return { ...node, report: { known: true, value: { ...value, others } } };
      }),
  };
}

function blind(operation: AnyOperation): AnyOperation {
  return {
    ...operation,
    needs: (request, view) => operation.needs(request, withoutUnknown(view)),
    decide: (request, view) => operation.decide(request, withoutUnknown(view)),
    goalNeeds: (goal, view) => operation.goalNeeds(goal, withoutUnknown(view)),
    plan: (goal, view, now, inFlight) => operation.plan(goal, withoutUnknown(view), now, inFlight),
  };
}

const unknownAsAbsent: Parts = { ...realParts, operation: blind, fix: blind(realParts.fix) };

/** What MIGRATE answers is not looked at, nor whether keys are left behind. */
const migrateIgnored = callingBy(() => (call) => {
  const believed = new Set<string>();
  return async (endpoint, args, options) => {
    const at = formatEndpoint(endpoint);
    if (textOf(args[1]) === 'COUNTKEYSINSLOT' && believed.has(at)) return 0;
    if (textOf(args[0]) !== 'MIGRATE') return call(endpoint, args, options);
    try {
      return await call(endpoint, args, options);
    } catch {
      believed.add(at);
      return 'OK';
    }
  };
});

/** Open slots are just closed, wherever their keys are. */
const closeBlindly: Parts = {
  ...realParts,
  handlers: replacing<CloseSlots>({
    type: 'close-slots',
    async run({ node, slots }, { redis }) {
      const numbers = slotsFrom(slots).map(String);
      await Promise.all(numbers.map((slot) => redis.call(node.endpoint, ['CLUSTER', 'SETSLOT', slot, 'STABLE'])));
      return done;
    },
  }),
  operation: planningBy((plan, _goal, view) => ({
    ...plan,
    commands: plan.commands.flatMap((command): readonly RedisCommand[] => {
      if (command.type !== 'migrate-slots' && command.type !== 'collect-keys') return [command];
      const slots = new Set(slotsFrom(command.slots));
      return view.nodes
        .filter(({ report }) => report.known && report.value.self.role === 'primary')
        .filter(({ report }) => {
          if (!report.known) return false;
          const { migrating, importing } = report.value.self;
          return [...migrating, ...importing].some((open) => slots.has(open.slot));
        })
        .map(({ id, endpoint }) => ({
          type: 'close-slots',
          node: { id, endpoint },
          slots: command.slots,
          why: 'planted',
        }));
    }),
  })),
};

/** Two copies of a key are taken for equal without looking. */
const allEqual = callingBy(() => (call) => async (endpoint, args, options) => {
  const reply = await call(endpoint, args, options);
  return textOf(args[0]) === 'DUMP' && reply !== null ? Buffer.from('the same') : reply;
});

/** It says that it is done when it has nothing more to do, without waiting for the nodes to agree. */
const doesNotWait: Parts = {
  ...realParts,
  operation: planningBy((plan) => (plan.commands.length > 0 || plan.refused ? plan : { commands: [] })),
};

/** The side that does not get a slot is emptied, as some do to heal a split. */
const flushesLoser: Parts = {
  ...realParts,
  handlers: realParts.handlers.map((handler): AnyHandler<RedisContext> => {
    if (handler.type !== 'collect-keys') return handler;
    const flushing: Handler<CollectKeys, RedisContext> = {
      type: 'collect-keys',
      async run(command, { redis }) {
        await redis.call(command.from.endpoint, ['FLUSHALL']);
        return done;
      },
    };
    return flushing;
  }),
};

export const plantedBugs: readonly PlantedBug[] = [
  { name: 'the source gives a slot away before the target has it', kinds: ['reshard'], parts: sourceFirst },
  { name: 'a node is forgotten before it is drained', kinds: ['delete'], parts: forgetUndrained },
  { name: 'keys on both sides are replaced, not compared', kinds: ['fix'], parts: replaceOnConflict },
  { name: 'the journal is not consulted', kinds: ['reshard'], parts: noJournal },
  { name: 'what is unknown is taken for absent', kinds: ['reshard', 'fix'], parts: unknownAsAbsent },
  { name: 'errors of MIGRATE are ignored', kinds: ['reshard'], parts: migrateIgnored },
  { name: 'open slots are closed although keys have moved', kinds: ['fix'], parts: closeBlindly },
  { name: 'copies are taken for equal without comparing', kinds: ['fix'], parts: allEqual },
  { name: 'done is said before the nodes agree', kinds: ['create', 'reshard'], parts: doesNotWait },
  { name: 'the losing side is flushed', kinds: ['fix'], parts: flushesLoser },
];
