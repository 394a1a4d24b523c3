/** As whom containers run here, and how they reach what is theirs. */
import { join } from 'node:path';
import type { Mount } from '../driver/driver.ts';
import { relocate } from '../driver/plain.ts';
import type { Owner } from '../host/host.ts';
import type { ResolvedImage } from '../image/images.ts';
import type { PodContainer } from '../pod/progress.ts';
import { userOf } from '../pod/user.ts';
import type { StoredPod } from '../pod/view.ts';
import { PASSABLE } from '../volumes/pod-volumes.ts';
import type { NodeEnvironment } from './node-environment.ts';

interface Running {
  readonly host: Pick<NodeEnvironment['host'], 'user'>;
  readonly images: Pick<NodeEnvironment['images'], 'userOf'>;
}

/** Undefined: as the node itself. The user of an image is its own program's, not of whatever else a pod runs from it. */
export function runsAs({ host, images }: Running, pod: StoredPod, container: PodContainer): Owner | undefined {
  const isOwnProgram = (container.command ?? []).length === 0;
  return userOf(pod, container, host.user, isOwnProgram ? images.userOf?.(container.image ?? '') : undefined);
}

/** Whose the volumes of the pod are: root, who may be another container of it, can use them in any case. */
export function ownerOf(node: Running, pod: StoredPod): Owner | undefined {
  for (const container of pod.spec?.containers ?? []) {
    const user = runsAs(node, pod, container);
    if (user) return user;
  }
  return undefined;
}

/** Containers of it run as different users, root aside, so that what belongs to one of them is closed to another. */
export function hasSeveralUsers(node: Running, pod: StoredPod): boolean {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const users = [...initContainers, ...containers].map((one) => (runsAs(node, pod, one) ?? node.host.user).uid);
  return new Set(users.filter((uid) => uid !== 0)).size > 1;
}

/** To whom the container runs as: where it begins, and the way there. */
export async function giveFolders(node: NodeEnvironment, pod: StoredPod, container: PodContainer): Promise<void> {
  const user = runsAs(node, pod, container);
  if (!user) return;
  const { runs } = node;
  const { files } = node.host;
  const { uid } = pod.metadata;
  const folder = runs.podFolder(uid);
  const own = runs.containerFolder({ uid, container: container.name });
  const scratch = join(own, 'scratch');
  await files.makeFolder(scratch);
  await files.setOwner(scratch, user, false);
  const way = [
    runs.folder,
    join(runs.folder, 'pods'),
    folder,
    join(folder, 'containers'),
    own,
    join(folder, 'volumes'),
  ];
  for (const path of way) if ((await files.kindOf(path)) === 'folder') await files.setMode(path, PASSABLE);
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
