/** What a deployment does next: one new set for its template, sizes that move towards it, old sets that are forgotten. Pure. */
import type { DeploymentSpec } from '../../kinds/deployment.ts';
import { firstSize, isScaling, proportionalScales, recreateScales, rollingScales, type Scale } from './rolling.ts';
import { findNew, revisionOf, sizeOf, type StoredSet } from './sets.ts';
import { isComplete } from './status.ts';

export interface RolloutView {
  readonly spec: DeploymentSpec;
  readonly isBeingDeleted: boolean;
  readonly sets: readonly StoredSet[];
  /** Pods of old sets that have not ended yet. */
  readonly oldPods: number;
}

export interface RolloutPlan {
  readonly newest: StoredSet | undefined;
  readonly old: readonly StoredSet[];
  /** The revision that the new set has, or gets. */
  readonly revision: number;
  /** A set for the template has to be made, with so many pods. */
  readonly create: number | undefined;
  readonly scales: readonly Scale[];
  readonly forget: readonly StoredSet[];
}

export function planRollout(view: RolloutView): RolloutPlan {
  const { spec, sets, isBeingDeleted, oldPods } = view;
  const newest = findNew(spec, sets);
  const old = sets.filter((one) => one !== newest);
  const last = Math.max(0, ...old.map(revisionOf));
  const revision = newest && revisionOf(newest) > last ? revisionOf(newest) : last + 1;
  const idle = { newest, old, revision, create: undefined, scales: [], forget: [] };
  if (isBeingDeleted) return idle;
  if (spec.paused || isScaling(spec, sets)) return { ...idle, scales: proportionalScales(spec, newest, old) };
  const isRecreate = spec.strategy?.type === 'Recreate';
  if (isRecreate) {
    const scales = recreateScales(spec, newest, old);
    const isClear = scales.length === 0 && oldPods === 0;
    if (!newest && isClear) return { ...idle, create: spec.replicas ?? 1 };
    const isGrowing = scales.some(({ set }) => set === newest);
    return { ...idle, scales: isGrowing && oldPods > 0 ? [] : scales, forget: forgettable(spec, newest, old) };
  }
  if (!newest) return { ...idle, create: firstSize(spec, old) };
  return { ...idle, scales: rollingScales(spec, newest, old), forget: forgettable(spec, newest, old) };
}

/** Once all is done, of the empty old sets only the youngest ones stay, to go back to. */
function forgettable(
  spec: DeploymentSpec,
  newest: StoredSet | undefined,
  old: readonly StoredSet[],
): readonly StoredSet[] {
  const numbers = {
    replicas: newest?.status?.replicas ?? 0,
    updatedReplicas: newest?.status?.replicas ?? 0,
    readyReplicas: newest?.status?.readyReplicas ?? 0,
    availableReplicas: newest?.status?.availableReplicas ?? 0,
  };
  if (!newest || !isComplete({ spec }, numbers)) return [];
  const empty = old.filter(
    ({ status, spec: of, metadata }) =>
      sizeOf({ ...(of && { spec: of }) }) === 0 &&
      (status?.replicas ?? 0) === 0 &&
      (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
      metadata.deletionTimestamp === undefined,
  );
  const limit = spec.revisionHistoryLimit ?? 10;
  return empty.toSorted((a, b) => revisionOf(a) - revisionOf(b)).slice(0, Math.max(0, empty.length - limit));
}
