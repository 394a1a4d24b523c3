/** What an enrolled host has in the API, as objects, and what is said of it. Pure. */
import { AGENT_ACCOUNT, hostAgentRights, leaseNameOf } from '@reeve/runtime';
import { CLUSTER_LABEL, type Endpoint, formatEndpoint } from '@reeve/redis';
import { shellWord } from '../output/shell-word.ts';
import type { Plain } from './kube.ts';

export interface Enrollment {
  readonly namespace: string;
  readonly member: string;
  readonly endpoint: Endpoint;
  readonly cluster?: string;
}

export function accountOf(member: string): string {
  return `${AGENT_ACCOUNT}-${member}`;
}

/** The role by which an account may ask for tokens of its own. */
export function renewalOf(member: string): string {
  return `${accountOf(member)}-renewal`;
}

export type Named = Plain & { readonly kind: string; readonly metadata: { readonly name: string } };

export function memberManifest({ namespace, member, endpoint, cluster }: Enrollment): Named {
  return {
    kind: 'Member',
    metadata: {
      namespace,
      name: member,
      ...(cluster !== undefined && { labels: { [CLUSTER_LABEL]: cluster } }),
    },
    spec: { system: 'redis', endpoint: { ...endpoint }, host: endpoint.host },
  };
}

/** What an administrator is told. */
export function enrolledText({ namespace, member, endpoint }: Enrollment, folder: string): string {
  return [
    `${namespace}/${member} is enrolled: ${formatEndpoint(endpoint)}`,
    `identity    ${folder}`,
    '',
    'Bring the folder to the host, readable for the user of the agent only, and start there:',
    '',
    `  reeve agent redis --identity ${shellWord(folder)}`,
    '',
  ].join('\n');
}

/** Rights over the one member; with `renewal` also over tokens of the own account. */
export function rightsOf({ namespace, member }: Enrollment, renewal: boolean): readonly Named[] {
  const rights = hostAgentRights(namespace, member) as readonly unknown[] as readonly Named[];
  return renewal ? [...rights, ...renewalRights(namespace, member)] : rights;
}

function renewalRights(namespace: string, member: string): readonly Named[] {
  const name = renewalOf(member);
  const account = accountOf(member);
  return [
    {
      kind: 'Role',
      metadata: { namespace, name },
      rules: [{ apiGroups: [''], resources: ['serviceaccounts/token'], resourceNames: [account], verbs: ['create'] }],
    },
    {
      kind: 'RoleBinding',
      metadata: { namespace, name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', namespace, name: account }],
    },
  ];
}

export interface Part {
  readonly kind: 'ServiceAccount' | 'RoleBinding' | 'Role' | 'Lease' | 'Member';
  readonly name: string;
}

/** Everything that enrolling made, in the order in which it is taken away: first who it is, last what it was about. */
export function partsOf(member: string): readonly Part[] {
  const account = accountOf(member);
  const renewal = renewalOf(member);
  return [
    { kind: 'ServiceAccount', name: account },
    { kind: 'RoleBinding', name: renewal },
    { kind: 'Role', name: renewal },
    { kind: 'RoleBinding', name: account },
    { kind: 'Role', name: account },
    { kind: 'Lease', name: leaseNameOf(member) },
    { kind: 'Member', name: member },
  ];
}
