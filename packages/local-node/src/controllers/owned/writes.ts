/**
 * Writes whose answers are in the cache at once, so that the next turn of a key never decides on the state before its own writes. Every
 * change names the object by uid and the version that it was decided on.
 */
import { apiVersionOf, isKubeError, isStatus, type KubeObject, type Stored } from '@reeve/kube';
import type { DeepReadonly } from '@reeve/runtime';
import type { Api, Kind, ObjectReference, Reflection } from '@reeve/runtime/manager';

/** On whose behalf, and until when. A reconcile fits. */
export interface Writing {
  readonly api: Api;
  readonly signal: AbortSignal;
}

export interface RemoveOptions {
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  /** Only in exactly this version. Default: in any, as long as it is the same object. */
  readonly resourceVersion?: string;
}

interface Meta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

type Known<T extends KubeObject> = DeepReadonly<Stored<T>> | Stored<T>;

const asCached = { dropManagedFields: true } as const;

export async function create<T extends KubeObject>(
  { api, signal }: Writing,
  of: Reflection<T>,
  object: T,
): Promise<Stored<T>> {
  const answer = await api.resource(of.kind, object.metadata.namespace).create(object, { ...asCached, signal });
  of.cache.wrote(answer);
  return answer;
}

/** Creates it unless something of its name is there; undefined if so, which is then the caller's to look at. */
export async function createIfAbsent<T extends KubeObject>(
  writing: Writing,
  of: Reflection<T>,
  object: T,
): Promise<Stored<T> | undefined> {
  try {
    return await create(writing, of, object);
  } catch (error) {
    if (isKubeError(error, 'KUBE_ALREADY_EXISTS')) return undefined;
    throw error;
  }
}

/** A merge patch of exactly this object in exactly this version; a conflict is thrown, and the key comes back with newer knowledge. */
export async function change<T extends KubeObject>(
  { api, signal }: Writing,
  of: Reflection<T>,
  object: Known<T>,
  value: Readonly<Record<string, unknown>> & { readonly metadata?: object },
  subresource?: string,
): Promise<Stored<T>> {
  const { name, namespace, uid, resourceVersion } = metaOf(object);
  const merged = { ...value, metadata: { ...value.metadata, uid, resourceVersion } };
  const options = { ...asCached, signal, ...(subresource !== undefined && { subresource }) };
  const patch = { type: 'merge', value: merged } as const;
  const answer = await api.resource(of.kind, namespace).patch(name, patch, options);
  of.cache.wrote(answer);
  return answer;
}

/** Deletes exactly this object. That it is gone already is as good. */
export async function remove<T extends KubeObject>(
  { api, signal }: Writing,
  of: Reflection<T>,
  object: Known<T>,
  options: RemoveOptions = {},
): Promise<void> {
  const { name, namespace, uid } = metaOf(object);
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  try {
    const answer = await api
      .resource(of.kind, namespace)
      .delete(name, { propagationPolicy: 'Background', ...options, uid, signal });
    if (isStatus(answer)) of.cache.deleted(key, uid);
    else of.cache.wrote(answer);
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return of.cache.deleted(key, uid);
    throw error;
  }
}

/** Asks the server whether this very object is still there. */
export async function readLive<T extends KubeObject>(
  { api, signal }: Writing,
  of: Pick<Reflection<T>, 'kind'>,
  object: Known<T>,
): Promise<Stored<T> | undefined> {
  const { name, namespace, uid } = metaOf(object);
  const found = await api.resource(of.kind, namespace).find(name, { ...asCached, signal });
  return found && metaOf<T>(found).uid === uid ? found : undefined;
}

/** How an event names an object that it is about, too. */
export function referenceTo<T extends KubeObject>(kind: Kind<T>, object: KubeObject): ObjectReference {
  const { name = '', namespace, uid } = object.metadata;
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
  };
}

export function metaOf<T extends KubeObject>(object: Known<T>): Meta {
  return (object as unknown as { readonly metadata: Meta }).metadata;
}
