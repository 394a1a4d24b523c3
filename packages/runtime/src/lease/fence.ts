/**
 * The line in the server against a leader of the past: a ValidatingAdmissionPolicy whose parameter is the Lease. Every write of a
 * manager says in which term it was decided; the server refuses all but those of the term that its Lease names. Why it is built
 * like this, and what is left: docs/designs/0010-manager.md.
 */
import { type KubeObject, resource } from '@reeve/kube';
import type { TermHeaders } from '../client/guard.ts';

/** How a write says its term, and how the policy reads that. */
export interface FenceCarrier {
  readonly headers: TermHeaders;
  /** CEL over `request` and `params` (the Lease): true if this write is of the term that the Lease names. */
  readonly expression: string;
}

/** The key of `userInfo.extra` that carries the term. */
export const FENCE_EXTRA = 'reeve-fence';

/**
 * Each write is sent as ourselves with one more fact about us: its term. Works for every verb and subresource, also for deletes, and
 * leaves no trace in objects. Needs the right to impersonate oneself and this one key (`fenceRole`).
 */
export function byImpersonation(user: {
  readonly username: string;
  readonly groups?: readonly string[];
}): FenceCarrier {
  const groups = groupsOf(user);
  return {
    headers: (token) => ({
      'impersonate-user': user.username,
      ...(groups.length > 0 && { 'impersonate-group': groups }),
      [`impersonate-extra-${FENCE_EXTRA}`]: token,
    }),
    expression: [
      'has(request.userInfo.extra)',
      `'${FENCE_EXTRA}' in request.userInfo.extra`,
      'has(params.spec.holderIdentity)',
      'has(params.spec.leaseTransitions)',
      `request.userInfo.extra['${FENCE_EXTRA}'].exists(term, term == string(params.spec.leaseTransitions) + '/' + params.spec.holderIdentity)`,
    ].join(' && '),
  };
}

const POD_NAME = 'authentication.kubernetes.io/pod-name';
const POD_UID = 'authentication.kubernetes.io/pod-uid';

/** The identity that `byPod` expects a holder to have. */
export function podIdentity(pod: { readonly name: string; readonly uid: string }): string {
  return `${pod.name}/${pod.uid}`;
}

/**
 * For servers or rules that do not allow impersonation: the pod-bound token names the pod, and the holder must be that pod. The number
 * of the term is not compared, so a write of this very pod's earlier term would pass, if it were still on its way.
 */
export function byPod(): FenceCarrier {
  const extra = (key: string) => `request.userInfo.extra['${key}'][0]`;
  return {
    headers: () => ({}),
    expression: [
      'has(request.userInfo.extra)',
      `'${POD_NAME}' in request.userInfo.extra && '${POD_UID}' in request.userInfo.extra`,
      'has(params.spec.holderIdentity)',
      `params.spec.holderIdentity == ${extra(POD_NAME)} + '/' + ${extra(POD_UID)}`,
    ].join(' && '),
  };
}

export interface FenceRule {
  readonly apiGroups: readonly string[];
  /** With their subresources: `redisclusters`, `redisclusters/*`. */
  readonly resources: readonly string[];
}

export interface FenceOptions {
  /** Of policy and binding. */
  readonly name: string;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Whose writes are fenced. */
  readonly username: string;
  /**
   * What is fenced: the kinds that the manager writes. Danger: a server that does not find the Lease refuses writes to these kinds from
   * everybody, because it looks for the parameter before it asks whose write it is. So no wildcards, and never Leases.
   */
  readonly rules: readonly FenceRule[];
}

export interface PolicyObject extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

const ofAdmission = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;
export const policies = resource<PolicyObject>({
  ...ofAdmission,
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
});
export const policyBindings = resource<PolicyObject>({
  ...ofAdmission,
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
});

/** The ConfigMap that is written, without being kept, to find out whether the fence stands. */
export function probeName(lease: { readonly name: string }): string {
  return `${lease.name}-fence-probe`;
}

type Named = PolicyObject & { readonly metadata: { readonly name: string } };

/** Policy and binding: print them, or apply them. The Lease must exist before. */
export function fence(
  options: FenceOptions,
  carrier: FenceCarrier,
): { readonly policy: Named; readonly binding: Named } {
  const { name, lease, username, rules } = options;
  const all = { apiVersions: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'] };
  const policy: Named = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: policies.kind,
    metadata: { name },
    spec: {
      // A server that cannot judge must refuse: a write too few can be repeated, one too many cannot be undone.
      failurePolicy: 'Fail',
      paramKind: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
      matchConstraints: {
        resourceRules: [
          ...rules.map(({ apiGroups, resources }) => ({ ...all, apiGroups, resources })),
          { ...all, apiGroups: [''], resources: ['configmaps'], resourceNames: [probeName(lease)] },
        ],
      },
      matchConditions: [{ name: 'a-manager', expression: `request.userInfo.username == ${celText(username)}` }],
      validations: [
        {
          expression: carrier.expression,
          reason: 'Forbidden',
          message: `this write is not of the term that lease ${lease.namespace}/${lease.name} names: another leads`,
        },
      ],
    },
  };
  const binding: Named = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: policyBindings.kind,
    metadata: { name },
    spec: {
      policyName: name,
      paramRef: { name: lease.name, namespace: lease.namespace, parameterNotFoundAction: 'Deny' },
      validationActions: ['Deny'],
    },
  };
  return { policy, binding };
}

export interface RoleObject extends KubeObject {
  readonly rules: readonly Readonly<Record<string, readonly string[]>>[];
}

/**
 * What a manager needs to be allowed for `byImpersonation`: to be itself, and to say its term. A ClusterRole, to be bound to it.
 * It also needs to apply the probe's ConfigMap, which is never kept.
 */
export function fenceRole(
  name: string,
  user: { readonly username: string; readonly groups?: readonly string[] },
): RoleObject {
  const account = /^system:serviceaccount:[^:]+:([^:]+)$/.exec(user.username)?.[1];
  const impersonate = (resource: string, names: readonly string[]) => ({
    apiGroups: [''],
    resources: [resource],
    verbs: ['impersonate'],
    resourceNames: names,
  });
  const groups = groupsOf(user);
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [
      account === undefined ? impersonate('users', [user.username]) : impersonate('serviceaccounts', [account]),
      ...(groups.length > 0 ? [impersonate('groups', groups)] : []),
      { apiGroups: ['authentication.k8s.io'], resources: [`userextras/${FENCE_EXTRA}`], verbs: ['impersonate'] },
    ],
  };
}

/** A service account gets its groups from its name; all authenticated users are in one group anyway. */
function groupsOf({
  username,
  groups = [],
}: {
  readonly username: string;
  readonly groups?: readonly string[];
}): readonly string[] {
  if (username.startsWith('system:serviceaccount:')) return [];
  return groups.filter((group) => group !== 'system:authenticated');
}

/** A text as CEL writes it. */
function celText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
