/** What a server can do, found out by asking it. Part of every node's one batch, so there is nothing to remember between observations. */
import type { Reply } from '../api/port.ts';
import type { Capabilities } from '../api/view.ts';

const SUBCOMMANDS = ['cluster|migrateslots', 'cluster|migration', 'cluster|slot-stats', 'function|list'] as const;

export const CAPABILITY_QUESTION = ['COMMAND', 'INFO', ...SUBCOMMANDS];

/**
 * A server answers null for what it does not have. When COMMAND is denied (no reply), an ability counts only if a
 * command of it was answered in the same batch: the wrong guess is then the slower way, never a command that fails.
 */
export function capabilitiesOf(
  reply: Reply | undefined,
  answered: { readonly atomicJobs: boolean; readonly functions: boolean },
): Capabilities {
  const entries = Array.isArray(reply) ? (reply as readonly Reply[]) : [];
  const [migrateSlots, migration, slotStats, functions] = SUBCOMMANDS.map((_, index) => Array.isArray(entries[index]));
  if (entries.length === 0) {
    return {
      atomicMigration: answered.atomicJobs,
      redisAtomicMigration: false,
      slotStats: false,
      functions: answered.functions,
    };
  }
  return {
    atomicMigration: migrateSlots ?? false,
    redisAtomicMigration: migration ?? false,
    slotStats: slotStats ?? false,
    functions: functions ?? false,
  };
}
