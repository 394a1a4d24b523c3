/** The built-in kinds that apply and strategic merge patch know. */
import type { JsonObject } from '../object/draft.ts';
import { clusterTable } from './cluster-table.ts';
import { kindTable } from './kind-table.ts';
import type { KindTypes, ResetPaths } from './kind-types.ts';
import { podTable } from './pod-table.ts';
import { shapedMap } from './shape.ts';
import { readTable, type TypeTable } from './table.ts';
import { asList, asMap, type MapType, type Type } from './type.ts';

/** Group and version → kinds. The type has the kind's name, unless another is given. */
const served: Readonly<Record<string, readonly string[]>> = {
  v1: [
    'Pod',
    'PodTemplate',
    'Service',
    'ConfigMap',
    'Secret',
    'ServiceAccount',
    'PersistentVolumeClaim',
    'Namespace',
    'Event',
    'Node',
    'Endpoints',
    'PersistentVolume',
  ],
  'apps/v1': ['StatefulSet', 'Deployment', 'ReplicaSet', 'ControllerRevision', 'DaemonSet'],
  'batch/v1': ['Job', 'CronJob'],
  'policy/v1': ['PodDisruptionBudget'],
  'rbac.authorization.k8s.io/v1': ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'],
  'coordination.k8s.io/v1': ['Lease'],
  'events.k8s.io/v1': ['Event=EventsEvent'],
  'discovery.k8s.io/v1': ['EndpointSlice'],
  'scheduling.k8s.io/v1': ['PriorityClass'],
  'storage.k8s.io/v1': ['StorageClass'],
  'admissionregistration.k8s.io/v1': ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
  'apiextensions.k8s.io/v1': ['CustomResourceDefinition'],
};

/**
 * Paths that a write through the main resource or through `status` cannot change, and therefore nobody owns by it.
 * Not listed: the kind has no status.
 */
const resets: Readonly<Record<string, { readonly main: ResetPaths; readonly status: ResetPaths }>> = {
  Pod: { main: [['status']], status: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']] },
  Service: { main: [['status']], status: [['spec']] },
  Namespace: { main: [['status']], status: [['spec']] },
  Node: { main: [['status']], status: [['spec']] },
  PersistentVolumeClaim: { main: [['status']], status: [['spec']] },
  StatefulSet: { main: [['status']], status: [['spec']] },
  Deployment: { main: [['status']], status: [['spec'], ['metadata', 'labels']] },
  ReplicaSet: { main: [['status']], status: [['spec']] },
  Job: { main: [['status']], status: [['spec']] },
  PodDisruptionBudget: { main: [['status']], status: [['spec']] },
  DaemonSet: { main: [['status']], status: [['spec']] },
  CronJob: { main: [['status']], status: [['spec']] },
  PersistentVolume: { main: [['status']], status: [['spec']] },
  ValidatingAdmissionPolicy: { main: [['status']], status: [['spec'], ['metadata']] },
  CustomResourceDefinition: { main: [['status']], status: [['spec']] },
};

const types: TypeTable = readTable(podTable, kindTable, clusterTable);

/** ObjectMeta, for custom kinds and embedded resources. */
export const objectMeta: Type = types.get('ObjectMeta') ?? {};

/** A schema in a definition. */
export const jsonSchemaProps = types.get('JSONSchemaProps')?.map as MapType;

/** What is sent to subresources, and kept nowhere. */
export const scaleType = types.get('Scale')?.map as MapType;
export const tokenRequestType = types.get('TokenRequest')?.map as MapType;

const builtinKinds: ReadonlyMap<string, KindTypes> = readKinds();

function readKinds(): ReadonlyMap<string, KindTypes> {
  const kinds = new Map<string, KindTypes>();
  for (const [apiVersion, names] of Object.entries(served)) {
    for (const entry of names) {
      const [kind = '', typeName = kind] = entry.split('=');
      kinds.set(`${apiVersion} ${kind}`, builtin(apiVersion, kind, types.get(typeName)?.map as MapType));
    }
  }
  return kinds;
}

function builtin(apiVersion: string, kind: string, type: MapType): KindTypes {
  const shaped = (object: JsonObject): JsonObject =>
    withReset(object, shapedMap({ ...object, apiVersion, kind }, type));
  let nothing: JsonObject | undefined;
  return {
    apiVersion,
    kind,
    versions: new Map([[apiVersion, { map: type }]]),
    empty: () => shaped({}),
    get nothing() {
      nothing ??= shaped({});
      return nothing;
    },
    shaped,
    convert: (object) => object,
    resets: (subresource) => new Map([[apiVersion, resetPaths(kind, subresource)]]),
  };
}

function resetPaths(kind: string, subresource: string): ResetPaths {
  if (subresource === '') return resets[kind]?.main ?? [];
  return subresource === 'status' ? (resets[kind]?.status ?? []) : [];
}

/** An empty list of managedFields is a request to reset them. It must be seen, though it is never stored. */
function withReset(given: JsonObject, shaped: JsonObject): JsonObject {
  const managedFields = asMap(given['metadata'])?.['managedFields'];
  if (asList(managedFields)?.length !== 0) return shaped;
  return { ...shaped, metadata: { ...asMap(shaped['metadata']), managedFields: [] } };
}

/** Undefined: the kind is not built in, or not among those that we know. */
export function builtinTypes(apiVersion: string, kind: string): KindTypes | undefined {
  return builtinKinds.get(`${apiVersion} ${kind}`);
}
