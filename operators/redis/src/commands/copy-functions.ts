import { done, failed } from '@reeve/runtime';
import type { CopyFunctions } from '../api/commands.ts';
import type { Reply } from '../api/port.ts';
import type { NodeRef } from '../api/view.ts';
import { fieldsOf } from '../observe/jobs.ts';
import type { RedisContext } from './context.ts';
import { ask, handlerFor, identify, type IsDone, nameOf } from './evidence.ts';

/** Library name → code. Not the dump: it lists the libraries in an order that differs from server to server. */
async function libraries(context: RedisContext, node: NodeRef): Promise<ReadonlyMap<string, string>> {
  const reply = await ask(context, node, ['FUNCTION', 'LIST', 'WITHCODE']);
  return new Map(
    (reply as readonly Reply[]).map((entry) => {
      const fields = fieldsOf(entry);
      return [String(fields.get('library_name')), String(fields.get('library_code'))];
    }),
  );
}

function areEqual(wanted: ReadonlyMap<string, string>, there: ReadonlyMap<string, string>): boolean {
  return there.size === wanted.size && [...wanted].every(([name, code]) => there.get(name) === code);
}

const areCopied: IsDone<CopyFunctions> = async ({ from, to }, context) => {
  await identify(context, [from, to]);
  const [wanted, there] = await Promise.all([libraries(context, from), libraries(context, to)]);
  if (areEqual(wanted, there)) return 'done';
  return there.size === 0 ? 'not-done' : 'unknown';
};

/** Functions are not part of any slot: a new primary gets those of the cluster before it gets slots. */
export const copyFunctionsHandler = handlerFor<CopyFunctions>('copy-functions', areCopied, async (command, context) => {
  await identify(context, [command.from, command.to]);
  const [wanted, there] = await Promise.all([libraries(context, command.from), libraries(context, command.to)]);
  if (wanted.size === 0) return done;
  if (there.size > 0) {
    if (areEqual(wanted, there)) return done;
    return failed('FUNCTIONS_DIFFER', `${nameOf(command.to)} has functions of its own that differ from the cluster's`);
  }
  const dump = await ask(context, command.from, ['FUNCTION', 'DUMP'], { binary: true });
  if (!Buffer.isBuffer(dump))
    return failed('FUNCTIONS_DIFFER', `${nameOf(command.from)} gave no dump of its functions`);
  await ask(context, command.to, ['FUNCTION', 'RESTORE', dump]);
  return done;
});
