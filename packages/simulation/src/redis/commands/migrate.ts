/** DUMP, RESTORE and MIGRATE: how keys travel between servers. */
import { entryOf, type Entry } from '../keyspace.ts';
import { write } from '../replication.ts';
import { checkLoaded, checkMemory, checkServed } from '../redirect.ts';
import { Bulk, err, OK, type RawReply, ServerError } from '../reply.ts';
import type { ModelServer } from '../server.ts';
import { type Call, createSession } from '../session.ts';
import { integer } from './keys.ts';
import { type CommandSpec, firstKey } from './table.ts';

const FOOTER = 'model-dump';

/** A payload of the model: bytes, size and a footer that a foreign payload does not have. */
function dumpOf(entry: Entry): string {
  return `${entry.bytes}:${entry.value}${FOOTER}`;
}

/** The servers' own form of a string: its kind, its length in five bytes, the bytes, and a footer of ten, which nobody checks here. */
const REAL_STRING = '\0\x80';
const REAL_FOOTER_BYTES = 10;

function undump(key: string, payload: string, expireAt: number | undefined): Entry {
  if (payload.startsWith(REAL_STRING)) return entryOf(key, payload.slice(6, -REAL_FOOTER_BYTES), expireAt);
  const colon = payload.indexOf(':');
  if (!payload.endsWith(FOOTER) || colon < 1) throw err('DUMP payload version or checksum are wrong');
  return entryOf(key, payload.slice(colon + 1, -FOOTER.length), expireAt, Number(payload.slice(0, colon)));
}

function dump(call: Call): RawReply {
  const entry = call.server.database(call.session.database).get(call.args[1] as string, call.now);
  return entry ? new Bulk(dumpOf(entry)) : null;
}

function restore(call: Call): RawReply {
  const [, key = '', ttlText, payload = '', ...options] = call.args;
  const wanted = options.map((option) => option.toUpperCase());
  for (let at = 0; at < wanted.length; at++) {
    if (wanted[at] === 'REPLACE' || wanted[at] === 'ABSTTL') continue;
    if ((wanted[at] === 'IDLETIME' || wanted[at] === 'FREQ') && at + 1 < wanted.length) at++;
    else throw err('syntax error');
  }
  const keys = call.server.database(call.session.database);
  if (!wanted.includes('REPLACE') && keys.get(key, call.now)) {
    throw new ServerError('BUSYKEY Target key name already exists.');
  }
  const ttl = integer(ttlText);
  if (ttl < 0) throw err('Invalid TTL value, must be >= 0');
  const expireAt = ttl === 0 ? undefined : wanted.includes('ABSTTL') ? ttl : call.now + ttl;
  const entry = undump(key, payload, expireAt);
  if (expireAt !== undefined && expireAt <= call.now) {
    if (keys.get(key, call.now)) write(call.server, { type: 'delete', database: call.session.database, key });
    return OK;
  }
  write(call.server, { type: 'set', database: call.session.database, key, entry });
  return OK;
}

interface MigrateRequest {
  readonly host: string;
  readonly port: number;
  readonly database: number;
  readonly keys: readonly string[];
  readonly copy: boolean;
  readonly replace: boolean;
}

function migrateKeys(args: readonly string[]): readonly string[] {
  if (args[3] !== '') return args.slice(3, 4);
  for (let at = 6; at < args.length; at++) {
    const word = args[at]?.toUpperCase();
    if (word === 'AUTH') at++;
    else if (word === 'AUTH2') at += 2;
    else if (word === 'KEYS') return args.slice(at + 1);
  }
  return args.slice(3, 4);
}

function parse(args: readonly string[]): MigrateRequest {
  let copy = false;
  let replace = false;
  for (let at = 6; at < args.length; at++) {
    const word = args[at]?.toUpperCase();
    const more = args.length - 1 - at;
    if (word === 'COPY') copy = true;
    else if (word === 'REPLACE') replace = true;
    else if (word === 'AUTH' && more >= 1) at++;
    else if (word === 'AUTH2' && more >= 2) at += 2;
    else if (word === 'KEYS') {
      if (args[3] !== '') {
        throw err('When using MIGRATE KEYS option, the key argument must be set to the empty string');
      }
      break;
    } else throw err('syntax error');
  }
  integer(args[5]);
  return {
    host: args[1] as string,
    port: Number(args[2]),
    database: integer(args[4]),
    keys: migrateKeys(args),
    copy,
    replace,
  };
}

/** One key at the target, as its own RESTORE-ASKING. Throws the target's error. */
function deliver(
  call: Call,
  target: ModelServer,
  request: MigrateRequest,
  key: string,
  entry: Entry,
  now: number,
): void {
  const session = { ...createSession(), database: request.database };
  const ttl = entry.expireAt === undefined ? 0 : Math.max(1, entry.expireAt - call.now);
  const args = ['restore-asking', key, String(ttl), dumpOf(entry), ...(request.replace ? ['REPLACE'] : [])];
  if (request.database >= target.databases.length) throw err('DB index is out of range');
  checkServed(target, session, restoreAsking, [key], now);
  checkLoaded(target, restoreAsking, now);
  if (!target.isPrimary) throw new ServerError("READONLY You can't write against a read only replica.");
  checkMemory(target);
  restore({ ...call, server: target, session, args, now });
}

/** A stopped process has it all in its socket: it does it when it goes on, whoever still waits. */
function leaveInSocket(
  call: Call,
  target: ModelServer,
  request: MigrateRequest,
  entries: readonly [string, Entry][],
): void {
  target.whenResumed.push((now) => {
    for (const [key, entry] of entries) {
      try {
        deliver(call, target, request, key, entry, now);
      } catch (error) {
        if (!(error instanceof ServerError)) throw error; // an error reply that nobody reads
      }
    }
  });
}

function migrate(call: Call): RawReply {
  const request = parse(call.args);
  const own = call.server.database(call.session.database);
  const entries = request.keys.flatMap((key): [string, Entry][] => {
    const entry = own.get(key, call.now);
    return entry ? [[key, entry]] : [];
  });
  if (entries.length === 0) return 'NOKEY';
  const target = call.network.at(request.host, request.port);
  if (target?.process === 'paused') {
    leaveInSocket(call, target, request, entries);
    throw new ServerError('IOERR error or timeout reading to target instance');
  }
  if (!target || !call.network.connected(call.server, target)) {
    throw new ServerError('IOERR error or timeout connecting to the client');
  }
  const fault = call.takeMigrateFault();
  let firstError: ServerError | undefined;
  for (const [index, [key, entry]] of entries.entries()) {
    if (fault && index >= fault.restored) break;
    try {
      deliver(call, target, request, key, entry, call.now);
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      firstError ??= error;
      continue;
    }
    const known = !fault || index < fault.acknowledged;
    if (!request.copy && known) write(call.server, { type: 'delete', database: call.session.database, key });
  }
  if (firstError) throw err(`Target instance replied with error: ${firstError.message}`);
  if (fault) throw new ServerError('IOERR error or timeout reading to target instance');
  return OK;
}

const restoreAsking: CommandSpec = {
  name: 'restore-asking',
  arity: -4,
  keys: firstKey,
  write: true,
  asking: true,
  run: restore,
};

export const migrateCommands: readonly CommandSpec[] = [
  { name: 'dump', arity: 2, keys: firstKey, run: dump },
  { name: 'restore', arity: -4, keys: firstKey, write: true, needsMemory: true, run: restore },
  restoreAsking,
  { name: 'migrate', arity: -6, keys: migrateKeys, write: true, run: migrate },
];
