/** What the operating system says about files, in words. */

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
