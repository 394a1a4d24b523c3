import { done } from '@reeve/runtime';
import type { BumpEpoch } from '../api/commands.ts';
import { ask, doneIf, handlerFor, type IsDone, nameOf, StaleEvidence, tableOf } from './evidence.ts';

const isBumped: IsDone<BumpEpoch> = async ({ node, epoch }, context) => {
  const { self } = await tableOf(context, node);
  return self.role === 'primary' ? doneIf(self.configEpoch !== epoch) : 'unknown';
};

/**
 * Gives a primary another config epoch. Done when it has another than the one that it was found with. Its own table is
 * not asked whether it still shares it: two that collide for long do so because they do not hear each other.
 */
export const bumpEpochHandler = handlerFor<BumpEpoch>('bump-epoch', isBumped, async (command, context) => {
  const { self } = await tableOf(context, command.node);
  // A replica shows the epoch of its primary: that is no collision, and nothing of its own to bump.
  if (self.role !== 'primary') throw new StaleEvidence(`${nameOf(command.node)} is a replica`);
  if (self.configEpoch === command.epoch) await ask(context, command.node, ['CLUSTER', 'BUMPEPOCH']);
  return done;
});
