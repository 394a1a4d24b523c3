/** Owner references: each once, written as the server writes them. */
import type { Json } from '@reeve/kube';
import { isObject, isSame, type Draft, type JsonObject, objectOf, setField, textOf } from './draft.ts';

const ORDER = ['apiVersion', 'kind', 'name', 'uid', 'controller', 'blockOwnerDeletion'];

/** A struct of Go's, which complaints show. */
export function ownerAsShown(owner: unknown): ReadonlyMap<string, Json> {
  const given = objectOf(owner);
  return new Map(ORDER.filter((field) => given[field] !== undefined).map((field) => [field, given[field] as Json]));
}

/** Takes away those that are there twice; says so, if there were any. */
export function dedupeOwners({ metadata }: Draft, isPatched: boolean): readonly string[] {
  const owners = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences.filter(isObject) : [];
  const kept: JsonObject[] = [];
  const duplicates: string[] = [];
  for (const owner of owners) {
    if (kept.some((one) => isSame(one, owner))) duplicates.push(textOf(owner.uid));
    else kept.push(owner);
  }
  if (duplicates.length === 0) return [];
  setField(metadata, 'ownerReferences', kept);
  const [when, please] = isPatched ? [' after mutating admission happens', ''] : ['', ' please fix your requests;'];
  return [
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24;${please} duplicate UID(s) observed: ${duplicates.join(', ')}`,
  ];
}
