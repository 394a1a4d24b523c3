/** What a probe makes of its results: so many in a row settle it. Pure. */
import type { ProbeVerdict } from '../pod/view.ts';
import type { PodContainer } from '../pod/progress.ts';

export type ProbeKind = 'startup' | 'readiness' | 'liveness';
export type PodProbe = NonNullable<PodContainer['readinessProbe']>;

export interface ProbeTimes {
  readonly initialDelayMs: number;
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

export function timesOf(probe: PodProbe): ProbeTimes {
  const { initialDelaySeconds = 0, periodSeconds = 10, timeoutSeconds = 1 } = probe;
  return {
    initialDelayMs: initialDelaySeconds * 1_000,
    periodMs: Math.max(1, periodSeconds) * 1_000,
    timeoutMs: Math.max(1, timeoutSeconds) * 1_000,
    successThreshold: Math.max(1, probe.successThreshold ?? 1),
    failureThreshold: Math.max(1, probe.failureThreshold ?? 3),
  };
}

export interface ProbeState {
  readonly verdict: ProbeVerdict;
  /** How many results of one kind came last, without one of the other kind between them. */
  readonly run: { readonly isSuccess: boolean; readonly length: number } | undefined;
}

export const unprobed: ProbeState = { verdict: 'unsettled', run: undefined };

export function probed(before: ProbeState, isSuccess: boolean, times: ProbeTimes): ProbeState {
  const length = before.run?.isSuccess === isSuccess ? before.run.length + 1 : 1;
  const threshold = isSuccess ? times.successThreshold : times.failureThreshold;
  const verdict = length >= threshold ? (isSuccess ? 'success' : 'failure') : before.verdict;
  return { verdict, run: { isSuccess, length } };
}

/** A startup probe has said all it can say when it is settled; a liveness probe when the container is to end. */
export function isFinal(kind: ProbeKind, { verdict }: ProbeState): boolean {
  if (kind === 'startup') return verdict !== 'unsettled';
  return kind === 'liveness' && verdict === 'failure';
}
