/** The token of its service account, which every container gets unless its pod says otherwise. Pods that name none have none. */
import { ROOT_CA } from '../kinds/config-map.ts';
import type { PodContainer } from '../pod/progress.ts';
import type { StoredPod } from '../pod/view.ts';
import type { PodVolume } from '../volumes/payload.ts';

export const ACCOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
export const ACCOUNT_VOLUME = 'reeve-service-account';
const SECONDS = 3_607;

/** @param hasAuthority the server has one, which is published: without it the token would be of no use, so that the pod waits for it. */
export function accountVolume(pod: StoredPod, hasAuthority: boolean): PodVolume | undefined {
  if (pod.spec?.automountServiceAccountToken === false || pod.spec?.serviceAccountName === undefined) return undefined;
  return {
    name: ACCOUNT_VOLUME,
    projected: {
      sources: [
        { serviceAccountToken: { path: 'token', expirationSeconds: SECONDS } },
        { configMap: { name: ROOT_CA, items: [{ key: 'ca.crt', path: 'ca.crt' }], optional: !hasAuthority } },
        { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
      ],
    },
  };
}

/** Not where the pod brings one of its own. */
export function withAccountMount<C extends PodContainer>(container: C): C {
  const mounts = container.volumeMounts ?? [];
  if (mounts.some(({ mountPath }) => mountPath.replace(/\/+$/, '') === ACCOUNT_PATH)) return container;
  return {
    ...container,
    volumeMounts: [...mounts, { name: ACCOUNT_VOLUME, mountPath: ACCOUNT_PATH, readOnly: true }],
  };
}
