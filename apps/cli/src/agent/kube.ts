/** The API as agents and administrators use it: ports, kinds, clients. */
import { type KubeObject, type KubePorts, resource, systemKubePorts } from '@reeve/kube';
import { leaseKind, type LeaseObject, type Member, memberKind } from '@reeve/runtime';
import type { Io } from '../io.ts';

/** Objects of which only the name and the uid are of interest, or that are written whole. */
export interface Plain extends KubeObject {
  readonly [field: string]: unknown;
}

const RBAC = 'rbac.authorization.k8s.io';
const namespaced = { version: 'v1', namespaced: true } as const;

export const members = resource<Member & KubeObject>(memberKind);
export const leases = resource<LeaseObject & KubeObject>(leaseKind);
export const accounts = resource<Plain>({
  ...namespaced,
  group: '',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
});
export const roles = resource<Plain>({ ...namespaced, group: RBAC, plural: 'roles', kind: 'Role' });
export const bindings = resource<Plain>({ ...namespaced, group: RBAC, plural: 'rolebindings', kind: 'RoleBinding' });

export function kubePorts({ env, ports }: Io): KubePorts {
  return { ...systemKubePorts(), env, clock: ports.clock, random: ports.random, files: ports.files };
}
