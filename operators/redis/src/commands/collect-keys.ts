import { done, failed, type Outcome, type Progress } from '@reeve/runtime';
import type { CollectKeys } from '../api/commands.ts';
import { countSlots, hasSlot, intersectSlots, minusSlots, type SlotRanges, slotsOf } from '../api/slots.ts';
import type { NodeRef, NodeReport } from '../api/view.ts';
import { countKeys } from '../observe/measure.ts';
import { observeNode } from '../observe/node.ts';
import { type Collection, collectSlot } from './collect-slot.ts';
import { showKey } from './compare-keys.ts';
import type { RedisContext } from './context.ts';
import {
  background,
  doneIf,
  handlerFor,
  type IsDone,
  keysInSlots,
  namedSlots,
  nameOf,
  type NodeTable,
  openSlots,
  StaleEvidence,
  tableOf,
} from './evidence.ts';
import { addressSeenBy, sharedNodeTimeoutMs } from './migrate/between.ts';
import { largestSafeKey, type SizedKey } from './migrate/big-keys.ts';
import { formatBytes } from './migrate/migration.ts';
import { Standing } from './migrate/standing.ts';

const COUNT_TIMEOUT_MS = 5_000;
/** Keys shown in a message. */
const SHOWN = 3;

async function collect(
  collection: Collection,
  slots: readonly number[],
  report: (progress: Progress) => void,
): Promise<Outcome> {
  const conflicts: Buffer[] = [];
  const giants: SizedKey[] = [];
  let moved = 0;
  let dropped = 0;
  for (const [index, slot] of slots.entries()) {
    if (collection.signal.aborted) return failed('INTERRUPTED', 'stopped between two slots');
    const result = await collectSlot(collection, slot);
    moved += result.moved;
    dropped += result.dropped;
    conflicts.push(...result.conflicts);
    giants.push(...result.giants);
    report({
      done: index + 1,
      total: slots.length,
      unit: 'slots',
      note: `${moved} keys moved, ${dropped} equal copies removed`,
    });
  }
  const left = [...conflictText(collection, conflicts), ...giantText(collection, giants)];
  if (left.length > 0) return failed(conflicts.length > 0 ? 'KEY_CONFLICT' : 'BIG_KEY', left.join('; '));
  return { status: 'done', note: `${moved} keys moved, ${dropped} equal copies removed` };
}

function conflictText({ from, owner }: Collection, keys: readonly Buffer[]): readonly string[] {
  if (keys.length === 0) return [];
  const shown = keys.slice(0, SHOWN).map(showKey).join(', ');
  return [`${keys.length} keys differ between ${nameOf(from)} and ${nameOf(owner)} and stay on both: ${shown}`];
}

function giantText({ from, nodeTimeoutMs }: Collection, keys: readonly SizedKey[]): readonly string[] {
  if (keys.length === 0) return [];
  const shown = keys.slice(0, SHOWN).map(({ key, bytes }) => `${showKey(key)} of ${formatBytes(bytes)}`);
  const most = `at most ${formatBytes(largestSafeKey(nodeTimeoutMs))} with a node timeout of ${nodeTimeoutMs} ms`;
  return [
    `${keys.length} keys would block both servers for too long (${most}) and stay on ${nameOf(from)}: ${shown.join(', ')}`,
  ];
}

/** Throws StaleEvidence unless `owner` owns all of the slots for good and `from` none of them. */
function proveRoles(command: CollectKeys, from: NodeTable, owner: NodeTable, slots: SlotRanges): void {
  const owned = intersectSlots(from.self.slots, slots);
  if (countSlots(owned) > 0) throw new StaleEvidence(`${nameOf(command.from)} owns some of these slots itself`);
  if (countSlots(minusSlots(slots, owner.self.slots)) > 0)
    throw new StaleEvidence(`${nameOf(command.owner)} does not own all of these slots`);
  if (from.self.role !== 'primary') throw new StaleEvidence(`${nameOf(command.from)} is a replica`);
  const moving = owner.self.migrating.find((open) => hasSlot(slots, open.slot));
  if (moving) throw new StaleEvidence(`slot ${moving.slot} is migrating away from ${nameOf(command.owner)}`);
}

/** Who would notice, and vote, if one of the two was failed over. */
function otherPrimaries(command: CollectKeys, owner: NodeTable): readonly NodeRef[] {
  return owner.others
    .filter((line) => line.role === 'primary' && line.id !== command.from.id && line.host !== '')
    .map(({ id, host, port }) => ({ id, endpoint: { host, port } }));
}

/**
 * MIGRATE and GETKEYSINSLOT see the selected database only, and connections of the port stay in database 0: keys of
 * these slots in another one would never leave, however often this was done.
 */
async function keysElsewhere(
  context: RedisContext,
  command: CollectKeys,
  report: NodeReport,
  slots: SlotRanges,
): Promise<Outcome | undefined> {
  const databases = Object.keys(report.keyspace)
    .map(Number)
    .filter((database) => database !== 0);
  const reading = { port: context.redis, endpoint: command.from.endpoint, timeoutMs: COUNT_TIMEOUT_MS, databases };
  const counted = await countKeys(reading, slots);
  const slot = [...slotsOf(slots)].find((each) => counted[each]?.keys !== 0);
  if (slot === undefined) return undefined;
  const name = nameOf(command.from);
  if (!counted[slot]) return failed('KEYS_NOT_COUNTED', `${name} did not say how many keys slot ${slot} has`);
  return failed(
    'MIGRATE_DATABASES',
    `${name} has keys of slot ${slot} in databases other than 0 (${databases.join(', ')}), which MIGRATE does not move: a person must move or delete them there`,
  );
}

const areGone: IsDone<CollectKeys> = async ({ from, slots }, context) => {
  const named = [...slotsOf(namedSlots(slots))];
  const isOpen = openSlots(await tableOf(context, from));
  if (named.some((slot) => isOpen.has(slot))) return 'not-done';
  return doneIf((await keysInSlots(context, from, named)).every((keys) => keys === 0));
};

/** Brings the keys of slots to their owner, slot after slot, behind a handle. */
export const collectKeysHandler = handlerFor<CollectKeys>('collect-keys', areGone, async (command, context, signal) => {
  const slots = namedSlots(command.slots);
  const [from, owner] = await Promise.all([tableOf(context, command.from), tableOf(context, command.owner)]);
  proveRoles(command, from, owner, slots);
  if (countSlots(slots) === 0) return done;
  const [fromReport, ownerReport] = await Promise.all([
    observeNode(context.redis, context, command.from.endpoint, {}),
    observeNode(context.redis, context, command.owner.endpoint, {}),
  ]);
  const elsewhere = await keysElsewhere(context, command, fromReport, slots);
  if (elsewhere) return elsewhere;
  const nodeTimeoutMs = sharedNodeTimeoutMs(fromReport, ownerReport);
  const sides = { source: command.from, target: command.owner, others: otherPrimaries(command, owner) };
  const collection: Collection = {
    context,
    from: command.from,
    owner: command.owner,
    ownerSeenByFrom: addressSeenBy(command.from, from, command.owner),
    nodeTimeoutMs,
    standing: new Standing(sides, context, nodeTimeoutMs),
    signal,
  };
  return background((report) => collect(collection, [...slotsOf(slots)], report));
});
