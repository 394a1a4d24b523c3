import { redisErrors } from '@reeve/redis';
import { type ErrorCatalog, ReeveError, runtimeErrors } from '@reeve/runtime';

/** Codes of the command line itself. docs/errors.md is made from this. */
export const cliErrors = {
  USAGE: {
    meaning: 'The command line is not one that Reeve understands. Nothing was done.',
    remedy: 'The message says which word is wrong; `--help` after any command shows what it takes.',
  },
  PASSWORD_ARGUMENT: {
    meaning: 'A password was given as an argument, where every user of the machine can read it. Nothing was done.',
    remedy:
      'Put it into a file that only you can read and give --password-file, or leave it out and answer the prompt.',
  },
  FILE_UNREADABLE: {
    meaning: 'A file named on the command line cannot be read.',
    remedy: 'Check the path and its permissions.',
  },
  ADDRESS_UNRESOLVED: {
    meaning: 'A host name given on the command line has no address.',
    remedy: 'Check the name, or give the IP address.',
  },
  NODE_UNKNOWN: {
    meaning: 'No node of the cluster has the given id, id prefix or address.',
    remedy: '`reeve redis status HOST:PORT` lists ids and addresses.',
  },
  NODE_AMBIGUOUS: {
    meaning: 'Several nodes of the cluster match the given id prefix.',
    remedy: 'Give more digits of the id, or host:port.',
  },
  NOT_APPROVED: {
    meaning: 'The plan was not approved. Nothing was changed.',
    remedy: 'Answer `yes`, or pass --yes, or --approve with the digest that --dry-run prints.',
  },
  DATA_FOLDER: {
    meaning: 'The data folder of a control plane is not one, or was written by a newer version. Nothing was changed.',
    remedy: 'Check --data. If it is right, use the version of reeve that wrote it.',
  },
  AGENT_IDENTITY: {
    meaning: 'A folder is not the identity of this agent, or not a whole one. Nothing was changed.',
    remedy: 'Give the folder that `reeve agent enroll` wrote for this member, or enroll it again.',
  },
  AGENT_RUNNING: {
    meaning: 'An agent of this member runs on this machine already: two would speak for one.',
    remedy: 'Stop the other one first, or look whether a supervisor has started it.',
  },
  AGENT_BUSY: {
    meaning:
      'An agent has orders that have not ended. Without its member nobody could ask how they end. Nothing was changed.',
    remedy: 'Wait until they have ended, or let the manager cancel them; --force revokes in spite of them.',
  },
  MEMBER_TAKEN: {
    meaning: 'A Member of this name is that of a pod, or of another server. Nothing was changed.',
    remedy: 'Choose another name. A host whose server has moved is revoked first, then enrolled again.',
  },
  MEMBER_KIND_MISSING: {
    meaning: 'The API server does not serve the kind Member. Nothing was changed.',
    remedy: 'Start the operator on it first (`reeve up`, or the chart): it installs its kinds.',
  },
  NO_CLUSTER: {
    meaning: 'None of the given addresses could be read.',
    remedy: 'The message has the reason for each address.',
  },
} as const satisfies ErrorCatalog;

/** What to do about an error, whoever raised it; undefined for codes of a server or of a bug. */
export function remedyOf(code: string): string | undefined {
  const all: ErrorCatalog = { ...runtimeErrors, ...redisErrors, ...cliErrors };
  return Object.hasOwn(all, code) ? all[code]?.remedy : undefined;
}

export type CliErrorCode = keyof typeof cliErrors;

export function cliError(code: CliErrorCode, message: string, subjects: readonly string[] = []): ReeveError {
  return new ReeveError(code, message, { subjects });
}

export function usage(message: string): ReeveError {
  return cliError('USAGE', message);
}

/** Exit codes, as `reeve --help` documents them. */
export const exit = { ok: 0, failed: 1, usage: 2, refused: 3, interrupted: 130 } as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

const usageCodes: ReadonlySet<string> = new Set([
  'USAGE',
  'PASSWORD_ARGUMENT',
  'FILE_UNREADABLE',
  'ADDRESS_UNRESOLVED',
  'NODE_UNKNOWN',
  'NODE_AMBIGUOUS',
  'DATA_FOLDER',
  'AGENT_IDENTITY',
  'JOURNAL_MISSING',
  'JOURNAL_BROKEN',
  'JOURNAL_EXISTS',
]);
const refusedCodes: ReadonlySet<string> = new Set([
  'NOT_APPROVED',
  'ROLLBACK_IMPOSSIBLE',
  'PLAN_STALE',
  'AGENT_BUSY',
  'AGENT_RUNNING',
  'MEMBER_TAKEN',
]);

export function exitCodeOf(code: string): ExitCode {
  if (usageCodes.has(code)) return exit.usage;
  if (refusedCodes.has(code)) return exit.refused;
  return code === 'INTERRUPTED' ? exit.interrupted : exit.failed;
}
