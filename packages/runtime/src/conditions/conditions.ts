/** Conditions as Kubernetes means them: what is true of an object, since when, and for which generation that was judged. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** A word for machines, CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** When `status` last changed; not when anything else did. */
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

export type NewCondition = Omit<Condition, 'lastTransitionTime'>;

/**
 * The conditions with this one set, in the order they had. The very same array if nothing changed, so that a status that says
 * nothing new is not written. An older generation never overwrites what was judged of a newer one.
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  next: NewCondition,
  now: number,
): readonly Condition[] {
  const all = conditions ?? [];
  const at = all.findIndex(({ type }) => type === next.type);
  const before = all[at];
  if (!before) return [...all, { ...next, lastTransitionTime: timestamp(now) }];
  if ((next.observedGeneration ?? 0) < (before.observedGeneration ?? 0)) return all;
  const lastTransitionTime = before.status === next.status ? before.lastTransitionTime : timestamp(now);
  const after: Condition = { ...next, lastTransitionTime };
  return isSame(before, after) ? all : all.with(at, after);
}

/** Several at once. */
export function setConditions(
  conditions: readonly Condition[] | undefined,
  next: readonly NewCondition[],
  now: number,
): readonly Condition[] {
  return next.reduce((all, one) => setCondition(all, one, now), conditions ?? []);
}

export function withoutCondition(conditions: readonly Condition[] | undefined, type: string): readonly Condition[] {
  const all = conditions ?? [];
  return all.some((one) => one.type === type) ? all.filter((one) => one.type !== type) : all;
}

export function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((one) => one.type === type);
}

/** A time as Kubernetes writes it in most places: whole seconds, UTC. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** A time as Leases and Events have it: microseconds. */
export function microTimestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}

function isSame(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  );
}
