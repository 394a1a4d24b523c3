/** The port to Redis and Valkey servers: one command to one server, no redirects followed. */
import { ReeveError } from '@reeve/runtime';
import type { Endpoint } from './view.ts';

export type Arg = string | Buffer;
/** RESP2 shapes: maps are flat arrays on every server. Bulk strings are text, or Buffers when `binary` was asked for. */
export type Reply = null | number | string | Buffer | readonly Reply[];

export interface CallOptions {
  /** Bulk strings come back as Buffers (keys, DUMP payloads). */
  readonly binary?: boolean;
  /** After this the call rejects with REDIS_TIMEOUT: whether it happened is unknown. Default 5000. */
  readonly timeoutMs?: number;
  /**
   * Each lane has a connection of its own: `bulk`, so that MIGRATE never delays a health read; `slots`, because Valkey 8
   * and later hold a connection until the replicas have each SETSLOT: several of them let many wait at once. Default
   * `control`.
   */
  readonly lane?: 'control' | 'bulk' | `slots${number}`;
}

/**
 * Calls to one endpoint and lane are sent in the order they are made, without waiting for each other (pipelined);
 * replies come in that order. Rejects with
 * - `RedisReplyError` when the server answered with an error (it did not do it),
 * - ReeveError REDIS_UNREACHABLE when it was certainly not sent,
 * - ReeveError REDIS_TIMEOUT or REDIS_CONNECTION_LOST when nobody knows whether it happened,
 * - ReeveError REDIS_AUTH / REDIS_TLS when we were not let in.
 */
export interface RedisPort {
  call(endpoint: Endpoint, args: readonly Arg[], options?: CallOptions): Promise<Reply>;
  /** Many reads, all in flight at once. Undefined for each that failed, for whatever reason. */
  reads(
    endpoint: Endpoint,
    commands: readonly (readonly Arg[])[],
    options?: CallOptions,
  ): Promise<readonly (Reply | undefined)[]>;
  /** MULTI, the commands, EXEC in one write on one connection: no other client of ours comes between. */
  transaction(
    endpoint: Endpoint,
    commands: readonly (readonly Arg[])[],
    options?: CallOptions,
  ): Promise<readonly Reply[]>;
  /** Credentials that MIGRATE and CLUSTER commands must pass on (AUTH2 user password), if any. Never logged. */
  migrateAuth(): readonly Arg[];
  close(): Promise<void>;
}

/** The reads of a port whose calls are pipelined anyway. */
export function readsBy(call: RedisPort['call']): RedisPort['reads'] {
  return async (endpoint, commands, options) => {
    const results = await Promise.allSettled(commands.map((args) => call(endpoint, args, options)));
    return results.map((result) => (result.status === 'fulfilled' ? result.value : undefined));
  };
}

/** An error reply of the server. `reply` is the first word: MOVED, BUSYKEY, ERR, NOAUTH … */
export class RedisReplyError extends ReeveError {
  readonly reply: string;
  constructor(message: string, endpointText: string) {
    super('REDIS_REPLY', message, { subjects: [endpointText] });
    this.reply = message.split(' ', 1)[0] ?? '';
  }
}
