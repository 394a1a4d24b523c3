/**
 * That two nodes between which keys move are still what they were. A primary that the others do not hear for the
 * cluster's node timeout is failed over: because it stands still, or because it is cut off from them and not from us.
 * It does not know, and a node that is importing takes no news of those slots. To hand slots over then would take them
 * from the source's heir, with what clients have written to it; keys that are given to such a target are lost when it
 * follows its heir.
 *
 * A node is called failed when a majority has waited for its answer for the whole node timeout. So as long as enough of
 * them wait for no answer, no failover ends within that time, and a proof is good for half of it. Only a person (or
 * another tool) can order one that takes no time at all: right before slots are handed over both sides are asked for
 * their role. What happens after that answer nobody can exclude: the server knows no "if it is still yours".
 *
 * And the others must believe the target: it claims the slots by a later epoch than the source's, which it takes when
 * it gets them, after the latest that it has heard of. If it has not heard of the source's, the source's replicas never
 * believe it, and the source itself, before it is told, takes the slots back and the target drops their keys.
 */
import { countSlots, formatSlots, intersectSlots, rangesOf, type SlotRanges } from '../../api/slots.ts';
import type { NodeLine, NodeRef } from '../../api/view.ts';
import type { RedisContext } from '../context.ts';
import {
  type Epochs,
  epochsOf,
  isPrimaryNow,
  nameOf,
  type NodeTable,
  StaleEvidence,
  tableIfThere,
  tableOf,
} from '../evidence.ts';

const SETTLE_MS = 200;

export interface Sides {
  readonly source: NodeRef;
  readonly target: NodeRef;
  /** Other primaries, to be asked as well. Who cannot be read is taken for one that hears nobody. */
  readonly others: readonly NodeRef[];
}

interface Reading {
  readonly reader: NodeRef;
  readonly table: NodeTable;
}

export class Standing {
  readonly #sides: Sides;
  readonly #context: RedisContext;
  readonly #goodForMs: number;
  #provedAt = Number.NEGATIVE_INFINITY;
  #proving: Promise<void> | undefined;

  constructor(sides: Sides, context: RedisContext, nodeTimeoutMs: number) {
    this.#sides = sides;
    this.#context = context;
    this.#goodForMs = nodeTimeoutMs / 2;
  }

  /** Throws StaleEvidence when somebody knows another owner of the slots, or that one of the two is no living primary any more. */
  async prove(slots: readonly number[]): Promise<void> {
    while (this.#context.clock.now() - this.#provedAt >= this.#goodForMs) {
      // Several windows work at once: one proof is enough for all.
      this.#proving ??= this.#prove(slots).finally(() => {
        this.#proving = undefined;
      });
      await this.#proving;
    }
  }

  /** Right before slots are handed over. */
  async proveNow(slots: readonly number[]): Promise<void> {
    await this.untilBelieved();
    await this.prove(slots);
    await this.#proveRoles();
  }

  /** Waits until the others would believe that slots of the source are the target's: a message is on its way to it. */
  async untilBelieved(): Promise<void> {
    const { clock } = this.#context;
    const { source, target } = this.#sides;
    const until = clock.now() + 2 * this.#goodForMs;
    for (;;) {
      const [from, to] = await Promise.all([epochsOf(this.#context, source), epochsOf(this.#context, target)]);
      if (epochTakenBy(to) > from.own) return;
      if (clock.now() >= until) {
        throw new StaleEvidence(
          `${nameOf(target)} has heard of config epoch ${to.current} only, and of no later one than ${from.own} of ${nameOf(source)}: nobody would believe that slots of it are its own`,
        );
      }
      await clock.sleep(SETTLE_MS);
    }
  }

  /** Throws StaleEvidence when one of the two is no primary in its own eyes: it was failed over on somebody's order. */
  async #proveRoles(): Promise<void> {
    const sides = [this.#sides.source, this.#sides.target];
    const are = await Promise.all(sides.map((node) => isPrimaryNow(this.#context, node)));
    const demoted = sides.find((_node, index) => !are[index]);
    if (demoted) throw new StaleEvidence(`${nameOf(demoted)} is a replica now`);
  }

  async #prove(slots: readonly number[]): Promise<void> {
    const { clock } = this.#context;
    let began = clock.now();
    if (await this.#doubt(slots)) {
      // Tables are read one by one while other moves go on: what is said once may be a moment between two steps.
      await clock.sleep(SETTLE_MS);
      began = clock.now();
      const doubt = await this.#doubt(slots);
      if (doubt) throw new StaleEvidence(doubt);
    }
    this.#provedAt = began;
  }

  async #doubt(slots: readonly number[]): Promise<string | undefined> {
    const { source, target, others } = this.#sides;
    const [ofSource, ofTarget, ...ofOthers] = await Promise.all([
      tableOf(this.#context, source),
      tableOf(this.#context, target),
      ...others.map((node) => tableIfThere(this.#context, node)),
    ]);
    const readings = [ofSource, ofTarget, ...ofOthers].flatMap((table, index) =>
      table ? [{ reader: [source, target, ...others][index] as NodeRef, table }] : [],
    );
    const sides = [ofSource.self, ofTarget.self];
    for (const reading of readings) {
      const doubt = otherOwner(reading, rangesOf(slots), sides) ?? overtaken(reading, sides);
      if (doubt !== undefined) return doubt;
    }
    return sides.map((side) => unheard(side, readings)).find((doubt) => doubt !== undefined);
  }
}

/** A server that gets slots takes the epoch after the latest it has heard of, unless it has that one already. */
function epochTakenBy({ own, current }: Epochs): number {
  return own === current ? own : current + 1;
}

/** So many primaries may not hear from the node that they could call it failed. Those without slots have no vote, but a word in that. */
function unheard(side: NodeLine, readings: readonly Reading[]): string | undefined {
  const primaries = readings
    .flatMap(({ table }) => [table.self, ...table.others])
    .filter(({ role, flags }) => role === 'primary' && !flags.includes('fail'));
  const ids = new Set(primaries.map(({ id }) => id));
  const voters = new Set(primaries.filter(({ slots }) => slots.length > 0).map(({ id }) => id));
  const hearing = readings.filter(
    ({ table }) => table.self.id !== side.id && ids.has(table.self.id) && hears(table, side),
  );
  const deaf = ids.size - 1 - hearing.length;
  if (deaf < Math.floor(voters.size / 2) + 1) return undefined;
  return `${deaf} of ${ids.size} primaries wait for an answer of ${side.id.slice(0, 8)}, or cannot be asked`;
}

function hears(table: NodeTable, side: NodeLine): boolean {
  const line = table.others.find(({ id }) => id === side.id);
  return line !== undefined && line.linkUp && !line.flags.includes('fail?') && !table.unanswered.has(side.id);
}

function otherOwner({ reader, table }: Reading, wanted: SlotRanges, sides: readonly NodeLine[]): string | undefined {
  for (const line of [table.self, ...table.others]) {
    const claimed = sides.some(({ id }) => id === line.id) ? [] : intersectSlots(line.slots, wanted);
    if (countSlots(claimed) > 0) {
      return `${nameOf(reader)} knows ${line.id.slice(0, 8)} as owner of slots ${formatSlots(claimed)}`;
    }
  }
  return undefined;
}

/** The reader takes one of the two for a replica or for dead, or knows its heir: somebody with slots that it claims, by a later epoch. */
function overtaken({ reader, table }: Reading, sides: readonly NodeLine[]): string | undefined {
  const lines = [table.self, ...table.others];
  for (const side of sides) {
    const name = side.id.slice(0, 8);
    const seen = lines.find(({ id }) => id === side.id);
    if (seen && (seen.role !== 'primary' || seen.flags.includes('fail'))) {
      return `${nameOf(reader)} does not take ${name} for a living primary`;
    }
    const heir = lines.find(
      (line) =>
        !sides.some(({ id }) => id === line.id) &&
        line.configEpoch > side.configEpoch &&
        countSlots(intersectSlots(line.slots, side.slots)) > 0,
    );
    if (heir) return `${nameOf(reader)} knows ${heir.id.slice(0, 8)} as the heir of ${name}`;
  }
  return undefined;
}
