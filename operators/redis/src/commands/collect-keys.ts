import { done, failed, type Outcome, type Progress, ReeveError } from '@reeve/runtime';
import type { CollectKeys } from '../api/commands.ts';
import { RedisReplyError } from '../api/port.ts';
import { countSlots, hasSlot, intersectSlots, minusSlots, slotsOf } from '../api/slots.ts';
import type { NodeRef } from '../api/view.ts';
import { compareKey, showKey } from './compare-keys.ts';
import type { RedisContext } from './context.ts';
import { ask, background, handlerFor, namedSlots, nameOf, StaleEvidence, tableOf } from './evidence.ts';

const BATCH = 100;
const MIGRATE_TIMEOUT_MS = 5_000;
/** Rounds in which a client was always faster than we: then somebody else is at work here. */
const MOST_FRUITLESS = 20;
/** Keys shown in a message about conflicts. */
const SHOWN = 3;

interface SlotResult {
  readonly moved: number;
  /** Copies that were equal to the owner's and were removed. */
  readonly dropped: number;
  readonly conflicts: readonly Buffer[];
}

/** Moves what the owner does not have; compares what it has. Never overwrites anything on the owner. */
async function collectSlot(
  context: RedisContext,
  from: NodeRef,
  owner: NodeRef,
  slot: number,
  signal: AbortSignal,
): Promise<SlotResult> {
  const conflicts = new Map<string, Buffer>();
  let moved = 0;
  let dropped = 0;
  let fruitless = 0;
  // A slot that `from` does not own is served there only while it is importing it: needed for MIGRATE and ASKING. And
  // only if it knows an owner: a server that was importing while the owner was failed over knows none.
  await ask(context, from, ['CLUSTER', 'SETSLOT', String(slot), 'NODE', owner.id]);
  await ask(context, from, ['CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', owner.id]);
  try {
    while (!signal.aborted) {
      const count = String(BATCH + conflicts.size);
      const listed = await ask(context, from, ['CLUSTER', 'GETKEYSINSLOT', String(slot), count], {
        binary: true,
        lane: 'bulk',
      });
      const keys = (listed as readonly Buffer[]).filter((key) => !conflicts.has(key.toString('latin1')));
      if (keys.length === 0) break;
      const there = await Promise.all(keys.map((key) => ask(context, owner, ['EXISTS', key], { lane: 'bulk' })));
      const missing = keys.filter((_key, index) => there[index] === 0);
      if (missing.length > 0) {
        const gone = await move(context, from, owner, missing);
        moved += gone;
        fruitless = gone > 0 ? 0 : fruitless + 1;
        if (fruitless > MOST_FRUITLESS)
          throw new ReeveError('KEYS_STAY', `slot ${slot}: its keys do not leave ${nameOf(from)}`);
        continue;
      }
      for (const key of keys) {
        const comparison = await compareKey(context, from, owner, key);
        if (comparison === 'different') conflicts.set(key.toString('latin1'), key);
        if (comparison !== 'same') continue;
        // Our copy goes, not the owner's: a client may have written to the owner since it was compared.
        await Promise.all([
          context.redis.call(from.endpoint, ['ASKING'], { lane: 'bulk' }),
          context.redis.call(from.endpoint, ['DEL', key], { lane: 'bulk' }),
        ]);
        dropped++;
      }
    }
  } finally {
    await ask(context, from, ['CLUSTER', 'SETSLOT', String(slot), 'STABLE']);
  }
  if (signal.aborted) throw new ReeveError('INTERRUPTED', `stopped in the middle of slot ${slot}`);
  return { moved, dropped, conflicts: [...conflicts.values()] };
}

async function move(context: RedisContext, from: NodeRef, owner: NodeRef, keys: readonly Buffer[]): Promise<number> {
  const { host, port } = owner.endpoint;
  try {
    await ask(
      context,
      from,
      [
        'MIGRATE',
        host,
        String(port),
        '',
        '0',
        String(MIGRATE_TIMEOUT_MS),
        ...context.redis.migrateAuth(),
        'KEYS',
        ...keys,
      ],
      { lane: 'bulk', timeoutMs: 2 * MIGRATE_TIMEOUT_MS },
    );
    return keys.length;
  } catch (error) {
    // BUSYKEY: a client wrote it on the owner meanwhile; the next round compares. Keys before it are moved.
    if (error instanceof RedisReplyError && error.reply === 'BUSYKEY') return 0;
    throw error;
  }
}

async function collect(
  command: CollectKeys,
  context: RedisContext,
  signal: AbortSignal,
  report: (progress: Progress) => void,
): Promise<Outcome> {
  const slots = [...slotsOf(namedSlots(command.slots))];
  const conflicts: Buffer[] = [];
  let moved = 0;
  let dropped = 0;
  for (const [index, slot] of slots.entries()) {
    if (signal.aborted) return failed('INTERRUPTED', 'stopped between two slots');
    const result = await collectSlot(context, command.from, command.owner, slot, signal);
    moved += result.moved;
    dropped += result.dropped;
    conflicts.push(...result.conflicts);
    report({
      done: index + 1,
      total: slots.length,
      unit: 'slots',
      note: `${moved} keys moved, ${dropped} equal copies removed`,
    });
  }
  if (conflicts.length > 0) {
    const shown = conflicts.slice(0, SHOWN).map(showKey).join(', ');
    return failed(
      'KEY_CONFLICT',
      `${conflicts.length} keys differ between ${nameOf(command.from)} and ${nameOf(command.owner)} and stay on both: ${shown}`,
    );
  }
  return { status: 'done', note: `${moved} keys moved, ${dropped} equal copies removed` };
}

/** Brings the keys of slots to their owner, slot after slot, behind a handle. */
export const collectKeysHandler = handlerFor<CollectKeys>('collect-keys', async (command, context, signal) => {
  const slots = namedSlots(command.slots);
  const [from, owner] = await Promise.all([tableOf(context, command.from), tableOf(context, command.owner)]);
  const owned = intersectSlots(from.self.slots, slots);
  if (countSlots(owned) > 0) throw new StaleEvidence(`${nameOf(command.from)} owns some of these slots itself`);
  if (countSlots(minusSlots(slots, owner.self.slots)) > 0)
    throw new StaleEvidence(`${nameOf(command.owner)} does not own all of these slots`);
  if (from.self.role !== 'primary') throw new StaleEvidence(`${nameOf(command.from)} is a replica`);
  const moving = owner.self.migrating.find((open) => hasSlot(slots, open.slot));
  if (moving) throw new StaleEvidence(`slot ${moving.slot} is migrating away from ${nameOf(command.owner)}`);
  if (countSlots(slots) === 0) return done;
  return background((report) => collect(command, context, signal, report));
});
