import { done } from '@reeve/runtime';
import type { BumpEpoch } from '../api/commands.ts';
import { ask, handlerFor, nameOf, StaleEvidence, tableOf } from './evidence.ts';

/** Gives a primary a config epoch of its own. Done when no other primary in its own table has the same. */
export const bumpEpochHandler = handlerFor<BumpEpoch>('bump-epoch', async (command, context) => {
  const { self, others } = await tableOf(context, command.node);
  // A replica shows the epoch of its primary: that is no collision, and nothing of its own to bump.
  if (self.role !== 'primary') throw new StaleEvidence(`${nameOf(command.node)} is a replica`);
  const collides = others.some((other) => other.role === 'primary' && other.configEpoch === self.configEpoch);
  if (collides) await ask(context, command.node, ['CLUSTER', 'BUMPEPOCH']);
  return done;
});
