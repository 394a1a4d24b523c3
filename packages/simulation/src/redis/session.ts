/** The state of one client connection, and what a command handler is given. */
import type { Network } from './network.ts';
import type { ModelServer } from './server.ts';

export interface Session {
  database: number;
  /** Set by ASKING for the next command only. */
  asking: boolean;
  readonly: boolean;
}

export function createSession(): Session {
  return { database: 0, asking: false, readonly: false };
}

/** One command being executed. Arguments are bytes (latin1), the command's name included. */
export interface Call {
  readonly server: ModelServer;
  readonly network: Network;
  readonly session: Session;
  readonly args: readonly string[];
  readonly now: number;
  /** Inside MULTI/EXEC nothing may block. */
  readonly inTransaction: boolean;
  /** Faults that a test ordered for this server's next MIGRATE. */
  readonly takeMigrateFault: () => MigrateFault | undefined;
}

/** The target takes the first `restored` keys, then the connection breaks: the source knows of `acknowledged` of them. */
export interface MigrateFault {
  readonly restored: number;
  readonly acknowledged: number;
}
