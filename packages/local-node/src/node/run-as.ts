/** As whom containers run here, and how they reach what is theirs. */
import { join } from 'node:path';
import type { Mount } from '../driver/driver.ts';
import { relocate } from '../driver/plain.ts';
import type { Owner } from '../host/host.ts';
import type { ResolvedImage } from '../image/images.ts';
import type { PodContainer } from '../pod/progress.ts';
import { userOf } from '../pod/user.ts';
import type { StoredPod } from '../pod/view.ts';
import type { NodeEnvironment } from './node-environment.ts';

/** Undefined: as the node itself. */
export function runsAs(
  { host, images }: Pick<NodeEnvironment, 'host' | 'images'>,
  pod: StoredPod,
  container: PodContainer | undefined,
): Owner | undefined {
  return userOf(pod, container, host.user, images.userOf?.(container?.image ?? ''));
}

/** Below a folder that is opened for nearly every pod: its token lies there, too. */
const HOME = '/run/reeve/home';
const IMAGE = '/run/reeve/image';

/** What a container needs besides what its pod says. */
export interface Reach {
  readonly home: string;
  readonly image: ResolvedImage;
  readonly mounts: readonly Mount[];
}

/** Its home and a program that was fetched may lie in root's own home, where nobody else can go: then they are mounted elsewhere. */
export function reachOf(folder: string, image: ResolvedImage, isElsewhere: boolean): Reach {
  const scratch = join(folder, 'scratch');
  if (!isElsewhere) return { home: scratch, image, mounts: [] };
  const home = { source: scratch, target: HOME, isReadOnly: false, isFile: false };
  if (image.folder === undefined) return { home: HOME, image, mounts: [home] };
  const program = { source: image.folder, target: IMAGE, isReadOnly: true, isFile: false };
  return { home: HOME, image: movedImage(image, image.folder), mounts: [home, program] };
}

function movedImage({ entrypoint, command, env, path, ...rest }: ResolvedImage, folder: string): ResolvedImage {
  const moved = (text: string): string => relocate(text, [{ target: folder, source: IMAGE }]);
  return {
    ...rest,
    entrypoint: entrypoint.map(moved),
    command: command.map(moved),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, moved(value)])),
    path: path.map(moved),
  };
}
