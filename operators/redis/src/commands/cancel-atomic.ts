import { done } from '@reeve/runtime';
import type { CancelAtomic } from '../api/commands.ts';
import { askTolerant, handlerFor, identify } from './evidence.ts';

/** Cancels the atomic slot migrations of a source; the server rolls them back. Nothing to cancel is fine. */
export const cancelAtomicHandler = handlerFor<CancelAtomic>('cancel-atomic', async (command, context) => {
  await identify(context, [command.source]);
  await askTolerant(context, command.source, [['CLUSTER', 'CANCELSLOTMIGRATIONS']], (error) =>
    error.message.includes('No migrations ongoing'),
  );
  return done;
});
