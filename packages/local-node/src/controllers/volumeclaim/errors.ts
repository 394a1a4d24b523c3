/** Errors of volumes on directories. */
import type { ErrorCatalog } from '@reeve/runtime';

export const volumeErrors = {
  VOLUME_FOREIGN: {
    meaning: 'The directory of a volume belongs to another claim, or its name is none that a volume has.',
    remedy: 'Nothing was changed. Look at what is there below the root of volumes; move it away if it is not needed.',
  },
} as const satisfies ErrorCatalog;
