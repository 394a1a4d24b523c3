/** Keys that lie on a node outside the slots it serves: nobody can read them there, and they hinder migrations. */
import { type Knowledge, known, unknown } from '@reeve/runtime';
import { slotOfKey } from '../api/crc16.ts';
import type { Reply } from '../api/port.ts';
import { hasSlot, type SlotRanges, slotsOf } from '../api/slots.ts';
import { atOneMoment, inDatabase } from './databases.ts';
import type { MeasuredNode } from './measure.ts';

/** Keys per SCAN: a few hundred microseconds of the server each. */
const BATCH = '1000';

export async function countStrayKeys(node: MeasuredNode, served: SlotRanges): Promise<Knowledge<number>> {
  let stray = 0;
  for (const database of node.databases) {
    let cursor = '0';
    do {
      const options = { timeoutMs: node.timeoutMs, binary: true };
      const [reply] = await inDatabase(node.port, node.endpoint, database, [['SCAN', cursor, 'COUNT', BATCH]], options);
      if (!Array.isArray(reply)) return unknown(`SCAN of database ${database} failed`);
      const [next, keys] = reply as readonly Reply[];
      for (const key of keys as readonly Buffer[]) if (!hasSlot(served, slotOfKey(key))) stray++;
      cursor = String(next);
    } while (cursor !== '0');
  }
  return known(stray);
}

/**
 * The same number without a look at the keys: all of them less those in the slots served. Both are counted in one
 * transaction: counted one after the other, keys that clients add in between could make up for strays exactly. The
 * server does nothing else meanwhile: one or two microseconds for each slot.
 */
export async function countKeysBeyond(node: MeasuredNode, served: SlotRanges): Promise<Knowledge<number>> {
  const commands = [['DBSIZE'], ...[...slotsOf(served)].map((slot) => ['CLUSTER', 'COUNTKEYSINSLOT', String(slot)])];
  let beyond = 0;
  for (const database of node.databases) {
    const options = { timeoutMs: node.timeoutMs };
    const counts = await atOneMoment(node.port, node.endpoint, database, commands, options);
    for (const [index, count] of counts.entries()) {
      if (typeof count !== 'number')
        return unknown(`the keys of database ${database} could not be counted at one moment`);
      beyond += index === 0 ? count : -count;
    }
  }
  return known(beyond);
}
