/** What the operator does with the API, verb by verb: nothing else is asked for, and nothing else need be allowed. */
import { AGENT_ACCOUNT, AGENT_POLICY, AGENT_ROLE } from '@reeve/runtime';
import {
  accounts,
  admissionPolicies,
  admissionPolicyBindings,
  disruptionBudgets,
  memberLeases,
  members,
  redisClusters,
  redisTasks,
  roleBindings,
} from './kinds.ts';

/** As in a Role. */
export interface Right {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Of objects with these names only. */
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Kept in a cache. Of secrets, services and the like only those with the label of a cluster, which is nothing that a role can say. */
const cached = ['list', 'watch'] as const;
/** By server-side apply, which creates what is not there. */
const applied = ['create', 'patch'] as const;

export const redisRights: readonly Right[] = [
  // `patch`: its finalizer. `get`: goals are compared with what the server has, not with a cache.
  { apiGroups: [redisClusters.group], resources: [redisClusters.plural], verbs: ['get', ...cached, 'patch'] },
  { apiGroups: [redisTasks.group], resources: [redisTasks.plural], verbs: ['get', ...cached] },
  {
    apiGroups: [redisClusters.group],
    resources: [`${redisClusters.plural}/status`, `${redisTasks.plural}/status`],
    verbs: ['patch'],
  },
  // What a cluster owns keeps it from going first; some servers ask who may say so (OwnerReferencesPermissionEnforcement).
  { apiGroups: [redisClusters.group], resources: [`${redisClusters.plural}/finalizers`], verbs: ['update'] },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', ...cached, ...applied] },
  { apiGroups: [''], resources: ['services', 'configmaps'], verbs: [...cached, ...applied] },
  // `get`: the passwords of a cluster, and of the users that its spec names.
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', ...cached, ...applied] },
  { apiGroups: [disruptionBudgets.group], resources: [disruptionBudgets.plural], verbs: [...cached, ...applied] },
  { apiGroups: [''], resources: ['pods'], verbs: [...cached, 'delete'] },
  // Where pods live: zones and hosts; and, listed by its name, whether a node is heard of at this moment.
  { apiGroups: [''], resources: ['nodes'], verbs: [...cached] },
  // Agents: that they live, and orders for them, which are compared with what the server has; those in pods get their members here.
  { apiGroups: [memberLeases.group], resources: [memberLeases.plural], verbs: [...cached] },
  { apiGroups: [members.group], resources: [members.plural], verbs: ['get', ...cached, 'update', ...applied] },
  // The account of agents in pods, in the namespaces that have some, and the one role that it gives it.
  {
    apiGroups: [accounts.group],
    resources: [accounts.plural],
    resourceNames: [AGENT_ACCOUNT],
    verbs: [...applied],
  },
  {
    apiGroups: [roleBindings.group],
    resources: [roleBindings.plural],
    resourceNames: [AGENT_ROLE],
    verbs: [...applied],
  },
  { apiGroups: [roleBindings.group], resources: ['clusterroles'], resourceNames: [AGENT_ROLE], verbs: ['bind'] },
  // Whether what narrows that role is there, before it is given to anybody.
  {
    apiGroups: [admissionPolicies.group],
    resources: [admissionPolicies.plural, admissionPolicyBindings.plural],
    resourceNames: [AGENT_POLICY],
    verbs: ['get'],
  },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: [...applied] },
];
