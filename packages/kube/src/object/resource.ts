/** Resource descriptors: what a client must know of a kind to speak about it. The type of the objects rides along. */
import type { AnyObject, KubeObject } from './object.ts';

export interface Resource<T extends KubeObject = AnyObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** As in URLs: `pods`, `redisclusters`. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Only the metadata of objects is asked for: a fifth of the bytes where names, labels and owners are enough. */
  readonly metadataOnly?: true;
  /** Never there at run time: it lets TypeScript carry the object type from descriptor to result. */
  readonly object?: T;
}

export function resource<T extends KubeObject = AnyObject>(description: Omit<Resource<T>, 'object'>): Resource<T> {
  return description;
}

/** The same resource, of which only metadata are read. Objects then say they are PartialObjectMetadata. */
export function metadataOnly(of: Resource<KubeObject>): Resource<KubeObject> {
  return { ...of, metadataOnly: true };
}

export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `apps/v1` → group and version. */
export function splitApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** Where the group and version are served. */
export function apiPath({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? `/api/${segment(version)}` : `/apis/${segment(group)}/${segment(version)}`;
}

/** The path of one object, or of the collection when no name is given. */
export function resourcePath(
  of: Resource<KubeObject>,
  namespace: string | undefined,
  name?: string,
  subresource?: string,
): string {
  let path = apiPath(of);
  if (of.namespaced && namespace !== undefined) path += `/namespaces/${segment(namespace)}`;
  path += `/${segment(of.plural)}`;
  if (name !== undefined) path += `/${segment(name)}`;
  if (subresource !== undefined) path += `/${segment(subresource)}`;
  return path;
}

/** One piece of a path. `.` and `..` would climb and an empty piece would name something else: the caller has a bug. */
function segment(piece: string): string {
  if (piece === '' || piece === '.' || piece === '..') throw new RangeError(`'${piece}' cannot be part of a path`);
  return encodeURIComponent(piece);
}
