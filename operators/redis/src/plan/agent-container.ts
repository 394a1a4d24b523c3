/** The agent beside a server, in its pod: who it is comes from the pod, what it may do from the account of all agents. Pure. */
import { AGENT_ACCOUNT } from '@reeve/runtime';

/** Where every client looks for who it is in a pod. Only the agent gets it, not the server beside it. */
const ACCOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME = 'agent-account';
export const AGENT_CONTAINER = 'agent';
const TOKEN_SECONDS = 3_607;

/** The namespace of its pod, where an argument of a container says so. */
export const POD_NAMESPACE = '$(POD_NAMESPACE)';

interface Beside {
  readonly port: number;
  /** Where the passwords are mounted. */
  readonly auth: string;
  readonly user: string;
  /** Of servers that speak TLS: the volume of their certificates, where it is mounted, and the name that is in them. */
  readonly tls: { readonly volume: string; readonly path: string; readonly servername: string } | undefined;
}

/** What a pod has besides its server. */
export interface AgentParts {
  readonly serviceAccountName: string;
  readonly container: Readonly<Record<string, unknown>>;
  readonly volume: Readonly<Record<string, unknown>>;
}

export function agentParts(cluster: string, { port, auth, user, tls }: Beside): AgentParts {
  const told = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const endpoint = `$(POD_IP):${port}`;
  return {
    serviceAccountName: AGENT_ACCOUNT,
    container: {
      name: AGENT_CONTAINER,
      image: 'reeve',
      args: [
        ...['agent', 'redis', '--cluster', cluster, '--endpoint', endpoint],
        ...['--user', user, '--password-file', `${auth}/admin-password`],
        ...(tls ? tlsArguments(tls.path, tls.servername) : []),
      ],
      env: [
        told('POD_IP', 'status.podIP'),
        told('POD_NAME', 'metadata.name'),
        told('POD_NAMESPACE', 'metadata.namespace'),
        told('POD_UID', 'metadata.uid'),
        told('NODE_NAME', 'spec.nodeName'),
      ],
      volumeMounts: [
        { name: 'auth', mountPath: auth, readOnly: true },
        ...(tls ? [{ name: tls.volume, mountPath: tls.path, readOnly: true }] : []),
        { name: VOLUME, mountPath: ACCOUNT_PATH, readOnly: true },
      ],
    },
    volume: {
      name: VOLUME,
      projected: {
        sources: [
          { serviceAccountToken: { path: 'token', expirationSeconds: TOKEN_SECONDS } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
        ],
      },
    },
  };
}

/** With the certificate of its server: what that is shown by others of its kind. */
function tlsArguments(path: string, servername: string): readonly string[] {
  const files = ['--cacert', `${path}/ca.crt`, '--cert', `${path}/tls.crt`, '--key', `${path}/tls.key`];
  return [...files, '--servername', servername];
}
