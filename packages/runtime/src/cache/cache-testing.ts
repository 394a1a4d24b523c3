/** Objects for tests. */
import type { Metadata, Resource } from '../resource/resource.ts';

export interface Thing extends Resource {
  readonly spec?: { readonly color?: string };
}

export function thing(
  name: string,
  version: number | string,
  more: Partial<Metadata> & { color?: string } = {},
): Thing {
  const { color, ...metadata } = more;
  return {
    metadata: { namespace: 'ns', name, uid: `uid-${name}`, resourceVersion: String(version), ...metadata },
    ...(color !== undefined && { spec: { color } }),
  };
}

/** Nobody may change what a cache hands out; a test that froze it finds out who does. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
