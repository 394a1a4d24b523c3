/** What a new pod gets from its service account, as the real server's admission plugin `ServiceAccount` has it. Pure. */
import { each, within } from '../kinds/defaults/fill.ts';
import { type Draft, type JsonObject, objectOf, textOf } from '../object/draft.ts';

export const DEFAULT_ACCOUNT = 'default';
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME = 'kube-api-access-';
/** An hour and a little: by it tokens of pods are told from others. */
const TOKEN_SECONDS = 3607;
const MODE = 0o644;
/** A picture of a pod that a node runs on its own: nobody may change it. */
const MIRROR = 'kubernetes.io/config.mirror';

export const isMirror = ({ metadata }: Draft): boolean => Object.hasOwn(objectOf(metadata.annotations), MIRROR);

/** The account that it names, or the one that every namespace has. */
export const accountName = (pod: Draft): string => textOf(objectOf(pod.spec).serviceAccountName) || DEFAULT_ACCOUNT;

/** @param nameFrom makes a name that nobody has, from its beginning */
export function giveAccount(pod: Draft, account: Draft, nameFrom: (base: string) => string): void {
  const spec = within(pod, 'spec');
  const name = accountName(pod);
  spec.serviceAccountName = name;
  spec.serviceAccount = name; // its old name
  if (isMounted(spec, account)) mountToken(spec, nameFrom);
  if (each(spec, 'imagePullSecrets').length > 0) return;
  const secrets = each(account, 'imagePullSecrets').map((secret) => ({ name: textOf(secret.name) }));
  if (secrets.length > 0) spec.imagePullSecrets = secrets;
}

/** The pod's own word counts, then that of its account. */
function isMounted(spec: JsonObject, account: Draft): boolean {
  for (const { automountServiceAccountToken: said } of [spec, account]) if (typeof said === 'boolean') return said;
  return true;
}

function mountToken(spec: JsonObject, nameFrom: (base: string) => string): void {
  const given = each(spec, 'volumes').find(({ name }) => textOf(name).startsWith(VOLUME));
  const volume = given ? textOf(given.name) : nameFrom(VOLUME);
  let isNeeded = false;
  for (const container of [...each(spec, 'initContainers'), ...each(spec, 'containers')]) {
    const mounts = each(container, 'volumeMounts');
    // Whoever mounts something else there wants that.
    if (mounts.some(({ mountPath }) => mountPath === TOKEN_PATH)) continue;
    container.volumeMounts = [...mounts, { name: volume, readOnly: true, mountPath: TOKEN_PATH }];
    isNeeded = true;
  }
  if (!given && isNeeded) spec.volumes = [...each(spec, 'volumes'), tokenVolume(volume)];
}

const tokenVolume = (name: string): JsonObject => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: MODE,
  },
});
