import { hash } from 'node:crypto';

/** JSON with sorted keys: equal values give equal text. Undefined members are left out, as in JSON. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === 'bigint') return `${inner}n`; // an integer of the client that a number cannot hold
    if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return inner;
    const source = inner as Record<string, unknown>;
    const sorted = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(source).sort()) sorted[key] = source[key];
    return sorted;
  });
}

/** A short digest that names a plan: `v1-` and 16 hex digits. The algorithm version is part of it. */
export function digest(value: unknown): string {
  return digestOf(canonicalJson(value));
}

/** The same for a value whose canonical text is known. */
export function digestOf(canonical: string): string {
  return `v1-${hash('sha256', canonical, 'hex').slice(0, 16)}`;
}
