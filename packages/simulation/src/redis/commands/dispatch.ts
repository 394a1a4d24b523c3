/** One command on one connection: found, counted, checked for redirection, run. */
import { writesPaused } from '../failover.ts';
import { checkLoaded, checkMemory, checkServed } from '../redirect.ts';
import { err, type RawReply, ServerError } from '../reply.ts';
import type { ModelServer } from '../server.ts';
import type { Call } from '../session.ts';
import { clusterCommands } from './cluster.ts';
import { keyCommands } from './keys.ts';
import { migrateCommands } from './migrate.ts';
import { serverCommands } from './server.ts';
import type { CommandSpec } from './table.ts';

const byName: ReadonlyMap<string, CommandSpec> = (() => {
  const map = new Map<string, CommandSpec>();
  const all = [...clusterCommands, ...keyCommands, ...migrateCommands, ...serverCommands((name) => map.has(name))];
  for (const spec of all) map.set(spec.name, spec);
  return map;
})();

/** Writes wait while a primary hands over to its replica: the caller must try again later. */
export class WritesPausedError extends Error {
  constructor() {
    super('writes are paused for a manual failover');
    this.name = 'WritesPausedError';
  }
}

function find(args: readonly string[]): CommandSpec {
  const [name = '', ...rest] = args;
  const spec = byName.get(name.toLowerCase());
  if (!spec) {
    const shown = rest.map((word) => `'${word}' `).join('');
    throw err(`unknown command '${name}', with args beginning with: ${shown}`);
  }
  if (spec.arity > 0 ? args.length !== spec.arity : args.length < -spec.arity) {
    throw err(`wrong number of arguments for '${spec.name}' command`);
  }
  return spec;
}

/** Refusals that come before a command runs, or before it is queued in MULTI. */
function admit(call: Call): CommandSpec {
  const spec = find(call.args);
  if (spec.keys) checkServed(call.server, call.session, spec, spec.keys(call.args), call.now);
  checkLoaded(call.server, spec, call.now);
  if (spec.write && !call.server.isPrimary)
    throw new ServerError("READONLY You can't write against a read only replica.");
  if (spec.needsMemory) checkMemory(call.server);
  if (spec.write && writesPaused(call.server, call.now)) throw new WritesPausedError();
  return spec;
}

/** Whether a command would be kept waiting now: writes are paused for a hand-over. */
export function wouldWait(server: ModelServer, args: readonly string[], now: number): boolean {
  return byName.get((args[0] ?? '').toLowerCase())?.write === true && writesPaused(server, now);
}

export function runCommand(call: Call): RawReply {
  const asked = call.session.asking;
  try {
    return admit(call).run(call);
  } finally {
    if (asked) call.session.asking = false;
  }
}

/** MULTI … EXEC. One refused command discards all; an error of one that was queued leaves the others done. */
export function runTransaction(calls: readonly Call[]): RawReply[] {
  const queued = calls.map((call) => ({ call, spec: admit(call) }));
  return queued.map(({ call, spec }) => {
    try {
      return spec.run(call);
    } catch (error) {
      if (error instanceof ServerError) return error;
      throw error;
    }
  });
}
