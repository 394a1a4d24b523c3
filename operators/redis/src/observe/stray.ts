/** Keys that lie on a node outside the slots it serves: nobody can read them there, and they hinder migrations. */
import { type Knowledge, known, unknown } from '@reeve/runtime';
import { type SlotRanges, slotsOf } from '../api/slots.ts';
import { atOneMoment } from './databases.ts';
import type { MeasuredNode } from './measure.ts';

/**
 * Without a look at the keys: all of them less those in the slots served. Both are counted in one transaction: counted
 * one after the other, keys that clients add in between could make up for strays exactly. The server does nothing else
 * meanwhile: one or two microseconds for each slot.
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
