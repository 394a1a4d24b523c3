/** RFC 7386, the ten lines of it: not the code under test. */
import type { Json } from '@reeve/kube';

export function merged(target: Json, patch: Json): Json {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete base[name];
    else base[name] = merged(base[name] ?? null, value as Json);
  }
  return base;
}
