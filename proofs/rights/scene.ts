/** Namespaces, pods, members, rights and the policy, as an operator would install them; and the tokens of everybody. */
import { type KubeClient, type KubeObject, resource } from '@reeve/kube';
import { until } from '@reeve/rig';
import {
  AGENT_ACCOUNT,
  crdOf,
  hostAgentRights,
  leaseKind,
  type LeaseObject,
  type Member,
  memberKind,
  memberWritePolicy,
  podAgentRights,
  podAgentRole,
} from '@reeve/runtime';
import type { RightsServer } from './servers.ts';

export interface Plain extends KubeObject {
  readonly [field: string]: unknown;
}

const core = (plural: string, kind: string, namespaced = true) =>
  resource<Plain>({ group: '', version: 'v1', plural, kind, namespaced });
const of = (group: string, plural: string, kind: string, namespaced: boolean) =>
  resource<Plain>({ group, version: 'v1', plural, kind, namespaced });

const ROLES = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';
const kinds = {
  Namespace: core('namespaces', 'Namespace', false),
  Pod: core('pods', 'Pod'),
  Secret: core('secrets', 'Secret'),
  ServiceAccount: core('serviceaccounts', 'ServiceAccount'),
  Lease: resource<Plain>(leaseKind),
  Role: of(ROLES, 'roles', 'Role', true),
  RoleBinding: of(ROLES, 'rolebindings', 'RoleBinding', true),
  ClusterRole: of(ROLES, 'clusterroles', 'ClusterRole', false),
  CustomResourceDefinition: of('apiextensions.k8s.io', 'customresourcedefinitions', 'CustomResourceDefinition', false),
  ValidatingAdmissionPolicy: of(ADMISSION, 'validatingadmissionpolicies', 'ValidatingAdmissionPolicy', false),
  ValidatingAdmissionPolicyBinding: of(
    ADMISSION,
    'validatingadmissionpolicybindings',
    'ValidatingAdmissionPolicyBinding',
    false,
  ),
} as const;

export const { Pod: pods, Secret: secrets, ServiceAccount: accounts } = kinds;
export const leases = resource<LeaseObject & KubeObject>(leaseKind);
const { group, version, plural, kind } = memberKind;
export const members = resource<Member & KubeObject>({ group, version, plural, kind, namespaced: true });

/** Where most of it happens, and another namespace with pods of the same names. */
export const HOME = 'home';
export const AWAY = 'away';

export type Actor =
  | 'the agent of db-0'
  | 'the agent of db-1'
  | 'the agent of a pod of the same name elsewhere'
  | 'the agent in the pod that replaced db-2'
  | 'the agent of a pod that is gone'
  | 'a token of the account that is bound to nothing'
  | 'a token of the account that is bound to a secret'
  | 'the agent of host h-1'
  | 'another account of a pod';

export interface RightsScene {
  readonly admin: KubeClient;
  as(actor: Actor): KubeClient;
}

export async function install(client: KubeClient, manifests: readonly object[]): Promise<void> {
  for (const manifest of manifests as readonly (Plain & { kind: keyof typeof kinds })[]) {
    const { namespace } = manifest.metadata as { readonly namespace?: string };
    await client.resource(kinds[manifest.kind], namespace).create(manifest);
  }
}

export async function openScene(server: RightsServer): Promise<RightsScene> {
  const { admin } = server;
  await install(admin, [
    ...[HOME, AWAY].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    crdOf(memberKind),
    ...memberWritePolicy(),
    podAgentRole(),
    ...podAgentRights(HOME),
    ...podAgentRights(AWAY),
    ...hostAgentRights(HOME, 'h-1'),
    ...hostAgentRights(HOME, 'h-2'),
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: HOME, name: 'somebody' } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: HOME, name: 'secret' } },
  ]);
  const ofMembers = (namespace: string) => admin.resource(members, namespace);
  await until('members are served', () => ofMembers(HOME).list());
  const podUid = async (namespace: string, name: string, account = AGENT_ACCOUNT): Promise<string> => {
    const spec = { serviceAccountName: account, containers: [{ name: 'agent', image: 'agent' }] };
    const made = await admin.resource(pods, namespace).create({ metadata: { name }, spec });
    return made.metadata.uid;
  };
  const addPodMember = async (namespace: string, name: string): Promise<void> => {
    const pod = { name, uid: await podUid(namespace, name) };
    await ofMembers(namespace).create({ metadata: { name }, spec: { ...WHERE, pod } });
  };
  for (const name of ['db-0', 'db-1', 'db-2', 'db-3']) await addPodMember(HOME, name);
  await addPodMember(AWAY, 'db-0');
  for (const host of ['h-1', 'h-2'])
    await ofMembers(HOME).create({ metadata: { name: host }, spec: { ...WHERE, host } });
  await podUid(HOME, 'somebody-0', 'somebody');

  const token = async (namespace: string, account: string, ref?: object): Promise<string> => {
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: ref ? { boundObjectRef: { apiVersion: 'v1', ...ref } } : {},
    };
    const answer = await admin
      .resource(accounts, namespace)
      .post<{ readonly status: { readonly token: string } }>(account, 'token', body);
    return answer.status.token;
  };
  const ofPod = (name: string, namespace = HOME, account = AGENT_ACCOUNT) =>
    token(namespace, account, { kind: 'Pod', name });
  const gone = await ofPod('db-3');
  for (const name of ['db-2', 'db-3']) {
    await admin.resource(pods, HOME).delete(name, { gracePeriodSeconds: 0 });
    await until(`pod ${name} is gone`, async () => (await admin.resource(pods, HOME).find(name)) === undefined);
  }
  await podUid(HOME, 'db-2');

  const clients: Readonly<Record<Actor, KubeClient>> = {
    'the agent of db-0': server.as(await ofPod('db-0')),
    'the agent of db-1': server.as(await ofPod('db-1')),
    'the agent of a pod of the same name elsewhere': server.as(await ofPod('db-0', AWAY)),
    'the agent in the pod that replaced db-2': server.as(await ofPod('db-2')),
    'the agent of a pod that is gone': server.as(gone),
    'a token of the account that is bound to nothing': server.as(await token(HOME, AGENT_ACCOUNT)),
    'a token of the account that is bound to a secret': server.as(
      await token(HOME, AGENT_ACCOUNT, { kind: 'Secret', name: 'secret' }),
    ),
    'the agent of host h-1': server.as(await token(HOME, `${AGENT_ACCOUNT}-h-1`)),
    'another account of a pod': server.as(await ofPod('somebody-0', HOME, 'somebody')),
  };
  await inForce(clients);
  return { admin, as: (actor) => clients[actor] };
}

/** Roles and policies count once the server has heard of them: its own watches bring them, a moment later. */
async function inForce(clients: Readonly<Record<Actor, KubeClient>>): Promise<void> {
  const write = (actor: Actor, name: string) =>
    clients[actor]
      .resource(members, HOME)
      .patch(name, { type: 'merge', value: { status: { highestLease: 0 } } }, { subresource: 'status', dryRun: true });
  await until('the roles count', async () => {
    await write('the agent of db-0', 'db-0');
    await write('the agent of host h-1', 'h-1');
    return true;
  });
  const isRefused = (error: unknown) => String(error).includes('another pod');
  await until('the policy counts', () => write('the agent of db-1', 'db-0').then(() => false, isRefused));
}

const WHERE = { system: 'redis', endpoint: { host: '127.0.0.1', port: 6379 } };

/** Somebody gave the agents far too many rights: what is left is the policy. */
export async function giveEverything({ admin, as }: RightsScene): Promise<void> {
  const subjects = [HOME, AWAY].map((namespace) => ({ kind: 'ServiceAccount', namespace, name: AGENT_ACCOUNT }));
  await install(admin, [
    {
      apiVersion: `${ROLES}/v1`,
      kind: 'Role',
      metadata: { namespace: HOME, name: 'everything' },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    },
    {
      apiVersion: `${ROLES}/v1`,
      kind: 'RoleBinding',
      metadata: { namespace: HOME, name: 'everything' },
      roleRef: { apiGroup: ROLES, kind: 'Role', name: 'everything' },
      subjects,
    },
  ]);
  await until('the role counts', () => as('the agent of a pod of the same name elsewhere').resource(pods, HOME).list());
}
