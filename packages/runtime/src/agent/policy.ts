/**
 * Who may write a member, as objects to apply. Pods of one StatefulSet share a service account, so that RBAC alone cannot tell them
 * apart; their tokens say in which pod they live, and an admission policy compares that with the member. On bare hosts each agent has
 * an identity of its own, and RBAC with `resourceNames` is enough. Reads are not narrowed in pods: no secret is ever in a Member.
 */
import { leaseKind } from '../lease/kind.ts';
import { LEASE_SECONDS, leaseNameOf, MEMBER_LEASE_LABEL } from './lease.ts';
import { memberKind } from './member.ts';

/** The name of the service account that agents in pods use, in each namespace. */
export const AGENT_ACCOUNT = 'reeve-agent';
/** The name of the cluster role of agents in pods, and of its binding in each namespace. */
export const AGENT_ROLE = 'reeve-agents';

const LEASES = leaseKind.group;
const RBAC = 'rbac.authorization.k8s.io';
const { group, version, plural } = memberKind;

type Manifest = { readonly apiVersion: string; readonly kind: string; readonly [field: string]: unknown };

/** The policy and its binding. It speaks of agents in pods only; everybody else is RBAC's. */
export function memberWritePolicy(account = AGENT_ACCOUNT): readonly Manifest[] {
  const name = `agents-write-their-own.${group}`;
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        // With what the server would add by itself: it is one value to it, and two who apply the same must not differ.
        matchConstraints: {
          matchPolicy: 'Equivalent',
          namespaceSelector: {},
          objectSelector: {},
          resourceRules: [rule(group, [version], [plural, `${plural}/*`]), rule(LEASES, ['v1'], ['leases'])],
        },
        matchConditions: [{ name: 'agents-in-pods', expression: `request.userInfo.username.endsWith(':${account}')` }],
        variables: [
          { name: 'extra', expression: 'has(request.userInfo.extra) ? request.userInfo.extra : {}' },
          { name: 'pod', expression: claim('pod-name') },
          { name: 'podUid', expression: claim('pod-uid') },
          { name: 'isMember', expression: `request.resource.group == '${group}'` },
        ],
        validations: [
          {
            expression: "variables.pod != '' && variables.podUid != ''",
            message: 'this token is not bound to a pod: it could be anybody’s',
            reason: 'Forbidden',
          },
          {
            // A lease is known by its name alone, and pods of another namespace may have the same.
            expression: `request.userInfo.username == 'system:serviceaccount:' + request.namespace + ':${account}'`,
            message: 'only agents of this namespace write here',
            reason: 'Forbidden',
          },
          {
            expression:
              "!variables.isMember || (request.operation == 'UPDATE' && has(request.subResource) && request.subResource == 'status')",
            message: 'an agent writes the status of its member and nothing else of it',
            reason: 'Forbidden',
          },
          {
            expression:
              '!variables.isMember || oldObject == null || (has(oldObject.spec.pod) && oldObject.spec.pod.name == variables.pod && oldObject.spec.pod.uid == variables.podUid)',
            message: 'this is the member of another pod',
            reason: 'Forbidden',
          },
          {
            expression: `variables.isMember || request.name == '${leaseNameOf('')}' + variables.pod || (request.operation == 'CREATE' && object.metadata.name == '${leaseNameOf('')}' + variables.pod)`,
            message: 'this is the lease of another member',
            reason: 'Forbidden',
          },
        ],
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
}

/**
 * What agents in pods may do in a namespace; the policy narrows it to each one's own. Of the whole cluster, and an administrator's to
 * install: whoever gives it to accounts needs the right to bind this one role, and neither its rights nor that to write roles.
 */
export function podAgentRole(): Manifest {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRole',
    metadata: { name: AGENT_ROLE },
    rules: [
      { apiGroups: [group], resources: [plural], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [group], resources: [`${plural}/status`], verbs: ['get', 'update', 'patch'] },
      { apiGroups: [LEASES], resources: ['leases'], verbs: ['get', 'create', 'update', 'patch'] },
    ],
  };
}

/** The account of all agents in the pods of a namespace, and their role there. */
export function podAgentRights(namespace: string, account = AGENT_ACCOUNT): readonly Manifest[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: account } },
    binding(namespace, 'ClusterRole', AGENT_ROLE, account),
  ];
}

/**
 * The rights of the agent on a bare host: an account of its own, for one member by name. Creating cannot be narrowed to a name, so
 * that the lease is made here and not by the agent.
 */
export function hostAgentRights(namespace: string, member: string): readonly Manifest[] {
  const account = `${AGENT_ACCOUNT}-${member}`;
  const lease = leaseNameOf(member);
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: account } },
    {
      apiVersion: `${LEASES}/v1`,
      kind: 'Lease',
      metadata: { namespace, name: lease, labels: { [MEMBER_LEASE_LABEL]: member } },
      spec: { leaseDurationSeconds: LEASE_SECONDS },
    },
    role(namespace, account, [
      { apiGroups: [group], resources: [plural], resourceNames: [member], verbs: ['get', 'list', 'watch'] },
      {
        apiGroups: [group],
        resources: [`${plural}/status`],
        resourceNames: [member],
        verbs: ['get', 'update', 'patch'],
      },
      { apiGroups: [LEASES], resources: ['leases'], resourceNames: [lease], verbs: ['get', 'update', 'patch'] },
    ]),
    binding(namespace, 'Role', account, account),
  ];
}

function rule(apiGroup: string, apiVersions: readonly string[], resources: readonly string[]) {
  return { apiGroups: [apiGroup], apiVersions, resources, operations: ['CREATE', 'UPDATE', 'DELETE'], scope: '*' };
}

function claim(what: string): string {
  const key = `'authentication.kubernetes.io/${what}'`;
  return `${key} in variables.extra && variables.extra[${key}].size() == 1 ? variables.extra[${key}][0] : ''`;
}

function role(namespace: string, name: string, rules: readonly object[]): Manifest {
  return { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata: { namespace, name }, rules };
}

/** Has the name of the role that it gives. */
function binding(namespace: string, kind: 'Role' | 'ClusterRole', name: string, account: string): Manifest {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { namespace, name },
    roleRef: { apiGroup: RBAC, kind, name },
    subjects: [{ kind: 'ServiceAccount', namespace, name: account }],
  };
}
