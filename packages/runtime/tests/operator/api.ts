/** The kinds of the sample operator, the client of one life, and the commands. */
import { KubeClient, type KubeObject, resource } from '@reeve/kube';
import {
  type Command,
  crdOf,
  kind,
  type KubeResource,
  leaseKind,
  type LeaseObject,
  type Member,
  memberKind,
  type OperationStatus,
  schema,
  type TaskResource,
} from '@reeve/runtime';
import type { Incarnation } from '@reeve/simulation';
import { type ApiWorld, simulatedTransport, snapshotOf } from '@reeve/simulation/api';

export const NAMESPACE = 'ns';
export const CLUSTER = 'ns/c';
export const FINALIZER = 'sample.dev/task';

export interface Cluster extends KubeResource {
  readonly spec: { readonly replicas: number };
  /** `seen`: how many pods the observer of a controller saw. */
  readonly status?: OperationStatus & { readonly replicas?: number; readonly seen?: number };
}

export interface Task extends TaskResource {
  readonly spec: { readonly cluster: string; readonly verb: string };
}

/** As the store names the collections. */
export const CLUSTERS = 'clusters.sample.dev';
export const TASKS = 'tasks.sample.dev';
export const MEMBERS = `${memberKind.plural}.${memberKind.group}`;

const ours = { group: 'sample.dev', version: 'v1', namespaced: true } as const;
const clusterKind = kind({
  ...ours,
  plural: 'clusters',
  kind: 'Cluster',
  spec: schema.object({ replicas: schema.integer({ minimum: 0, maximum: 9 }) }),
  status: schema.anything(),
});
const taskKind = kind({
  ...ours,
  plural: 'tasks',
  kind: 'Task',
  spec: schema.object(
    { cluster: schema.text(), verb: schema.text() },
    { rules: [{ rule: 'self == oldSelf', message: 'a task does not change' }] },
  ),
  status: schema.anything(),
});

/** What the server has when a run begins: the namespace and the definitions of our kinds. */
export const snapshot = snapshotOf({
  namespaces: [NAMESPACE],
  definitions: [clusterKind, taskKind, memberKind].map(crdOf),
});

export const clusters = resource<Cluster & KubeObject>(clusterKind);
export const tasks = resource<Task & KubeObject>(taskKind);

/** The client of one life: everything it sends can be late, lost, or its last. */
export function clientOf(life: Incarnation, api: ApiWorld) {
  const { clock, random } = life.ports;
  const client = new KubeClient({ clock, random, transport: simulatedTransport(api, life), timeoutMs: 20_000 });
  return {
    clusters: client.resource(clusters, NAMESPACE),
    tasks: client.resource(tasks, NAMESPACE),
    members: client.resource(resource<Member & KubeObject>(memberKind), NAMESPACE),
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
