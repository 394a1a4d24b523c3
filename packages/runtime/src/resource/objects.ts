/** What workers need of a client to write objects of one kind. The kube client's resources fit without conversion. */
import { failureOf } from '../reflector/port.ts';
import type { Metadata, Resource } from './resource.ts';

export interface ObjectMetadata extends Metadata {
  readonly generation?: number;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
}

export interface KubeResource extends Resource {
  readonly metadata: ObjectMetadata;
}

/** Objects of one kind in one namespace. Every update carries the version that it rests on. */
export interface ObjectClient<T extends Resource> {
  /** The newest state, or undefined when there is none. Every other failure throws: unknown is not absent. */
  find(name: string, options?: { readonly signal?: AbortSignal }): Promise<T | undefined>;
  update(object: T, options?: { readonly subresource?: string; readonly signal?: AbortSignal }): Promise<T>;
}

/** The objects of one kind, namespace by namespace. */
export type Objects<T extends Resource> = (namespace: string | undefined) => ObjectClient<T>;

/**
 * What became of a write. `conflict`: the object is another one, or another version, by now; nothing was written. Everything else
 * that goes wrong throws, and whether it was written is not known: read again, decide anew.
 */
export type Written<T> =
  | { readonly written: true; readonly object: T }
  | { readonly written: false; readonly why: 'conflict' | 'absent' };

export async function written<T>(write: Promise<T>): Promise<Written<T>> {
  try {
    return { written: true, object: await write };
  } catch (error) {
    const { status } = failureOf(error);
    if (status === 409) return { written: false, why: 'conflict' };
    if (status === 404) return { written: false, why: 'absent' };
    throw error;
  }
}
