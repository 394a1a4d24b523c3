/** What an agent does about its orders. Pure: the member, and what this life of the agent knows. */
import type { Command, DoneCheck, Outcome, Progress } from '../command/command.ts';
import { type Member, type MemberStatus, MOST_ORDERS, type Order, type OrderResult, isEndedResult } from './member.ts';

/** What this life of the agent knows; after a crash it is empty, and the results in the status are all there is. */
export interface AgentMemory {
  /** The name of this life. */
  readonly life: string;
  /** Orders that were begun in this life, by `orderKey`. */
  readonly begun: ReadonlySet<string>;
  readonly progress: ReadonlyMap<string, Progress | undefined>;
  readonly ended: ReadonlyMap<string, Outcome>;
  /** What the world said about orders that an earlier life had begun. */
  readonly checked: ReadonlyMap<string, DoneCheck>;
}

export interface OrdersTurn {
  /** As they should be in the status. */
  readonly results: readonly OrderResult[];
  readonly highestLease: number;
  /** Recorded as started by this life and not begun: begin them, but only if the status above is what the server has. */
  readonly begin: readonly Order[];
  /** Begun by an earlier life: ask the world. */
  readonly check: readonly Order[];
  /** Under way and no longer wanted: stop them, by `orderKey`. */
  readonly stop: readonly string[];
}

export function orderKey({ id, attempt }: { readonly id: string; readonly attempt: number }): string {
  return `${attempt}:${id}`;
}

/** The command that an order carries. */
export function commandOf({ verb, arguments: rest }: Order): Command {
  return { why: 'ordered', ...rest, type: verb };
}

export function judgeOrders(member: Member, memory: AgentMemory): OrdersTurn {
  const orders = (member.spec.orders ?? []).slice(0, MOST_ORDERS);
  const results = new Map((member.status?.results ?? []).map((result) => [result.id, result]));
  const highest = member.status?.highestLease ?? 0;
  const judged: OrderResult[] = [];
  const turn = { begin: [] as Order[], check: [] as Order[], stop: [] as string[] };
  let seen = highest;
  for (const order of orders) {
    const before = results.get(order.id);
    results.delete(order.id);
    const result =
      before && before.attempt >= order.attempt
        ? goOn(order, before, memory, turn)
        : first(order, before, highest, memory, turn);
    if (result) judged.push(result);
    if (result?.code !== 'ORDER_FENCED') seen = Math.max(seen, order.lease);
  }
  // The order is gone: what it did is of no interest any more, but it must be still before it is forgotten.
  for (const orphan of results.values()) {
    if (!isUnderWay(orphan, memory)) continue;
    turn.stop.push(orderKey(orphan));
    judged.push(orphan);
  }
  return { results: judged, highestLease: seen, ...turn };
}

type Todo = Pick<OrdersTurn, 'begin' | 'check' | 'stop'> & { begin: Order[]; check: Order[]; stop: string[] };

/** An attempt that has no result yet. */
function first(
  order: Order,
  before: OrderResult | undefined,
  highest: number,
  memory: AgentMemory,
  turn: Todo,
): OrderResult | undefined {
  if (before && isUnderWay(before, memory)) {
    turn.stop.push(orderKey(before)); // two attempts of one order never run side by side
    return before;
  }
  const { id, attempt } = order;
  const result = { id, attempt, by: memory.life };
  if (order.lease < highest) {
    const message = `lease ${order.lease} is older than ${highest}`;
    return { ...result, phase: 'Failed', code: 'ORDER_FENCED', message };
  }
  if (order.cancel) return { ...result, phase: 'Cancelled', message: 'cancelled before it began' };
  turn.begin.push(order);
  return { ...result, phase: 'Started' };
}

/** An attempt that was recorded. */
function goOn(order: Order, before: OrderResult, memory: AgentMemory, turn: Todo): OrderResult {
  // An attempt that is older than what was recorded is nothing to act on.
  if (isEndedResult(before) || before.attempt !== order.attempt) return before;
  const key = orderKey(before);
  const outcome = memory.ended.get(key);
  if (outcome) return withOutcome(before, outcome);
  if (memory.begun.has(key)) {
    if (order.cancel) turn.stop.push(key);
    const progress = memory.progress.get(key);
    return progress ? { ...before, progress: fitting(progress) } : before;
  }
  if (before.by === memory.life) {
    if (order.cancel) return { ...before, phase: 'Cancelled', message: 'cancelled before it began' };
    turn.begin.push(order);
    return before;
  }
  const check = memory.checked.get(key);
  if (check === undefined) {
    turn.check.push(order);
    return before;
  }
  return withCheck(before, check);
}

function isUnderWay(result: OrderResult, memory: AgentMemory): boolean {
  const key = orderKey(result);
  return memory.begun.has(key) && !memory.ended.has(key);
}

function withOutcome(before: OrderResult, outcome: Outcome): OrderResult {
  switch (outcome.status) {
    case 'done':
      return { ...before, phase: 'Done', ...(outcome.note !== undefined && { message: short(outcome.note) }) };
    case 'stale':
      return { ...before, phase: 'Stale', message: short(outcome.message) };
    case 'failed': {
      const phase = outcome.code === 'ORDER_CANCELLED' ? 'Cancelled' : 'Failed';
      return { ...before, phase, code: outcome.code.slice(0, 63), message: short(outcome.message) };
    }
  }
}

function withCheck(before: OrderResult, check: DoneCheck): OrderResult {
  const message = `begun by ${before.by}, which is gone`;
  if (check === 'done') return { ...before, phase: 'Done', message };
  return { ...before, phase: check === 'not-done' ? 'NotDone' : 'Unknown', message };
}

/** What the schema does not take would make every further write of the status fail. */
function fitting({ done, total, unit, note }: Progress): Progress {
  const whole = (value: number) => (Number.isFinite(value) ? Math.round(value) : 0);
  return {
    done: whole(done),
    total: whole(total),
    unit: short(unit, 32),
    ...(note !== undefined && { note: short(note, 256) }),
  };
}

function short(text: string, most = 512): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** What changed only in progress can wait: a status is not written for every percent. */
export function isOnlyProgress(before: MemberStatus | undefined, after: MemberStatus): boolean {
  const bare = (status: MemberStatus | undefined) =>
    JSON.stringify({ ...status, results: (status?.results ?? []).map(({ progress: _progress, ...rest }) => rest) });
  return bare(before) === bare(after);
}
