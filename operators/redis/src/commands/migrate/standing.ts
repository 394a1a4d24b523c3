/**
 * That two nodes between which keys move are still what they were. A primary that stands still for the cluster's node
 * timeout is failed over; when it wakes up it does not know, and a node that is importing takes no news of those slots.
 * To hand slots over then would take them from the source's heir, with what clients have written to it; keys that are
 * given to such a target are lost when it follows its heir. So a proof is good for half of that time: within it no
 * failover can have begun and ended. After it everybody is asked again.
 */
import { countSlots, formatSlots, intersectSlots, rangesOf, type SlotRanges } from '../../api/slots.ts';
import type { NodeLine, NodeRef } from '../../api/view.ts';
import type { RedisContext } from '../context.ts';
import { nameOf, type NodeTable, StaleEvidence, tableIfThere, tableOf } from '../evidence.ts';

const SETTLE_MS = 200;

export interface Sides {
  readonly source: NodeRef;
  readonly target: NodeRef;
  /** Other primaries, to be asked as well. Who cannot be read is not: a failover has the votes of a majority. */
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
  #provedAt: number;

  /** `provedAt`: when the reads began that proved it first. */
  constructor(sides: Sides, context: RedisContext, nodeTimeoutMs: number, provedAt: number) {
    this.#sides = sides;
    this.#context = context;
    this.#goodForMs = nodeTimeoutMs / 2;
    this.#provedAt = provedAt;
  }

  /** Throws StaleEvidence when somebody knows another owner of the slots, or that one of the two is no living primary any more. */
  async prove(slots: readonly number[]): Promise<void> {
    const { clock } = this.#context;
    if (clock.now() - this.#provedAt < this.#goodForMs) return;
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
    return undefined;
  }
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
