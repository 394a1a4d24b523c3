/** A request as policies see it. */
import type { CelType } from '../cel/type.ts';
import { BOOL, DYN, INT, listOf, mapOf, objectOf, STRING, TIMESTAMP } from '../cel/type.ts';
import type { JsonObject } from '../object/draft.ts';

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  /** `status`, `scale` …; empty for the object itself. */
  readonly subResource?: string;
  readonly name: string;
  /** Empty for objects of the whole cluster. */
  readonly namespace: string;
  /** Absent for DELETE. */
  readonly object?: JsonObject | undefined;
  /** Absent for CREATE. */
  readonly oldObject?: JsonObject | undefined;
  readonly userInfo: UserInfo;
  readonly dryRun?: boolean;
  readonly options?: JsonObject | undefined;
  /** The Namespace of the object, as it is stored; absent when there is none. */
  readonly namespaceObject?: JsonObject | undefined;
  /** The same request in the other versions of its kind, for policies that name those. */
  readonly equivalents?: readonly EquivalentRequest[];
}

export interface EquivalentRequest {
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly object?: JsonObject | undefined;
  readonly oldObject?: JsonObject | undefined;
}

const typeOf = (name: string, fields: Readonly<Record<string, CelType>>): CelType =>
  objectOf(`kubernetes.${name}`, new Map(Object.entries(fields)));

const KIND = typeOf('GroupVersionKind', { group: STRING, version: STRING, kind: STRING });
const RESOURCE = typeOf('GroupVersionResource', { group: STRING, version: STRING, resource: STRING });
const USER = typeOf('UserInfo', {
  username: STRING,
  uid: STRING,
  groups: listOf(STRING),
  extra: mapOf(STRING, listOf(STRING)),
});

export const REQUEST = typeOf('AdmissionRequest', {
  kind: KIND,
  resource: RESOURCE,
  subResource: STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER,
  dryRun: BOOL,
  options: DYN,
});

const CONDITION = typeOf('NamespaceCondition', {
  status: STRING,
  type: STRING,
  lastTransitionTime: TIMESTAMP,
  message: STRING,
  reason: STRING,
});

export const NAMESPACE = typeOf('Namespace', {
  metadata: typeOf('NamespaceMetadata', {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: mapOf(STRING, STRING),
    annotations: mapOf(STRING, STRING),
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: listOf(STRING),
  }),
  spec: typeOf('NamespaceSpec', { finalizers: listOf(STRING) }),
  status: typeOf('NamespaceStatus', { conditions: listOf(CONDITION), phase: STRING }),
});

/** The value of `request`: what is empty is not there, as in the JSON of a real AdmissionRequest. */
export function requestJson(
  request: AdmissionRequest,
  kind: GroupVersionKind,
  resource: GroupVersionResource,
): JsonObject {
  const { userInfo, subResource } = request;
  return compact({
    uid: '',
    kind,
    resource,
    subResource,
    requestKind: request.kind,
    requestResource: request.resource,
    requestSubResource: subResource,
    name: request.name,
    namespace: request.namespace,
    operation: request.operation,
    userInfo: compact({ ...userInfo }),
    dryRun: request.dryRun ?? false,
    options: request.options ?? null,
  });
}

/** Texts, lists of them and objects of them only: all of it is JSON. */
function compact(object: Readonly<Record<string, unknown>>): JsonObject {
  const isEmpty = (name: string, value: unknown): boolean =>
    value === undefined ||
    (value === '' && name !== 'uid') ||
    (Array.isArray(value) && value.length === 0) ||
    (name === 'extra' && Object.keys(value as object).length === 0);
  return Object.fromEntries(Object.entries(object).filter(([name, value]) => !isEmpty(name, value))) as JsonObject;
}

/** Names are those of the resource; an object that has none yet is called what it asked for. */
export function nameForMessage({ name, object }: AdmissionRequest): string {
  if (name !== '') return name;
  const metadata = object?.['metadata'] as { readonly name?: string; readonly generateName?: string } | undefined;
  return metadata?.name || metadata?.generateName || 'Unknown';
}
