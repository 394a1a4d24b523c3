/** Nothing could be written because the disk, or somebody's part of it, is full. */
export function isNoRoom(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
