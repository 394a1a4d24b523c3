/** How the sizes of a deployment's sets move: a few up, a few down, never more nor fewer pods than allowed. Pure. */
import type { DeploymentSpec } from '../../kinds/deployment.ts';
import { byAge, DESIRED, limitsOf, MAX, sizeOf, type StoredSet, sum } from './sets.ts';

export interface Scale {
  readonly set: StoredSet;
  readonly replicas: number;
}

/** A set that was just made smaller may still say how many it had: no more of them stay than it has now. */
const available = (set: StoredSet) => Math.min(set.status?.availableReplicas ?? 0, sizeOf(set));

/** How large a new set may be from the start. */
export function firstSize(spec: DeploymentSpec, sets: readonly StoredSet[], current = 0): number {
  const { replicas = 1, strategy } = spec;
  if (strategy?.type === 'Recreate') return replicas;
  const room = replicas + limitsOf(spec).surge - sum(sets, sizeOf);
  return room <= 0 ? current : current + Math.min(room, replicas - current);
}

export function rollingScales(spec: DeploymentSpec, newest: StoredSet, old: readonly StoredSet[]): readonly Scale[] {
  const { replicas = 1 } = spec;
  const now = sizeOf(newest);
  const wanted = now > replicas ? replicas : now < replicas ? firstSize(spec, [newest, ...old], now) : now;
  if (wanted !== now) return [{ set: newest, replicas: wanted }];
  return shrinkOld(spec, newest, old);
}

/** First those that are not available anyway, then as many as may be missing. */
function shrinkOld(spec: DeploymentSpec, newest: StoredSet, old: readonly StoredSet[]): readonly Scale[] {
  const { replicas = 1 } = spec;
  const all = [newest, ...old];
  if (sum(old, sizeOf) === 0) return [];
  const least = replicas - limitsOf(spec).unavailable;
  const budget = sum(all, sizeOf) - least - (sizeOf(newest) - available(newest));
  if (budget <= 0) return [];
  const sizes = new Map(old.map((set) => [set, sizeOf(set)]));
  let broken = budget;
  for (const set of byAge(old)) {
    const size = sizes.get(set) ?? 0;
    const useless = Math.min(broken, Math.max(0, size - available(set)));
    sizes.set(set, size - useless);
    broken -= useless;
  }
  let spare = sum(all, available) - least;
  for (const set of byAge(old)) {
    const size = sizes.get(set) ?? 0;
    const down = Math.min(size, Math.max(0, spare));
    sizes.set(set, size - down);
    spare -= down;
  }
  return changed(old, sizes);
}

/** Nothing new before the last of the old is gone. */
export function recreateScales(
  spec: DeploymentSpec,
  newest: StoredSet | undefined,
  old: readonly StoredSet[],
): readonly Scale[] {
  const shrinking = old.filter((set) => sizeOf(set) > 0).map((set) => ({ set, replicas: 0 }));
  if (shrinking.length > 0 || !newest) return shrinking;
  const { replicas = 1 } = spec;
  return sizeOf(newest) === replicas ? [] : [{ set: newest, replicas }];
}

/**
 * The number of replicas changed: sets in the middle of an update grow or shrink in proportion. All that are active are in the answer,
 * also those that stay as they are: they have to be told the new number.
 */
export function proportionalScales(
  spec: DeploymentSpec,
  newest: StoredSet | undefined,
  old: readonly StoredSet[],
): readonly Scale[] {
  const { replicas = 1 } = spec;
  const all = newest ? [newest, ...old] : [...old];
  const active = byAge(all.filter((set) => sizeOf(set) > 0));
  const [only] = active.length === 0 ? [newest ?? byAge(old).at(-1)] : active;
  if (active.length <= 1) return only ? [{ set: only, replicas }] : [];
  const isSaturated = newest && sizeOf(newest) === replicas && available(newest) === replicas;
  if (isSaturated) return active.map((set) => ({ set, replicas: set === newest ? replicas : 0 }));
  if (spec.strategy?.type === 'Recreate') return active.map((set) => ({ set, replicas: sizeOf(set) }));
  return inProportion(spec, active);
}

function inProportion(spec: DeploymentSpec, active: readonly StoredSet[]): readonly Scale[] {
  const { replicas = 1 } = spec;
  const allowed = replicas > 0 ? replicas + limitsOf(spec).surge : 0;
  const toAdd = allowed - sum(active, sizeOf);
  // The newest first when growing, the oldest first when shrinking; larger ones before smaller ones.
  const order = (toAdd > 0 ? active.toReversed() : active).toSorted((a, b) => sizeOf(b) - sizeOf(a));
  const sizes = new Map<StoredSet, number>();
  let added = 0;
  for (const set of order) {
    const left = toAdd - added;
    const share = shareOf(set, replicas, allowed);
    const change =
      toAdd === 0 ? 0 : toAdd > 0 ? Math.max(0, Math.min(share, left)) : Math.min(0, Math.max(share, left));
    sizes.set(set, sizeOf(set) + change);
    added += change;
  }
  // What rounding left over goes to the first.
  const [first] = order;
  if (first) sizes.set(first, Math.max(0, (sizes.get(first) ?? 0) + toAdd - added));
  return active.map((set) => ({ set, replicas: sizes.get(set) ?? sizeOf(set) }));
}

function shareOf(set: StoredSet, replicas: number, allowed: number): number {
  if (replicas === 0) return -sizeOf(set);
  const before = Number(set.metadata.annotations?.[MAX] ?? 0) || allowed;
  return Math.round((sizeOf(set) * allowed) / before) - sizeOf(set);
}

/** Somebody changed the number of replicas since the sets were last told. */
export function isScaling({ replicas = 1 }: DeploymentSpec, sets: readonly StoredSet[]): boolean {
  return sets.some((set) => {
    const told = set.metadata.annotations?.[DESIRED];
    return sizeOf(set) > 0 && told !== undefined && Number(told) !== replicas;
  });
}

function changed(sets: readonly StoredSet[], sizes: ReadonlyMap<StoredSet, number>): readonly Scale[] {
  return sets
    .map((set) => ({ set, replicas: sizes.get(set) ?? sizeOf(set) }))
    .filter(({ set, replicas }) => replicas !== sizeOf(set));
}
