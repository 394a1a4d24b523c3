/** MULTI, the commands and EXEC as one uninterrupted stretch of a connection's pipeline. */
import { ReeveError } from '@reeve/runtime';
import { type Arg, RedisReplyError, type Reply } from '../api/port.ts';
import type { Connection } from './connection.ts';
import { commandName, isErrorReply, type Redact, replyError } from './errors.ts';

interface Where {
  readonly endpointText: string;
  readonly redact: Redact;
}

/** The same error, saying which command of the transaction it was. The server's own words stay in front. */
function placed(error: ReeveError, index: number, commands: readonly (readonly Arg[])[], where: Where): ReeveError {
  const place = `(command ${index + 1} of ${commands.length} in a transaction: ${commandName(commands[index] ?? [])})`;
  const message = `${error.message} ${place}`;
  if (error instanceof RedisReplyError) return new RedisReplyError(message, where.endpointText);
  return new ReeveError(error.code, message, { subjects: error.subjects });
}

/** The server answered, and said no: it did not put the command into the transaction. */
function wasRefused(error: unknown): error is ReeveError {
  return error instanceof RedisReplyError || (error instanceof ReeveError && error.code === 'REDIS_AUTH');
}

export async function transaction(
  connection: Connection,
  commands: readonly (readonly Arg[])[],
  timeoutMs: number,
  binary: boolean,
  where: Where,
): Promise<readonly Reply[]> {
  const multi = connection.call(['MULTI'], timeoutMs, false);
  const queued = commands.map((args) => connection.call(args, timeoutMs, false));
  const exec = connection.call(['EXEC'], timeoutMs, binary);
  const [begun, ended, ...outcomes] = await Promise.allSettled([multi, exec, ...queued]);
  // Only an ACL refuses MULTI; the commands behind it were then run one by one.
  if (begun?.status === 'rejected') throw begun.reason;
  const refused = outcomes.findIndex((outcome) => outcome.status === 'rejected' && wasRefused(outcome.reason));
  const refusal = outcomes[refused];
  if (refusal?.status === 'rejected') throw placed(refusal.reason as ReeveError, refused, commands, where);
  if (ended?.status !== 'fulfilled') throw ended?.reason;
  const replies = ended.value;
  if (!Array.isArray(replies)) throw new RedisReplyError('EXECABORT EXEC answered nothing', where.endpointText);
  for (const [index, reply] of (replies as readonly unknown[]).entries()) {
    if (!isErrorReply(reply)) continue;
    const name = commandName(commands[index] ?? []);
    throw placed(replyError(where.redact(reply.message), name, where.endpointText), index, commands, where);
  }
  return replies as readonly Reply[];
}
