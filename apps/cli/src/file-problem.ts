/** What the operating system says about files, in words. */
import { type CliErrorCode, cliError } from './errors.ts';

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'is no folder, or lies below a file',
  EISDIR: 'is a folder',
  EEXIST: 'is there already',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'no room is left on the disk',
  EDQUOT: 'the quota of this user is used up',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many links on the way',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open on this machine',
  EIO: 'the disk failed',
};

/** Those that no program can foresee: the machine's, or of whoever looks after it. */
const OF_THE_MACHINE: readonly string[] = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EIO'];
/** Of those, what the file that was named has no part in: another name would not help. */
const OF_THE_DISK: readonly string[] = ['ENOSPC', 'EDQUOT', 'EIO'];

const codeOf = (error: unknown): string =>
  error instanceof Error && 'syscall' in error ? String((error as NodeJS.ErrnoException).code) : '';

/** Undefined: it is no error of the operating system about a file. */
export function fileProblem(error: unknown): string | undefined {
  const code = codeOf(error);
  return Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
}

export function isOfTheMachine(error: unknown): boolean {
  return OF_THE_MACHINE.includes(codeOf(error));
}

/** The error to throw for what the operating system has against this file; anything else as it is. */
export function fileRefusal(error: unknown, code: CliErrorCode, path: string): unknown {
  const why = fileProblem(error);
  if (why === undefined) return error;
  return cliError(OF_THE_DISK.includes(codeOf(error)) ? 'MACHINE_REFUSED' : code, `${path}: ${why}`, [path]);
}
