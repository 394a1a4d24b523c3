/**
 * A finalizer that cannot leak: it is on the object, by the server's own answer, before anything is done for it; it is taken off only
 * after the clean-up succeeded; and neither ever replaces the list, in which others have theirs.
 */
import type { JsonPatchStep, KubeObject, Stored } from '@reeve/kube';
import type { ResourceApi } from '../client/api.ts';
import { conditionOf, type Condition, type NewCondition } from '../conditions/conditions.ts';
import { failureOf } from '../reflector/port.ts';
import type { DeepReadonly } from '../resource/resource.ts';

type Finalized = DeepReadonly<KubeObject>;

export function hasFinalizer({ metadata }: Finalized, name: string): boolean {
  return metadata.finalizers?.includes(name) ?? false;
}

export function isBeingDeleted({ metadata }: Finalized): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Undefined: nothing to do. Every step is tested against what was read, so that nobody else's finalizer is touched. */
export function addPatch(object: Finalized, name: string): readonly JsonPatchStep[] | undefined {
  const { uid, resourceVersion, finalizers = [] } = object.metadata;
  if (finalizers.includes(name)) return undefined;
  const [first] = finalizers;
  const isSame: JsonPatchStep = { op: 'test', path: '/metadata/uid', value: uid };
  if (first === undefined) {
    // Without a list there is nothing to append to, and creating one would replace what came meanwhile: so the version must be the same.
    const isUnchanged: JsonPatchStep = { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion };
    return [isSame, isUnchanged, { op: 'add', path: '/metadata/finalizers', value: [name] }];
  }
  const isThere: JsonPatchStep = { op: 'test', path: '/metadata/finalizers/0', value: first };
  return [isSame, isThere, { op: 'add', path: '/metadata/finalizers/-', value: name }];
}

export function removePatch(object: Finalized, name: string): readonly JsonPatchStep[] | undefined {
  const at = object.metadata.finalizers?.indexOf(name) ?? -1;
  if (at < 0) return undefined;
  const path = `/metadata/finalizers/${at}`;
  return [
    { op: 'test', path: '/metadata/uid', value: object.metadata.uid },
    { op: 'test', path, value: name },
    { op: 'remove', path },
  ];
}

const MOST_TRIES = 4;

/** The object with the change, as the server has it; undefined if it is gone, or another one of the same name is there. */
export async function changeFinalizers<T extends KubeObject>(
  api: ResourceApi<T>,
  object: DeepReadonly<Stored<T>>,
  patchOf: (object: Finalized, name: string) => readonly JsonPatchStep[] | undefined,
  name: string,
  signal: AbortSignal,
): Promise<DeepReadonly<Stored<T>> | undefined> {
  let current: DeepReadonly<Stored<T>> | undefined = object;
  for (let tries = 1; ; tries++) {
    const steps = patchOf(current as Finalized, name);
    if (!steps) return current;
    try {
      const answer = await api.patch(metadataOf(object).name, { type: 'json', value: steps }, { signal });
      return answer as DeepReadonly<Stored<T>>;
    } catch (error) {
      const { status } = failureOf(error);
      // 422: a test did not hold; 409: written at the same moment; 404: gone, which a removal wanted.
      if (tries >= MOST_TRIES || (status !== 422 && status !== 409 && status !== 404)) throw error;
    }
    current = (await api.find(metadataOf(object).name, { signal })) as DeepReadonly<Stored<T>> | undefined;
    if (!current || metadataOf(current).uid !== metadataOf(object).uid) return undefined;
  }
}

function metadataOf(object: unknown): { readonly name: string; readonly uid: string } {
  return (object as Stored<KubeObject>).metadata;
}

export const FINALIZER_BLOCKED = 'FinalizerBlocked';

/** That a deletion does not go on, why, and for how long; the age is coarse, or it would be a new status at every look. */
export function blockedCondition(
  conditions: readonly Condition[] | undefined,
  of: { readonly finalizer: string; readonly error: Error & { readonly code?: unknown }; readonly generation?: number },
  now: number,
): NewCondition {
  const before = conditionOf(conditions, FINALIZER_BLOCKED);
  const since = before?.status === 'True' ? Date.parse(before.lastTransitionTime) : now;
  const code = typeof of.error.code === 'string' ? ` (${of.error.code})` : '';
  return {
    type: FINALIZER_BLOCKED,
    status: 'True',
    reason: 'CleanUpFailed',
    message: `${of.finalizer} has blocked the deletion for ${roughAge(now - since)}: ${of.error.message}${code}`,
    ...(of.generation !== undefined && { observedGeneration: of.generation }),
  };
}

const MINUTE = 60_000;
const steps: readonly (readonly [ms: number, text: string])[] = [
  [48 * 60 * MINUTE, 'more than two days'],
  [24 * 60 * MINUTE, 'more than a day'],
  [6 * 60 * MINUTE, 'more than 6 hours'],
  [60 * MINUTE, 'more than an hour'],
  [15 * MINUTE, 'more than 15 minutes'],
  [5 * MINUTE, 'more than 5 minutes'],
  [MINUTE, 'more than a minute'],
];

export function roughAge(ms: number): string {
  return steps.find(([least]) => ms >= least)?.[1] ?? 'less than a minute';
}
