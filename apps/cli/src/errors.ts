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
    remedy: 'Check the path and its permissions. Of a folder give its files, one after another.',
  },
  FILE_UNWRITABLE: {
    meaning: 'A file named on the command line cannot be written. Nothing was changed.',
    remedy: 'Check the folder: it must be there, be yours to write to, and have room.',
  },
  OUTPUT_UNWRITABLE: {
    meaning: 'What a command prints cannot be written to where its output goes.',
    remedy: 'Make room where the output is sent to, or send it elsewhere. What the command did is done.',
  },
  MACHINE_REFUSED: {
    meaning: 'The operating system refused something that a command needs: a permission, room on a disk, open files.',
    remedy: 'The message names what; mend it and try again.',
  },
  ADDRESS_UNRESOLVED: {
    meaning: 'A host name given on the command line has no address.',
    remedy: 'Check the name, or give the IP address.',
  },
  ADDRESS_ELSEWHERE: {
    meaning: 'The address that is to be listened on is none of this machine. Nothing was started.',
    remedy: 'Give one of its own: 127.0.0.1 for itself, 0.0.0.0 for everybody who can reach it.',
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
    meaning:
      'The data folder of a control plane is not one, cannot be made or read, or was written by a newer version. Nothing was changed.',
    remedy: 'Check --data: a folder of your own. If it is right, use the version of reeve that wrote it.',
  },
  PORT_IN_USE: {
    meaning: 'Something else listens on the port that was asked for. Nothing was started.',
    remedy: 'Give another --port (of `reeve run`: --listen), or none: then one that is free is taken.',
  },
  PORT_DENIED: {
    meaning: 'The user of this process may not listen on the port that was asked for. Nothing was started.',
    remedy: 'Give a --port (of `reeve run`: --listen) of 1024 or more, or none: then one that is free is taken.',
  },
  OPERATORS_RUN: {
    meaning: 'The API is that of a control plane which runs the operators itself. Nothing was started.',
    remedy: 'Nothing: `reeve up` does it. For a Kubernetes give its --kubeconfig.',
  },
  KINDS_MISSING: {
    meaning: 'The API server does not serve kinds that the operators need. Nothing was started.',
    remedy:
      'Have an administrator apply what `reeve run --print-manifests` prints, or run once with --install as an administrator.',
  },
  NAMESPACE_MISSING: {
    meaning: 'The namespace in which operators keep their lease is not there. Nothing was started.',
    remedy: 'Give the --namespace of the installation, or make it: `reeve run --print-manifests`, or --install.',
  },
  RIGHTS_MISSING: {
    meaning: 'The account lacks rights that the operators need. Nothing was started.',
    remedy: 'Apply the roles and bindings that `reeve run --print-manifests` prints: older ones may lack new rights.',
  },
  NO_PROPOSAL: {
    meaning: 'There is no plan of that kind that waits for an approval. Nothing was changed.',
    remedy: '`reeve why rediscluster/NAME` says what the operator does and waits for.',
  },
  CERTIFICATE_FILE: {
    meaning:
      'The file with the certificate authority of a control plane is damaged, or key and certificate in it do not fit.',
    remedy:
      'Bring the file back from a copy. Without one, remove it: a new authority is made, and kubeconfigs that were copied must be copied again.',
  },
  RESTORE_UNFINISHED: {
    meaning: 'A restore into this data folder was interrupted. What the store holds is not sure to be what was wanted.',
    remedy: 'Run `reeve restore` with the backup again.',
  },
  FILE_EXISTS: {
    meaning: 'The file that is to be written is there already. Nothing was changed.',
    remedy: 'Give another name, or move the file away.',
  },
  BACKUP_UNREADABLE: {
    meaning:
      'The file is no backup of a control plane, is damaged, or was made by a newer version. Nothing was changed.',
    remedy: 'Check the file; restore it with the version of reeve that made it.',
  },
  PLANE_RUNNING: {
    meaning: 'A control plane uses the data folder. Nothing was changed.',
    remedy: 'Stop it: Ctrl-C where it runs, or `reeve down` with the same --data.',
  },
  PLANE_SILENT: {
    meaning: 'A control plane uses the data folder, and does not answer, or does not do what it was asked for.',
    remedy:
      'Look at the terminal where `reeve up` runs, and stop it there; or end the process that the message names: pods outlive it. Then try again.',
  },
  KIND_UNKNOWN: {
    meaning: 'The API serves no kind of that name.',
    remedy: 'Check the name; for a custom kind, that its CustomResourceDefinition is there.',
  },
  CONTAINER_UNKNOWN: {
    meaning: 'The pod has no container of that name.',
    remedy: 'Give one of those that the message names, or none: then the first one is taken.',
  },
  KIND_AMBIGUOUS: {
    meaning: 'Kinds of several groups have that name.',
    remedy: 'Give the group, too: KIND.GROUP. The message names them.',
  },
  MANIFEST_INVALID: {
    meaning: 'A file holds something that is no object of an API. Nothing of it was applied.',
    remedy: 'The message names the document and what it lacks.',
  },
  APPLY_CONFLICT: {
    meaning: 'Fields belong to somebody else and have other values. Nothing of that object was changed.',
    remedy: 'Take the fields out of the file, or take them over with --force.',
  },
  NOT_THERE: {
    meaning: 'The object that is to be deleted is not there. Nothing was done.',
    remedy: 'Check kind, name and namespace; --ignore-not-found takes it for done.',
  },
  WAIT_TIMEOUT: {
    meaning: 'What was waited for did not happen in the time given. It may still happen.',
    remedy: 'Look at the object: its finalizers, its dependents, its events.',
  },
  AGENT_IDENTITY: {
    meaning: 'A folder is not the identity of this agent, or not a whole one. Nothing was changed.',
    remedy: 'Give the folder that `reeve agent enroll` wrote for this member, or enroll it again.',
  },
  AGENT_RUNNING: {
    meaning: 'An agent of this member runs on this machine already: two would speak for one.',
    remedy:
      'Stop the other one first, or look whether a supervisor has started it. If there is none, another user of the machine holds its place, a socket (`ss -xlp`, `@reeve-agent`): end that.',
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
    remedy:
      'Have the operators installed on it first: `reeve up` does so by itself, on a Kubernetes `reeve run --install`.',
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
/** Of ours, or of a command that was run for somebody. */
export type ExitCode = number;

const usageCodes: ReadonlySet<string> = new Set([
  'USAGE',
  'PASSWORD_ARGUMENT',
  'FILE_UNREADABLE',
  'FILE_UNWRITABLE',
  'ADDRESS_UNRESOLVED',
  'ADDRESS_ELSEWHERE',
  'NODE_UNKNOWN',
  'NODE_AMBIGUOUS',
  'DATA_FOLDER',
  'FILE_EXISTS',
  'BACKUP_UNREADABLE',
  'KIND_UNKNOWN',
  'KIND_AMBIGUOUS',
  'CONTAINER_UNKNOWN',
  'MANIFEST_INVALID',
  'AGENT_IDENTITY',
  'JOURNAL_MISSING',
  'JOURNAL_BROKEN',
  'JOURNAL_EXISTS',
]);
const refusedCodes: ReadonlySet<string> = new Set([
  'NOT_APPROVED',
  'ROLLBACK_IMPOSSIBLE',
  'PLAN_STALE',
  'NO_PROPOSAL',
  'OPERATORS_RUN',
  'PLANE_RUNNING',
  'AGENT_BUSY',
  'AGENT_RUNNING',
  'MEMBER_TAKEN',
]);

export function exitCodeOf(code: string): ExitCode {
  if (usageCodes.has(code)) return exit.usage;
  if (refusedCodes.has(code)) return exit.refused;
  return code === 'INTERRUPTED' ? exit.interrupted : exit.failed;
}
