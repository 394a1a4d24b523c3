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
  'JOURNAL_MISSING',
  'JOURNAL_BROKEN',
  'JOURNAL_EXISTS',
]);
const refusedCodes: ReadonlySet<string> = new Set(['NOT_APPROVED', 'ROLLBACK_IMPOSSIBLE', 'PLAN_STALE']);

export function exitCodeOf(code: string): ExitCode {
  if (usageCodes.has(code)) return exit.usage;
  if (refusedCodes.has(code)) return exit.refused;
  return code === 'INTERRUPTED' ? exit.interrupted : exit.failed;
}
