import { done } from '@reeve/runtime';
import type { AssignSlots } from '../api/commands.ts';
import { countSlots, formatSlots, minusSlots } from '../api/slots.ts';
import { emptyLog } from './empty-log.ts';
import {
  ask,
  doneIf,
  handlerFor,
  type IsDone,
  keyCount,
  namedSlots,
  nameOf,
  StaleEvidence,
  tableOf,
} from './evidence.ts';

const areOwn: IsDone<AssignSlots> = async ({ node, slots }, context) => {
  const { self } = await tableOf(context, node);
  return doneIf(countSlots(minusSlots(namedSlots(slots), self.slots)) === 0);
};

/** Gives a new, empty, lonely node its slots. Done when it claims exactly them. */
export const assignSlotsHandler = handlerFor<AssignSlots>('assign-slots', areOwn, async (command, context, signal) => {
  const wanted = namedSlots(command.slots);
  const { self, others } = await tableOf(context, command.node);
  if (countSlots(minusSlots(self.slots, wanted)) > 0) {
    throw new StaleEvidence(`${nameOf(command.node)} owns other slots already: ${formatSlots(self.slots)}`);
  }
  const missing = minusSlots(wanted, self.slots);
  if (countSlots(missing) === 0) return done;
  if (others.length > 0) throw new StaleEvidence(`${nameOf(command.node)} knows ${others.length} other nodes already`);
  if (self.role !== 'primary') throw new StaleEvidence(`${nameOf(command.node)} is a replica`);
  const keys = await keyCount(context, command.node);
  if (keys > 0) throw new StaleEvidence(`${nameOf(command.node)} is not empty: ${keys} keys`);
  const note = await emptyLog(context, command.node, signal);
  await ask(context, command.node, ['CLUSTER', 'ADDSLOTSRANGE', ...missing.flat().map(String)]);
  return note === undefined ? done : { status: 'done', note };
});
