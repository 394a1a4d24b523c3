/**
 * Balance by what slots cost. A node above its share gives slots to nodes below theirs, never more than the one has
 * too much and the other too little: no node ends further from its share than it began.
 */
import { formatSlots, rangesOf, type SlotRanges, slotsOf } from '../api/slots.ts';
import type { NodeId } from '../api/view.ts';
import type { SlotMove } from './moves-goal.ts';
import { compareText } from './topology.ts';

/** A primary and its part in the balance. */
export interface Party {
  readonly id: NodeId;
  readonly weight: number;
  readonly slots: SlotRanges;
}

interface Account {
  readonly id: NodeId;
  readonly weight: number;
  /** Its share of the whole cost. */
  readonly ideal: number;
  /** How far from it the node was at the start: no further at the end. */
  readonly began: number;
  cost: number;
  /** What it had from the start and still has: a slot moves once. */
  readonly slots: Set<number>;
  received: number;
}

export interface CostBalance {
  readonly moves: readonly SlotMove[];
  readonly reasons: readonly string[];
}

/** A slot that costs so many times the average of its node is moved for itself, the most expensive first. */
const HOT = 4;

export function balanceByCost(
  parties: readonly Party[],
  costs: ReadonlyMap<number, number>,
  threshold: number,
): CostBalance {
  const costOf = (slot: number) => costs.get(slot) ?? 0;
  const weights = parties.reduce((sum, party) => sum + party.weight, 0);
  const total = [...costs.values()].reduce((sum, cost) => sum + cost, 0);
  const accounts = parties.map((party): Account => {
    const slots = new Set(slotsOf(party.slots));
    const cost = [...slots].reduce((sum, slot) => sum + costOf(slot), 0);
    const ideal = (total * party.weight) / weights;
    return { id: party.id, weight: party.weight, ideal, began: Math.abs(cost - ideal), cost, slots, received: 0 };
  });
  if (!accounts.some((account) => isOff(account, threshold))) {
    return { moves: [], reasons: [`every primary is within ${threshold} % of its share`] };
  }
  const before = worst(accounts);
  const moved = new Map<string, { source: NodeId; target: NodeId; slots: number[] }>();
  const transfer = (from: Account, to: Account, slots: readonly number[]) => {
    if (slots.length === 0) return;
    for (const slot of slots) {
      from.slots.delete(slot);
      from.cost -= costOf(slot);
      to.cost += costOf(slot);
    }
    to.received += slots.length;
    const name = `${from.id} ${to.id}`;
    const entry = moved.get(name) ?? { source: from.id, target: to.id, slots: [] };
    entry.slots.push(...slots);
    moved.set(name, entry);
  };
  drain(accounts, costOf, transfer);
  const pairs = level(accounts, costOf, threshold, transfer);
  refine(pairs, costOf, threshold, transfer);
  const moves = [...moved.values()].map(({ source, target, slots }) => ({
    source,
    target,
    slots: formatSlots(rangesOf(slots)),
  }));
  return {
    moves,
    reasons: [`the furthest from its share is ${percent(before)} off before and ${percent(worst(accounts))} off after`],
  };
}

type Transfer = (from: Account, to: Account, slots: readonly number[]) => void;

/**
 * Nodes of weight 0 give everything away: to each of the others what it lacks, in runs of neighbouring slots, and what
 * then is left to the one that has least.
 */
function drain(accounts: readonly Account[], costOf: (slot: number) => number, transfer: Transfer): void {
  const takers = accounts.filter((account) => account.weight > 0);
  for (const giver of accounts.filter((account) => account.weight === 0)) {
    for (const taker of mostNeedyFirst(takers)) {
      transfer(giver, taker, fitting(giver, taker.ideal - taker.cost, costOf, 0));
    }
    // Slots that cost nothing weigh nothing: shared by number. The others go one by one to whoever is best off with it.
    const rest = [...giver.slots].sort((a, b) => costOf(b) - costOf(a) || a - b);
    for (const slot of rest.filter((each) => costOf(each) > 0)) {
      transfer(giver, mostNeedyFirst(takers)[0] as Account, [slot]);
    }
    const free = [...giver.slots].sort((a, b) => a - b);
    const each = Math.ceil(free.length / takers.length);
    const fewestFirst = [...takers].sort((a, b) => held(a) - held(b) || compareText(a.id, b.id));
    for (const [index, taker] of fewestFirst.entries()) {
      transfer(giver, taker, free.slice(index * each, (index + 1) * each));
    }
  }
}

interface Pair {
  readonly giver: Account;
  readonly taker: Account;
}

/** Two pointers, from the richest and from the neediest; each step settles one of them. */
function level(
  accounts: readonly Account[],
  costOf: (slot: number) => number,
  threshold: number,
  transfer: Transfer,
): readonly Pair[] {
  const givers = accounts
    .filter((account) => account.weight > 0 && account.cost > account.ideal)
    .sort((a, b) => b.cost - b.ideal - (a.cost - a.ideal) || compareText(a.id, b.id));
  const takers = mostNeedyFirst(accounts.filter((account) => account.weight > 0 && account.cost < account.ideal));
  const pairs: Pair[] = [];
  let g = 0;
  let t = 0;
  for (;;) {
    const giver = givers[g];
    const taker = takers[t];
    if (!giver || !taker) return pairs;
    pairs.push({ giver, taker });
    const surplus = giver.cost - giver.ideal;
    const need = taker.ideal - taker.cost;
    const slack = (Math.min(giver.ideal, taker.ideal) * threshold) / 100;
    transfer(giver, taker, fitting(giver, Math.min(surplus, need), costOf, slack));
    if (surplus <= need) g++;
    else t++;
  }
}

/** More single slots than this between one pair are no refinement any more. */
const MOST_REFINED = 4;

/**
 * What whole slots left over, while a pair is outside the threshold: one more slot between the two, if the one that is
 * further from its share comes closer to it than the other may lose. Only between pairs that exchange slots anyway.
 */
function refine(pairs: readonly Pair[], costOf: (slot: number) => number, threshold: number, transfer: Transfer): void {
  for (const { giver, taker } of pairs) {
    for (let round = 0; round < MOST_REFINED && (isOff(giver, threshold) || isOff(taker, threshold)); round++) {
      const surplus = giver.cost - giver.ideal;
      const need = taker.ideal - taker.cost;
      const distance = (slot: number) => Math.max(Math.abs(surplus - costOf(slot)), Math.abs(need - costOf(slot)));
      const isBetter = (slot: number) =>
        distance(slot) < Math.max(Math.abs(surplus), Math.abs(need)) &&
        Math.abs(surplus - costOf(slot)) <= giver.began &&
        Math.abs(need - costOf(slot)) <= taker.began;
      const best = [...giver.slots]
        .filter((slot) => costOf(slot) > 0 && isBetter(slot))
        .sort((a, b) => distance(a) - distance(b) || a - b)[0];
      if (best === undefined) break;
      transfer(giver, taker, [best]);
    }
  }
}

/**
 * Slots of a node that cost `amount` together, or as close below as they come. Hot slots first, the most expensive
 * that fits, and one of them may be too expensive by `slack`; then the lowest slots as one run, because scattered slots
 * make every client's slot map long; then single slots that fill the gap, the most expensive that fits, until the gap
 * is less than half an average slot.
 */
function fitting(giver: Account, amount: number, costOf: (slot: number) => number, slack: number): readonly number[] {
  const chosen = new Set<number>();
  let left = amount;
  const take = (slot: number) => {
    chosen.add(slot);
    left -= costOf(slot);
  };
  const costly = [...giver.slots].filter((slot) => costOf(slot) > 0).sort((a, b) => costOf(b) - costOf(a) || a - b);
  if (costly.length === 0 || amount <= 0) return [];
  const average = giver.cost / held(giver);
  for (const slot of costly) {
    if (costOf(slot) >= HOT * average && left > 0 && costOf(slot) <= left + Math.min(slack, left)) take(slot);
  }
  const run: number[] = [];
  for (const slot of [...giver.slots].sort((a, b) => a - b)) {
    if (chosen.has(slot)) continue;
    if (costOf(slot) > left) break;
    left -= costOf(slot);
    run.push(slot);
  }
  // Slots without cost belong into the run, not at its end.
  while (run.length > 0 && costOf(run.at(-1) as number) === 0) run.pop();
  for (const slot of run) chosen.add(slot);
  for (const slot of costly) {
    if (left < average / 2) break;
    if (!chosen.has(slot) && costOf(slot) <= left) take(slot);
  }
  return [...chosen].sort((a, b) => a - b);
}

function held(account: Account): number {
  return account.slots.size + account.received;
}

function mostNeedyFirst(accounts: readonly Account[]): readonly Account[] {
  return [...accounts].sort((a, b) => b.ideal - b.cost - (a.ideal - a.cost) || compareText(a.id, b.id));
}

function isOff(account: Account, threshold: number): boolean {
  if (account.weight === 0) return account.slots.size > 0;
  return Math.abs(account.cost - account.ideal) > (account.ideal * threshold) / 100;
}

/** The largest distance of a node from its share, as a part of the share. */
function worst(accounts: readonly Account[]): number {
  return Math.max(
    0,
    ...accounts
      .filter((account) => account.ideal > 0)
      .map((account) => Math.abs(account.cost - account.ideal) / account.ideal),
  );
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}
