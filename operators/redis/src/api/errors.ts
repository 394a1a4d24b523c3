import type { ErrorCatalog } from '@reeve/runtime';

/** Codes of the Redis operator: refusals of plans, outcomes of commands, failures of the port. docs/errors.md is made from this. */
export const redisErrors = {
  REDIS_REPLY: {
    meaning: 'A server answered with an error.',
    remedy: 'The message is the server’s own; it did not do what was asked.',
  },
  REDIS_UNREACHABLE: {
    meaning: 'No connection to a server: nothing was sent.',
    remedy: 'Check address, port, firewall, and that the server runs.',
  },
  REDIS_TIMEOUT: {
    meaning: 'A server did not answer in time; whether it acted is not known.',
    remedy: 'Run the command again: Reeve looks first and goes on from what it finds.',
  },
  REDIS_CONNECTION_LOST: {
    meaning: 'The connection broke before the answer; whether the server acted is not known.',
    remedy: 'Run the command again: Reeve looks first and goes on from what it finds.',
  },
  REDIS_AUTH: {
    meaning: 'The server did not accept user or password.',
    remedy:
      'Give --user and --password-file (or answer the prompt) for a user that may run CLUSTER, CONFIG, INFO, MIGRATE, DUMP, RESTORE.',
  },
  REDIS_TLS: {
    meaning: 'TLS could not be set up.',
    remedy: 'Check --tls, --cacert, --cert, --key and the name in the server’s certificate (--servername).',
  },
  INTERRUPTED: {
    meaning: 'The operation was stopped before its goal was reached.',
    remedy: 'Go on with --resume and the journal file that was printed.',
  },
  PLAN_STALE: {
    meaning:
      'The plan that was approved is not the plan of now: the cluster changed between approval and run. Nothing was changed.',
    remedy: 'Look at the new plan (--dry-run) and approve that one.',
  },
  WAIT_LIMIT: {
    meaning: 'What the operation waits for did not happen in time.',
    remedy: 'The message names what is waited for. Mend it, then go on with --resume and the journal file.',
  },
  ALWAYS_STALE: {
    meaning: 'The cluster changed again and again under a command, so that its evidence never held.',
    remedy: 'Find out who else changes the cluster (another tool, failovers), then go on with --resume.',
  },
  JOURNAL_EXISTS: {
    meaning: 'The journal file given for a new operation exists already.',
    remedy: 'Resume that operation (--resume FILE) or give another --journal FILE.',
  },
  JOURNAL_MISSING: {
    meaning: 'There is no journal file at that path.',
    remedy: 'Give the path that was printed when the operation began.',
  },
  JOURNAL_BROKEN: {
    meaning: 'The file is not a journal of this version of Reeve.',
    remedy:
      'Give the path that was printed when the operation began; without a journal, `reeve redis check` and `fix` find the way on.',
  },
} as const satisfies ErrorCatalog;
