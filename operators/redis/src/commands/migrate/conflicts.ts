/**
 * A key that is on both sides. It happens when a MIGRATE broke off after the target had restored the key and before the
 * source deleted it. Nothing is overwritten unless the copies are equal, or the source's is proven to be the live one.
 */
import type { MigrateSlots } from '../../api/commands.ts';
import { parseInfo } from '../../observe/parse.ts';
import { compareKey } from '../compare-keys.ts';
import type { RedisContext } from '../context.ts';
import { ask, tableOf } from '../evidence.ts';

/** Which process the source is, and since which epoch: as long as both stay, it never lost and regained its role. */
export interface SourceProof {
  readonly runId: string;
  readonly configEpoch: number;
}

export async function proofOfSource(command: MigrateSlots, context: RedisContext): Promise<SourceProof> {
  const [info, table] = await Promise.all([
    ask(context, command.source, ['INFO', 'server']),
    tableOf(context, command.source),
  ]);
  return { runId: parseInfo(String(info)).run_id ?? '', configEpoch: table.self.configEpoch };
}

export class Conflicts {
  readonly #command: MigrateSlots;
  readonly #context: RedisContext;
  readonly #proof: SourceProof;
  /** Keys of our own MIGRATEs that broke off in this run: whatever copy the target has of them is ours. */
  readonly #doubtful = new Set<string>();

  constructor(command: MigrateSlots, context: RedisContext, proof: SourceProof) {
    this.#command = command;
    this.#context = context;
    this.#proof = proof;
  }

  doubt(keys: readonly Buffer[]): void {
    for (const key of keys) this.#doubtful.add(key.toString('latin1'));
  }

  /**
   * - `overwrite`: the target's copy may be replaced by the source's;
   * - `gone`: it is on one side only by now;
   * - `conflict`: the copies differ and nothing proves which one is right.
   */
  async judge(slot: number, key: Buffer): Promise<'overwrite' | 'gone' | 'conflict'> {
    const comparison = await compareKey(this.#context, this.#command.source, this.#command.target, key);
    if (comparison === 'same') return 'overwrite';
    if (comparison === 'different') return (await this.#sourceIsLive(slot, key)) ? 'overwrite' : 'conflict';
    return 'gone';
  }

  /**
   * While a slot is open, clients reach a key on the source as long as the source has it. A key that stayed on the
   * source from our broken MIGRATE until now was therefore written there only; the target's copy is the older one.
   */
  async #sourceIsLive(slot: number, key: Buffer): Promise<boolean> {
    if (!this.#doubtful.has(key.toString('latin1'))) return false;
    const now = await proofOfSource(this.#command, this.#context);
    if (now.runId === '' || now.runId !== this.#proof.runId || now.configEpoch !== this.#proof.configEpoch)
      return false;
    const { self } = await tableOf(this.#context, this.#command.source);
    const isOpen = self.migrating.some((open) => open.slot === slot && open.peer === this.#command.target.id);
    return self.role === 'primary' && isOpen;
  }
}
