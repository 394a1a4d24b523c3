/** Directories for tests: which there are, and for which claim. */
import type { Directories } from './volumeclaim/directories.ts';

export function memoryDirectories(): Directories & { readonly all: Map<string, string> } {
  const all = new Map<string, string>();
  return {
    all,
    pathOf: (volume) => `/volumes/${volume}/data`,
    async make(volume, uid) {
      all.set(volume, uid);
    },
    async remove(volume, uid) {
      const there = all.get(volume);
      if (there === undefined) return 'absent';
      if (there !== uid) return 'foreign';
      all.delete(volume);
      return 'removed';
    },
  };
}
