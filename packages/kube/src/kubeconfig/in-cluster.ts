/** The identity that Kubernetes gives every pod. */
import { isIPv6 } from 'node:net';
import type { KubePorts } from '../ports/ports.ts';
import { anonymous, type ResolvedContext } from './kubeconfig.ts';

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Undefined when this is not a pod, or one without a service account token. */
export async function inCluster({
  env,
  files,
}: Pick<KubePorts, 'env' | 'files'>): Promise<ResolvedContext | undefined> {
  const host = env.KUBERNETES_SERVICE_HOST;
  const port = env.KUBERNETES_SERVICE_PORT;
  // Pods without a mount namespace are told where it lies instead.
  const folder = env.REEVE_SERVICE_ACCOUNT || FOLDER;
  if (!host || !port || (await files.read(`${folder}/token`)) === undefined) return undefined;
  const namespace = (await files.read(`${folder}/namespace`))?.trim();
  const ca = await files.read(`${folder}/ca.crt`);
  return {
    name: 'in-cluster',
    namespace: namespace === undefined || namespace === '' ? 'default' : namespace,
    cluster: {
      server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
      ca: ca === undefined ? undefined : { file: `${folder}/ca.crt` },
      tlsServerName: undefined,
      insecure: false,
      proxyUrl: undefined,
      execConfig: undefined,
    },
    user: { ...anonymous, token: { file: `${folder}/token` } },
  };
}
