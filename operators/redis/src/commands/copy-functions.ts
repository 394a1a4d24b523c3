import { done, failed } from '@reeve/runtime';
import type { CopyFunctions } from '../api/commands.ts';
import type { Reply } from '../api/port.ts';
import { ask, handlerFor, identify, nameOf } from './evidence.ts';

function isEmptyList(reply: Reply): boolean {
  return Array.isArray(reply) && reply.length === 0;
}

/** Functions are not part of any slot: a new primary gets those of the cluster before it gets slots. */
export const copyFunctionsHandler = handlerFor<CopyFunctions>('copy-functions', async (command, context) => {
  await identify(context, [command.from, command.to]);
  if (isEmptyList(await ask(context, command.from, ['FUNCTION', 'LIST']))) return done;
  const dump = await ask(context, command.from, ['FUNCTION', 'DUMP'], { binary: true });
  if (!Buffer.isBuffer(dump))
    return failed('FUNCTIONS_DIFFER', `${nameOf(command.from)} gave no dump of its functions`);
  if (!isEmptyList(await ask(context, command.to, ['FUNCTION', 'LIST']))) {
    const there = await ask(context, command.to, ['FUNCTION', 'DUMP'], { binary: true });
    if (Buffer.isBuffer(there) && there.equals(dump)) return done;
    return failed('FUNCTIONS_DIFFER', `${nameOf(command.to)} has functions of its own that differ from the cluster's`);
  }
  await ask(context, command.to, ['FUNCTION', 'RESTORE', dump]);
  return done;
});
