import { done } from '@reeve/runtime';
import type { Replicate } from '../api/commands.ts';
import { countSlots } from '../api/slots.ts';
import { ask, handlerFor, identify, keyCount, nameOf, StaleEvidence, tableOf } from './evidence.ts';

/** Makes a node without slots the replica of a primary. The sync that follows replaces what it holds: so it must hold nothing of its own. */
export const replicateHandler = handlerFor<Replicate>('replicate', async (command, context) => {
  const { replica, primary } = command;
  const { self, others } = await tableOf(context, replica);
  const again = self.role === 'replica' && self.primaryId === primary.id;
  if (countSlots(self.slots) > 0) throw new StaleEvidence(`${nameOf(replica)} owns ${countSlots(self.slots)} slots`);
  const line = others.find((other) => other.id === primary.id);
  if (!line) throw new StaleEvidence(`${nameOf(replica)} does not know ${nameOf(primary)} yet`);
  if (line.role !== 'primary')
    throw new StaleEvidence(`${nameOf(primary)} is a replica in the eyes of ${nameOf(replica)}`);
  await identify(context, [primary]);
  if (!again && command.mustBeEmpty) {
    const keys = await keyCount(context, replica);
    if (keys > 0) throw new StaleEvidence(`${nameOf(replica)} is not empty: ${keys} keys`);
  }
  // A primary without slots but with keys holds data of nobody knows whom: never thrown away by a sync.
  if (!again && self.role === 'primary' && (await keyCount(context, replica)) > 0) {
    throw new StaleEvidence(`${nameOf(replica)} is a primary that holds keys`);
  }
  // Sent also when it replicates that primary already: it renews a link to an address that is gone.
  await ask(context, replica, ['CLUSTER', 'REPLICATE', primary.id]);
  return done;
});
