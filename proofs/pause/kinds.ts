/** What the paused leader writes, and what the server must hold for it: kinds, rights, the fence. */
import { type KubeObject, resource } from '@reeve/kube';
import { ANYTHING, definitionOf } from '@reeve/rig';
import { byImpersonation, fenceRole } from '@reeve/runtime/manager';

/** Whose term a write is of: in every object that the leaders write. */
export interface Mark {
  /** `TRANSITIONS/HOLDER`. */
  readonly by?: string;
  readonly n?: number;
}

export interface Thing extends KubeObject {
  readonly spec?: Mark;
  readonly status?: Mark;
}

export interface Note extends KubeObject {
  readonly data?: { readonly by?: string };
}

export const things = resource<Thing>({
  group: 'pause.reeve.dev',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
});
export const notes = resource<Note>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});

export const LEASE = { namespace: 'default', name: 'leader' };
export const MANAGER = { username: 'manager' };
export const carrier = byImpersonation(MANAGER);
export const NOTE_LABEL = { note: 'yes' };

const ofRoles = 'rbac.authorization.k8s.io';

/** To be created before the processes start. */
export const manifests: readonly object[] = [
  definitionOf({
    group: things.group,
    kind: things.kind,
    schema: { type: 'object', properties: { spec: ANYTHING, status: ANYTHING } },
    version: { subresources: { status: {} } },
  }),
  fenceRole('fence', MANAGER),
  {
    apiVersion: `${ofRoles}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'manager' },
    rules: [
      {
        apiGroups: [things.group, '', 'coordination.k8s.io', 'events.k8s.io'],
        resources: ['things', 'things/status', 'configmaps', 'leases', 'events'],
        verbs: ['*'],
      },
    ],
  },
  ...['fence', 'manager'].map((name) => ({
    apiVersion: `${ofRoles}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: ofRoles, kind: 'ClusterRole', name },
    subjects: [{ kind: 'User', name: MANAGER.username, apiGroup: ofRoles }],
  })),
];
