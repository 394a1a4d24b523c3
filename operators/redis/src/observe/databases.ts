/** Commands in a database of a cluster node. Valkey 9 may have several; most CLUSTER commands look at the selected one only. */
import type { Arg, CallOptions, RedisPort, Reply } from '../api/port.ts';
import type { Endpoint } from '../api/view.ts';

/** Commands in flight at once: enough to hide the round trip, few enough not to hold up the server's other clients. */
const CHUNK = 500;

/**
 * Runs reads in a database, pipelined in chunks. Connections stay in database 0: another one is selected inside a
 * transaction, so that nobody else's call lands in it. What fails is undefined.
 */
export async function inDatabase(
  port: RedisPort,
  endpoint: Endpoint,
  database: number,
  commands: readonly (readonly Arg[])[],
  options: CallOptions,
): Promise<readonly (Reply | undefined)[]> {
  const replies: (Reply | undefined)[] = [];
  for (let from = 0; from < commands.length; from += CHUNK) {
    const chunk = commands.slice(from, from + CHUNK);
    replies.push(
      ...(database === 0
        ? await port.reads(endpoint, chunk, options)
        : await atOneMoment(port, endpoint, database, chunk, options)),
    );
  }
  return replies;
}

/** Runs reads in a database in one transaction: no client changes anything between them. What fails is undefined. */
export async function atOneMoment(
  port: RedisPort,
  endpoint: Endpoint,
  database: number,
  commands: readonly (readonly Arg[])[],
  options: CallOptions,
): Promise<readonly (Reply | undefined)[]> {
  try {
    const replies = await port.transaction(
      endpoint,
      [['SELECT', String(database)], ...commands, ['SELECT', '0']],
      options,
    );
    return replies.slice(1, -1);
  } catch {
    return commands.map(() => undefined);
  }
}
