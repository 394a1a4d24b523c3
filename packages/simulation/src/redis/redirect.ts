/** Whether this server serves a command on these keys, and the error that it answers otherwise. */
import type { CommandSpec } from './commands/table.ts';
import { slotOfKey } from './crc16.ts';
import type { Peer } from './peer.ts';
import { ServerError } from './reply.ts';
import type { ModelServer } from './server.ts';
import type { Session } from './session.ts';

const crossSlot = "CROSSSLOT Keys in request don't hash to the same slot";
const tryAgain = 'TRYAGAIN Multiple keys request during rehashing of slot';

function redirection(kind: 'MOVED' | 'ASK', slot: number, peer: Peer): ServerError {
  return new ServerError(`${kind} ${slot} ${peer.host}:${peer.port}`);
}

/** Throws the redirection or refusal; returns when the command may run here. */
export function checkServed(
  server: ModelServer,
  session: Session,
  spec: CommandSpec,
  keys: readonly string[],
  now: number,
): void {
  const [first] = keys;
  if (first === undefined) return;
  const slot = slotOfKey(first);
  const owner = server.ownerOf(slot);
  if (!owner) throw new ServerError('CLUSTERDOWN Hash slot not served');
  for (const key of keys) if (key !== first && slotOfKey(key) !== slot) throw new ServerError(crossSlot);
  if (server.state !== 'ok') throw new ServerError('CLUSTERDOWN The cluster is down');

  const migratingTo = owner === server.self ? server.migrating.get(slot) : undefined;
  const importing = !migratingTo && server.importing.has(slot);
  if ((migratingTo || importing) && spec.name === 'migrate') return;
  if (migratingTo || importing) {
    const several = keys.some((key) => key !== first);
    const missing = keys.filter((key) => !server.database(session.database).get(key, now)).length;
    if (migratingTo && missing > 0) {
      if (missing < keys.length) throw new ServerError(tryAgain);
      throw redirection('ASK', slot, migratingTo);
    }
    if (importing && (session.asking || spec.asking)) {
      if (several && missing > 0) throw new ServerError(tryAgain);
      return;
    }
  }
  if (owner === server.self) return;
  const readsHere = session.readonly && spec.write !== true && !server.isPrimary && server.self.primary === owner;
  if (!readsHere) throw redirection('MOVED', slot, owner);
}

export function checkMemory(server: ModelServer): void {
  const { maxMemory } = server.settings;
  if (maxMemory === 0 || server.usedBytes() <= maxMemory) return;
  throw new ServerError("OOM command not allowed when used memory > 'maxmemory'.");
}

/** Answered while the server still reads its file. */
const ANSWERED_WHILE_LOADING: ReadonlySet<string> = new Set(['info', 'config', 'select', 'multi', 'exec']);

export function checkLoaded(server: ModelServer, spec: CommandSpec, now: number): void {
  if (now >= server.loadingUntil || ANSWERED_WHILE_LOADING.has(spec.name)) return;
  throw new ServerError('LOADING The server is loading the dataset in memory');
}
