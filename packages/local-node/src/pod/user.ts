/** As whom a container runs. Only root can let others run as somebody else: elsewhere everybody is who started the node. */
import type { Owner } from '../host/host.ts';
import type { PodContainer } from './progress.ts';
import type { StoredPod } from './view.ts';

/**
 * With the value `node`: `runAsUser` is a user of the pod's image. There are no images here, and on this machine that number is nobody, or
 * somebody else, who may not even reach the program.
 */
const RUN_AS = 'reeve.dev/run-as';

/**
 * Undefined: as the node itself.
 * @param ofImage as whom its program runs if the pod names nobody.
 */
export function userOf(
  { metadata, spec }: StoredPod,
  container: PodContainer | undefined,
  node: Owner,
  ofImage?: Owner,
): Owner | undefined {
  if (node.uid !== 0) return undefined;
  const isNamed = metadata.annotations?.[RUN_AS] !== 'node';
  const uid = isNamed ? (container?.securityContext?.runAsUser ?? spec?.securityContext?.runAsUser) : undefined;
  if (uid === undefined) return ofImage;
  if (uid === 0) return undefined;
  const gid = container?.securityContext?.runAsGroup ?? spec?.securityContext?.runAsGroup ?? uid;
  return { uid, gid };
}

/** In front of a command: whoever runs it then has none of root's rights left. */
export function asUser(user: Owner | undefined): readonly string[] {
  if (!user) return [];
  return ['/usr/bin/setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--inh-caps=-all', '--'];
}
