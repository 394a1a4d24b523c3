/** Directories for volumes, as a port: the one place where data of claims is made and removed. */

export interface Directories {
  /** Where the data of a volume is, or will be. */
  pathOf(volume: string): string;
  /** Makes the directory of a volume and notes for which claim. Again is fine for the same claim; for another it is refused. */
  make(volume: string, claimUid: string): Promise<void>;
  /**
   * Removes it with all that is in it, only if it notes that claim. `foreign`: something is there that does not say so, and it stays.
   */
  remove(volume: string, claimUid: string): Promise<'removed' | 'absent' | 'foreign'>;
}

/** Beside the data, not in it: programs want to find their directory empty. */
export const MARKER = 'claim-uid';
export const DATA = 'data';

/** Names of volumes are names of objects; anything else could lead out of the root. */
export function isSafeName(volume: string): boolean {
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(volume) && !volume.includes('..');
}
