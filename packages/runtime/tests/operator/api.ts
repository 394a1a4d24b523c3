/** The kinds of the sample operator, the client of one life, and the commands. */
import { KubeClient, type KubeObject, resource } from '@reeve/kube';
import {
  type Command,
  type KubeResource,
  type LeaseObject,
  type Member,
  memberKind,
  type OperationStatus,
  type TaskResource,
} from '@reeve/runtime';
import type { Incarnation } from '@reeve/simulation';
import { type ApiKind, type ApiServer, simulated } from '@reeve/simulation/api';

export const NAMESPACE = 'ns';
export const CLUSTER = 'ns/c';
export const FINALIZER = 'sample.dev/task';

export interface Cluster extends KubeResource {
  readonly spec: { readonly replicas: number };
  readonly status?: OperationStatus & { readonly replicas?: number };
}

export interface Task extends TaskResource {
  readonly spec: { readonly cluster: string; readonly verb: string };
}

const group = 'sample.dev';
const version = 'v1';
export const clusterKind: ApiKind = {
  group,
  version,
  plural: 'clusters',
  kind: 'Cluster',
  namespaced: true,
  judge: ({ spec }) =>
    Number.isInteger((spec as Cluster['spec'] | undefined)?.replicas) ? undefined : 'spec.replicas must be an integer',
};
export const taskKind: ApiKind = { group, version, plural: 'tasks', kind: 'Task', namespaced: true };
export const leaseKind: ApiKind = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};
export const memberApiKind: ApiKind = {
  group: memberKind.group,
  version: memberKind.version,
  plural: memberKind.plural,
  kind: memberKind.kind,
  namespaced: true,
  judge: ({ spec }) => (((spec as Member['spec']).orders?.length ?? 0) > 8 ? 'spec.orders: at most 8' : undefined),
};

/** The client of one life: everything it sends can be late, lost, or its last. */
export function clientOf(life: Incarnation, server: ApiServer) {
  const { clock, random } = life.ports;
  const client = new KubeClient({ clock, random, transport: server.transport(simulated(life)), timeoutMs: 20_000 });
  return {
    clusters: client.resource(resource<Cluster & KubeObject>(clusterKind), NAMESPACE),
    tasks: client.resource(resource<Task & KubeObject>(taskKind), NAMESPACE),
    members: client.resource(resource<Member & KubeObject>(memberApiKind), NAMESPACE),
    leases: client.resource(resource<LeaseObject & KubeObject>(leaseKind), NAMESPACE),
  };
}

export type SampleClient = ReturnType<typeof clientOf>;

/** Adds or removes one pod. */
export interface Resize extends Command {
  readonly type: 'resize';
  readonly pod: string;
  /** Absent: it is to be added. */
  readonly removes?: { readonly uid: string };
}

/** A step of a task: `clean` one pod after the other, `snapshot` all at once. */
export interface Step extends Command {
  readonly type: 'clean' | 'snapshot';
  readonly task: string;
  readonly pod: string;
  readonly uid: string;
}

export type SampleCommand = Resize | Step;
