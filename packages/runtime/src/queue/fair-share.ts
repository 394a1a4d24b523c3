/**
 * Which ready key is next. Between lanes: smooth weighted round robin, so that an urgent lane goes first more often and
 * no lane ever waits for another to be empty. Between the groups of a lane: weighted round robin, so that one namespace
 * with 10,000 keys delays another by its turn only. Within a group: first in, first out.
 */
import { Fifo, type Slot } from './fifo.ts';

export interface Lane {
  readonly name: string;
  /** How often this lane is served compared with the others: a whole number from 1. */
  readonly weight: number;
}

interface Group {
  readonly name: string;
  readonly keys: Fifo<string>;
  /** How many more keys it may give in this turn. */
  credit: number;
}

interface LaneState {
  readonly lane: Lane;
  readonly groups: Map<string, Group>;
  readonly turns: Fifo<Group>;
  size: number;
  /** Smooth weighted round robin: grows by the weight, pays the total when picked. */
  score: number;
}

/** Where a key waits; needed to take it back. */
export interface Ticket {
  readonly lane: number;
  readonly group: string;
  readonly slot: Slot<string>;
}

export class FairShare {
  readonly #lanes: readonly LaneState[];
  readonly #weightOf: (group: string) => number;
  #size = 0;

  constructor(lanes: readonly Lane[], weightOf: (group: string) => number) {
    this.#lanes = lanes.map((lane) => ({ lane, groups: new Map(), turns: new Fifo(), size: 0, score: 0 }));
    this.#weightOf = weightOf;
  }

  get size(): number {
    return this.#size;
  }

  /** How many keys wait in each lane. */
  depths(): readonly number[] {
    return this.#lanes.map(({ size }) => size);
  }

  push(key: string, lane: number, groupName: string): Ticket {
    const state = this.#lanes[lane] as LaneState;
    let group = state.groups.get(groupName);
    if (!group) {
      group = { name: groupName, keys: new Fifo(), credit: this.#creditOf(groupName) };
      state.groups.set(groupName, group);
      state.turns.push(group);
    }
    state.size++;
    this.#size++;
    return { lane, group: groupName, slot: group.keys.push(key) };
  }

  remove(ticket: Ticket): void {
    const state = this.#lanes[ticket.lane] as LaneState;
    const group = state.groups.get(ticket.group);
    if (!group || ticket.slot.item === undefined) return;
    group.keys.remove(ticket.slot);
    this.#took(state); // an empty group leaves when its turn comes
  }

  shift(): string | undefined {
    const state = this.#pickLane();
    if (!state) return undefined;
    for (let group = state.turns.peek(); group; group = state.turns.peek()) {
      const key = group.keys.shift();
      if (key !== undefined) {
        group.credit--;
        if (group.keys.size === 0 || group.credit <= 0) this.#endTurn(state, group);
        this.#took(state);
        return key;
      }
      this.#endTurn(state, group);
    }
    return undefined;
  }

  #endTurn(state: LaneState, group: Group): void {
    state.turns.shift();
    if (group.keys.size === 0) {
      state.groups.delete(group.name);
      return;
    }
    group.credit = this.#creditOf(group.name);
    state.turns.push(group);
  }

  #pickLane(): LaneState | undefined {
    let total = 0;
    let best: LaneState | undefined;
    for (const state of this.#lanes) {
      if (state.size === 0) continue;
      total += state.lane.weight;
      state.score += state.lane.weight;
      if (!best || state.score > best.score) best = state;
    }
    if (best) best.score -= total;
    return best;
  }

  #took(state: LaneState): void {
    state.size--;
    this.#size--;
    // A lane that was empty for an hour must not have saved up an hour of turns.
    if (state.size === 0) state.score = 0;
  }

  #creditOf(group: string): number {
    const weight = Math.floor(this.#weightOf(group));
    return weight >= 1 ? weight : 1; // NaN and 0 would starve it
  }
}
