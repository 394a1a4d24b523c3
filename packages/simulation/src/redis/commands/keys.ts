/** Commands on keys. Only strings exist. */
import { endAllForFlush } from '../atomic.ts';
import { entryOf } from '../keyspace.ts';
import { replicateNow, write } from '../replication.ts';
import { Bulk, bulk, err, OK, type RawReply } from '../reply.ts';
import type { Call } from '../session.ts';
import { allKeys, type CommandSpec, firstKey } from './table.ts';

const syntaxError = () => err('syntax error');

export function integer(text: string | undefined): number {
  if (text === undefined || !/^-?\d+$/.test(text)) throw err('value is not an integer or out of range');
  return Number(text);
}

function get(call: Call, key: string) {
  return call.server.database(call.session.database).get(key, call.now);
}

function set(call: Call): RawReply {
  const [, key = '', value = '', ...options] = call.args;
  let expireAt: number | undefined;
  let onlyIf: 'NX' | 'XX' | undefined;
  for (let at = 0; at < options.length; at++) {
    const option = options[at]?.toUpperCase();
    if (option === 'PX' || option === 'EX') expireAt = call.now + integer(options[++at]) * (option === 'EX' ? 1000 : 1);
    else if (option === 'NX' || option === 'XX') onlyIf = option;
    else throw syntaxError();
  }
  const exists = get(call, key) !== undefined;
  if ((onlyIf === 'NX' && exists) || (onlyIf === 'XX' && !exists)) return null;
  write(call.server, {
    type: 'set',
    database: call.session.database,
    key,
    entry: entryOf(key, value, expireAt),
  });
  return OK;
}

function del(call: Call): RawReply {
  let deleted = 0;
  for (const key of call.args.slice(1)) {
    if (!get(call, key)) continue;
    write(call.server, { type: 'delete', database: call.session.database, key });
    deleted++;
  }
  return deleted;
}

function timeToLive(call: Call, unit: number): RawReply {
  const entry = get(call, call.args[1] as string);
  if (!entry) return -2;
  return entry.expireAt === undefined ? -1 : Math.max(0, Math.round((entry.expireAt - call.now) / unit));
}

function expireTime(call: Call): RawReply {
  const entry = get(call, call.args[1] as string);
  return entry ? (entry.expireAt ?? -1) : -2;
}

function expireIn(call: Call, ms: number): RawReply {
  const key = call.args[1] as string;
  const entry = get(call, key);
  if (!entry) return 0;
  write(call.server, {
    type: 'set',
    database: call.session.database,
    key,
    entry: { ...entry, expireAt: call.now + ms },
  });
  return 1;
}

/** The cursor is the number of keys given so far: the order of a Map is stable. */
function scan(call: Call): RawReply {
  const start = integer(call.args[1]);
  let count = 10;
  for (let at = 2; at < call.args.length; at += 2) {
    const option = call.args[at]?.toUpperCase();
    if (option === 'COUNT') count = integer(call.args[at + 1]);
    else if (option !== 'MATCH' && option !== 'TYPE') throw syntaxError();
  }
  const all = [...call.server.database(call.session.database).keys()];
  const end = start + count;
  return [bulk(String(end >= all.length ? 0 : end)), all.slice(start, end).map((key) => new Bulk(key))];
}

function memory(call: Call): RawReply {
  if (call.args[1]?.toUpperCase() !== 'USAGE') throw err(`unknown subcommand '${call.args[1]}'. Try MEMORY HELP.`);
  return get(call, call.args[2] as string)?.bytes ?? null;
}

function object(call: Call): RawReply {
  const entry = get(call, call.args[2] as string);
  if (!entry) return null;
  return bulk(/^-?\d{1,18}$/.test(entry.value) ? 'int' : entry.value.length <= 44 ? 'embstr' : 'raw');
}

function flush(call: Call): RawReply {
  endAllForFlush(call.server, call.now);
  write(call.server, { type: 'flush' });
  return OK;
}

function wait(call: Call): RawReply {
  if (!call.server.isPrimary)
    throw err(
      'WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated.',
    );
  return replicateNow(call.server, call.network).length;
}

function strlen(call: Call): RawReply {
  return get(call, call.args[1] as string)?.value.length ?? 0;
}

export const keyCommands: readonly CommandSpec[] = [
  {
    name: 'get',
    arity: 2,
    keys: firstKey,
    run: (call) => {
      const entry = get(call, call.args[1] as string);
      return entry ? new Bulk(entry.value) : null;
    },
  },
  { name: 'set', arity: -3, keys: firstKey, write: true, needsMemory: true, run: set },
  {
    name: 'mget',
    arity: -2,
    keys: allKeys,
    run: (call) =>
      call.args.slice(1).map((key) => {
        const entry = get(call, key);
        return entry ? new Bulk(entry.value) : null;
      }),
  },
  { name: 'strlen', arity: 2, keys: firstKey, run: strlen },
  { name: 'del', arity: -2, keys: allKeys, write: true, run: del },
  { name: 'unlink', arity: -2, keys: allKeys, write: true, run: del },
  {
    name: 'exists',
    arity: -2,
    keys: allKeys,
    run: (call) => call.args.slice(1).filter((key) => get(call, key)).length,
  },
  { name: 'ttl', arity: 2, keys: firstKey, run: (call) => timeToLive(call, 1000) },
  { name: 'pttl', arity: 2, keys: firstKey, run: (call) => timeToLive(call, 1) },
  { name: 'pexpiretime', arity: 2, keys: firstKey, run: expireTime },
  { name: 'type', arity: 2, keys: firstKey, run: (call) => (get(call, call.args[1] as string) ? 'string' : 'none') },
  { name: 'pexpire', arity: -3, keys: firstKey, write: true, run: (call) => expireIn(call, integer(call.args[2])) },
  {
    name: 'expire',
    arity: -3,
    keys: firstKey,
    write: true,
    run: (call) => expireIn(call, integer(call.args[2]) * 1000),
  },
  { name: 'dbsize', arity: 1, run: (call) => call.server.database(call.session.database).size },
  { name: 'scan', arity: -2, run: scan },
  { name: 'memory', arity: -2, keys: (args) => args.slice(2, 3), run: memory },
  { name: 'object', arity: -2, keys: (args) => args.slice(2, 3), run: object },
  { name: 'wait', arity: 3, run: wait },
  { name: 'flushall', arity: -1, write: true, run: flush },
  { name: 'flushdb', arity: -1, write: true, run: flush },
];
