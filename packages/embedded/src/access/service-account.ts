/** Service accounts as users. */
import { dnsLabel, dnsSubdomain } from '../object/names.ts';
import { SERVICE_ACCOUNTS } from './groups.ts';

const PREFIX = 'system:serviceaccount:';

export const serviceAccountUser = (namespace: string, name: string): string => `${PREFIX}${namespace}:${name}`;

export const serviceAccountGroups = (namespace: string): readonly string[] => [
  SERVICE_ACCOUNTS,
  `${SERVICE_ACCOUNTS}:${namespace}`,
];

/** Undefined: the user is none. */
export function splitServiceAccount(user: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!user.startsWith(PREFIX)) return undefined;
  const [namespace = '', name = '', ...more] = user.slice(PREFIX.length).split(':');
  const isNamed = dnsLabel(namespace, false).length === 0 && dnsSubdomain(name, false).length === 0;
  return more.length === 0 && isNamed ? { namespace, name } : undefined;
}

export const EXTRA = {
  podName: 'authentication.kubernetes.io/pod-name',
  podUid: 'authentication.kubernetes.io/pod-uid',
  nodeName: 'authentication.kubernetes.io/node-name',
  nodeUid: 'authentication.kubernetes.io/node-uid',
  credential: 'authentication.kubernetes.io/credential-id',
} as const;
