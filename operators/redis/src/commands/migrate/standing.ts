/**
 * That slots are still the source's to give. A source that stands still for the cluster's node timeout is failed over;
 * when it wakes up it does not know, and neither does a target that is importing, which takes no news of these slots.
 * To hand them over then would take them from the heir, with what clients have written to it. So a proof is good for
 * half of that time: within it no failover can have begun and ended. After it everybody is asked again.
 */
import type { MigrateSlots } from '../../api/commands.ts';
import { countSlots, formatSlots, intersectSlots, rangesOf } from '../../api/slots.ts';
import type { NodeRef } from '../../api/view.ts';
import type { RedisContext } from '../context.ts';
import { nameOf, type NodeTable, StaleEvidence, tableIfThere, tableOf } from '../evidence.ts';

export class Standing {
  readonly #command: MigrateSlots;
  readonly #context: RedisContext;
  readonly #goodForMs: number;
  #provedAt: number;

  /** `provedAt`: when the reads began that proved it first. */
  constructor(command: MigrateSlots, context: RedisContext, nodeTimeoutMs: number, provedAt: number) {
    this.#command = command;
    this.#context = context;
    this.#goodForMs = nodeTimeoutMs / 2;
    this.#provedAt = provedAt;
  }

  /** Throws StaleEvidence when somebody knows another owner of the slots, or takes the source for anything but a living primary. */
  async prove(slots: readonly number[]): Promise<void> {
    const { source, target, others } = this.#command;
    const began = this.#context.clock.now();
    if (began - this.#provedAt < this.#goodForMs) return;
    const [ofSource, ofTarget, ...ofOthers] = await Promise.all([
      tableOf(this.#context, source),
      tableOf(this.#context, target),
      // Who cannot be read cannot be asked; a failover has the votes of a majority, of which others are left.
      ...others.map((node) => tableIfThere(this.#context, node)),
    ]);
    if (ofSource.self.role !== 'primary') throw new StaleEvidence(`${nameOf(source)} is a replica`);
    const seen = ofTarget.others.find(({ id }) => id === source.id);
    if (seen?.role !== 'primary' || seen.flags.includes('fail')) {
      throw new StaleEvidence(`${nameOf(target)} no longer takes ${nameOf(source)} for a living primary`);
    }
    for (const [index, table] of [ofSource, ofTarget, ...ofOthers].entries()) {
      if (table) this.#mustKnowNoOther(slots, table, [source, target, ...others][index] as NodeRef);
    }
    this.#provedAt = began;
  }

  #mustKnowNoOther(slots: readonly number[], { self, others }: NodeTable, reader: NodeRef): void {
    const { source, target } = this.#command;
    const wanted = rangesOf(slots);
    for (const line of [self, ...others]) {
      if (line.id === source.id || line.id === target.id) continue;
      const claimed = intersectSlots(line.slots, wanted);
      if (countSlots(claimed) === 0) continue;
      throw new StaleEvidence(
        `${nameOf(reader)} knows ${line.id.slice(0, 8)} as owner of slots ${formatSlots(claimed)}`,
      );
    }
  }
}
