/**
 * Where the image of that name in a registry keeps its data. Here programs begin in a folder that goes with their pod; whoever mounts a
 * volume at the usual place means that data is to outlive it. Without a volume there that place is the machine's own, and nobody's data.
 */
import type { PodContainer } from '../pod/progress.ts';

export interface DataPlace {
  readonly path: string;
  /** The variable that tells the program. Undefined: it keeps its data where it works. */
  readonly variable?: string;
}

/** What a container is given by it; what the pod itself says counts more. */
export interface Placed {
  readonly workingDir: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

const NOWHERE: Placed = { workingDir: undefined, env: {} };

export function placeData(place: DataPlace | undefined, { volumeMounts = [] }: PodContainer): Placed {
  if (!place) return NOWHERE;
  const { path, variable } = place;
  if (!volumeMounts.some(({ mountPath }) => mountPath.replace(/(?<=.)\/+$/, '') === path)) return NOWHERE;
  return variable === undefined ? { workingDir: path, env: {} } : { workingDir: undefined, env: { [variable]: path } };
}
