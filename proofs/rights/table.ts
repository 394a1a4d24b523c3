/** Who tries what, and what must come of it; the same for both servers. */
import { isKubeError, type KubeClient } from '@reeve/kube';
import { AGENT_ACCOUNT, leaseNameOf, type MemberStatus } from '@reeve/runtime';
import { AWAY, accounts, type Actor, HOME, leases, members, pods, type RightsScene, secrets } from './scene.ts';

export interface Row {
  readonly who: Actor;
  readonly does: string;
  /** `allowed`, or code and a part of what the server says. */
  readonly verdict: 'allowed' | readonly [code: number, message: RegExp];
  readonly act: (client: KubeClient, scene: RightsScene) => Promise<unknown>;
}

const RBAC = [403, /cannot (\w+) resource/] as const;
const UNBOUND = [403, /not bound to a pod/] as const;
const OTHER_POD = [403, /member of another pod/] as const;
const OTHER_LEASE = [403, /lease of another member/] as const;
const ONLY_STATUS = [403, /writes the status of its member and nothing else/] as const;
const OTHER_NAMESPACE = [403, /agents of this namespace/] as const;
const UNKNOWN = [401, /Unauthorized/] as const;

let counter = 0;
const status = (): MemberStatus => ({ highestLease: ++counter });
const spec = (holderIdentity: string) => ({ holderIdentity, leaseDurationSeconds: 30 });

const writeStatus =
  (name: string, namespace = HOME) =>
  async (client: KubeClient, { admin }: RightsScene) => {
    const member = await admin.resource(members, namespace).get(name);
    return client.resource(members, namespace).update({ ...member, status: status() }, { subresource: 'status' });
  };
const patchStatus = (name: string) => (client: KubeClient) =>
  client.resource(members, HOME).patch(name, { type: 'merge', value: { status: status() } }, { subresource: 'status' });
const applyStatus = (name: string) => (client: KubeClient) => {
  const value = { metadata: { name }, status: status() } as never;
  return client.resource(members, HOME).apply(value, { subresource: 'status', force: true });
};
const patchSpec = (name: string) => (client: KubeClient) =>
  client.resource(members, HOME).patch(name, { type: 'merge', value: { spec: { fence: ++counter } } });
const makeLease =
  (member: string, namespace = HOME) =>
  (client: KubeClient) =>
    client.resource(leases, namespace).create({ metadata: { name: leaseNameOf(member) }, spec: spec('it') });
const renewLease =
  (member: string, namespace = HOME) =>
  async (client: KubeClient, { admin }: RightsScene) => {
    const ofLeases = admin.resource(leases, namespace);
    const name = leaseNameOf(member);
    const lease = (await ofLeases.find(name)) ?? (await ofLeases.create({ metadata: { name }, spec: spec('admin') }));
    return client.resource(leases, namespace).update({ ...lease, spec: spec(`renewed ${++counter}`) });
  };

const unbound = 'a token of the account that is bound to nothing';
const bySecret = 'a token of the account that is bound to a secret';
const elsewhere = 'the agent of a pod of the same name elsewhere';
const host = 'the agent of host h-1';

/** With the rights that agents are given. */
export const rows: readonly Row[] = [
  { who: 'the agent of db-0', does: 'writes its status', verdict: 'allowed', act: writeStatus('db-0') },
  { who: 'the agent of db-0', does: 'patches its status', verdict: 'allowed', act: patchStatus('db-0') },
  { who: 'the agent of db-0', does: 'applies its status', verdict: 'allowed', act: applyStatus('db-0') },
  { who: 'the agent of db-0', does: 'makes its lease', verdict: 'allowed', act: makeLease('db-0') },
  { who: 'the agent of db-0', does: 'renews its lease', verdict: 'allowed', act: renewLease('db-0') },
  { who: 'the agent of db-1', does: 'writes its status', verdict: 'allowed', act: writeStatus('db-1') },
  {
    who: 'the agent of db-0',
    does: 'reads the other members',
    verdict: 'allowed',
    act: (client) => client.resource(members, HOME).get('db-1'),
  },
  { who: 'the agent of db-0', does: 'writes the status of db-1', verdict: OTHER_POD, act: writeStatus('db-1') },
  { who: 'the agent of db-0', does: 'patches the status of db-1', verdict: OTHER_POD, act: patchStatus('db-1') },
  { who: 'the agent of db-0', does: 'applies the status of db-1', verdict: OTHER_POD, act: applyStatus('db-1') },
  { who: 'the agent of db-0', does: 'writes the status of host h-1', verdict: OTHER_POD, act: writeStatus('h-1') },
  { who: 'the agent of db-0', does: 'makes the lease of db-1', verdict: OTHER_LEASE, act: makeLease('db-1') },
  { who: 'the agent of db-0', does: 'renews the lease of db-1', verdict: OTHER_LEASE, act: renewLease('db-1') },
  { who: 'the agent of db-0', does: 'renews the lease of host h-1', verdict: OTHER_LEASE, act: renewLease('h-1') },
  {
    who: 'the agent of db-0',
    does: 'makes a lease under a name that the server chooses',
    verdict: OTHER_LEASE,
    act: (client) => client.resource(leases, HOME).create({ metadata: { generateName: 'member-db-' } as never }),
  },
  { who: 'the agent of db-0', does: 'changes its own orders', verdict: RBAC, act: patchSpec('db-0') },
  {
    who: 'the agent of db-0',
    does: 'deletes its member',
    verdict: RBAC,
    act: (client) => client.resource(members, HOME).delete('db-0'),
  },
  {
    who: 'the agent of db-0',
    does: 'deletes its lease',
    verdict: RBAC,
    act: (client) => client.resource(leases, HOME).delete(leaseNameOf('db-0')),
  },
  { who: 'the agent of db-0', does: 'writes in another namespace', verdict: RBAC, act: writeStatus('db-0', AWAY) },
  {
    who: 'the agent of db-0',
    does: 'reads secrets',
    verdict: RBAC,
    act: (client) => client.resource(secrets, HOME).list(),
  },
  {
    who: 'the agent of db-0',
    does: 'asks for another token',
    verdict: RBAC,
    act: (client) => client.resource(accounts, HOME).post(AGENT_ACCOUNT, 'token', {}),
  },
  { who: unbound, does: 'writes the status of db-0', verdict: UNBOUND, act: writeStatus('db-0') },
  { who: unbound, does: 'applies the status of db-0', verdict: UNBOUND, act: applyStatus('db-0') },
  { who: unbound, does: 'makes the lease of db-1', verdict: UNBOUND, act: makeLease('db-1') },
  { who: unbound, does: 'renews the lease of db-0', verdict: UNBOUND, act: renewLease('db-0') },
  { who: bySecret, does: 'writes the status of db-0', verdict: UNBOUND, act: writeStatus('db-0') },
  { who: bySecret, does: 'renews the lease of db-0', verdict: UNBOUND, act: renewLease('db-0') },
  { who: elsewhere, does: 'writes its status there', verdict: 'allowed', act: writeStatus('db-0', AWAY) },
  { who: elsewhere, does: 'writes the status of its namesake', verdict: RBAC, act: writeStatus('db-0') },
  { who: elsewhere, does: 'renews the lease of its namesake', verdict: RBAC, act: renewLease('db-0') },
  {
    who: 'the agent in the pod that replaced db-2',
    does: 'writes the status of a member that is still the old pod’s',
    verdict: OTHER_POD,
    act: writeStatus('db-2'),
  },
  {
    who: 'the agent of a pod that is gone',
    does: 'writes its status',
    verdict: UNKNOWN,
    act: writeStatus('db-3'),
  },
  { who: host, does: 'writes its status', verdict: 'allowed', act: writeStatus('h-1') },
  { who: host, does: 'applies its status', verdict: 'allowed', act: applyStatus('h-1') },
  { who: host, does: 'renews its lease', verdict: 'allowed', act: renewLease('h-1') },
  { who: host, does: 'writes the status of host h-2', verdict: RBAC, act: writeStatus('h-2') },
  { who: host, does: 'writes the status of db-0', verdict: RBAC, act: writeStatus('db-0') },
  { who: host, does: 'renews the lease of host h-2', verdict: RBAC, act: renewLease('h-2') },
  { who: host, does: 'makes a lease', verdict: RBAC, act: makeLease('h-3') },
  { who: host, does: 'changes its own orders', verdict: RBAC, act: patchSpec('h-1') },
  {
    who: host,
    does: 'reads the other members',
    verdict: RBAC,
    act: (client) => client.resource(members, HOME).get('h-2'),
  },
  { who: 'another account of a pod', does: 'writes the status of db-0', verdict: RBAC, act: writeStatus('db-0') },
];

/** With a role that allows everything in the namespace: what the policy alone holds. */
export const generousRows: readonly Row[] = [
  { who: 'the agent of db-0', does: 'writes its status', verdict: 'allowed', act: writeStatus('db-0') },
  {
    who: 'the agent of db-0',
    does: 'writes what the policy does not speak of',
    verdict: 'allowed',
    act: (client) =>
      client.resource(pods, HOME).patch('db-0', { type: 'merge', value: { metadata: { labels: { a: 'b' } } } }),
  },
  { who: 'the agent of db-0', does: 'changes its own orders', verdict: ONLY_STATUS, act: patchSpec('db-0') },
  { who: 'the agent of db-0', does: 'writes the status of db-1', verdict: OTHER_POD, act: writeStatus('db-1') },
  {
    who: 'the agent of db-0',
    does: 'makes a member',
    verdict: ONLY_STATUS,
    act: async (client, { admin }) => {
      const { spec: its } = await admin.resource(members, HOME).get('h-1');
      return client.resource(members, HOME).create({ metadata: { name: 'h-4' }, spec: its });
    },
  },
  {
    who: 'the agent of db-0',
    does: 'deletes its member',
    verdict: ONLY_STATUS,
    act: (client) => client.resource(members, HOME).delete('db-0'),
  },
  {
    who: 'the agent of db-0',
    does: 'deletes all members',
    verdict: ONLY_STATUS,
    act: (client) => client.resource(members, HOME).deleteCollection(),
  },
  {
    who: 'the agent of db-0',
    does: 'deletes the lease of db-1',
    verdict: OTHER_LEASE,
    act: (client) => client.resource(leases, HOME).delete(leaseNameOf('db-1')),
  },
  { who: unbound, does: 'writes the status of db-0', verdict: UNBOUND, act: writeStatus('db-0') },
  { who: elsewhere, does: 'writes the status of its namesake', verdict: OTHER_NAMESPACE, act: writeStatus('db-0') },
  { who: elsewhere, does: 'renews the lease of its namesake', verdict: OTHER_NAMESPACE, act: renewLease('db-0') },
];

/** What came of it, in the words of `verdict`: undefined if it is what must come. */
export async function tryRow({ who, verdict, act }: Row, scene: RightsScene): Promise<string | undefined> {
  let seen: string;
  try {
    await act(scene.as(who), scene);
    if (verdict === 'allowed') return undefined;
    seen = 'it was allowed';
  } catch (error) {
    if (!isKubeError(error)) throw error;
    const { code, message } = error.status ?? { code: 0, message: error.message };
    if (verdict !== 'allowed' && code === verdict[0] && verdict[1].test(message ?? '')) return undefined;
    seen = `${code} ${message}`;
  }
  return `expected ${verdict === 'allowed' ? verdict : verdict.join(' ')}, saw: ${seen}`;
}
