/** Which operation comes next. Pure: the same candidates give the same answer in every process. */
import { type Candidate, type Operation, operationClasses } from './operation.ts';

/** By (class, creationTimestamp, uid). What has no time yet comes after what has one. */
export function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    operationClasses.indexOf(a.class) - operationClasses.indexOf(b.class) ||
    timeOf(a) - timeOf(b) ||
    compareText(a.trigger.uid, b.trigger.uid) ||
    // Two wishes of one object: any order will do that is always the same.
    compareText(a.kind, b.kind)
  );
}

export function pickNext(candidates: readonly Candidate[]): Candidate | undefined {
  let first: Candidate | undefined;
  for (const candidate of candidates) {
    if (first === undefined || compareCandidates(candidate, first) < 0) first = candidate;
  }
  return first;
}

/** True if the running operation is to stop between two steps, because something more important cannot wait. */
export function mustYield(current: Operation, candidates: readonly Candidate[]): boolean {
  if (!current.interruptible || current.class === 'safety') return false;
  return candidates.some((candidate) => candidate.class === 'safety' && candidate.trigger.uid !== current.trigger.uid);
}

export type Decision =
  /** Nothing runs and nothing is wanted. */
  | { readonly do: 'rest' }
  | { readonly do: 'take'; readonly candidate: Candidate }
  | { readonly do: 'continue'; readonly operation: Operation; readonly mustYield: boolean };

/** What runs goes on, whatever came since: exclusion is worth more than order. Only safety makes it give way. */
export function decideOperation(current: Operation | undefined, candidates: readonly Candidate[]): Decision {
  if (current) return { do: 'continue', operation: current, mustYield: mustYield(current, candidates) };
  const candidate = pickNext(candidates);
  return candidate ? { do: 'take', candidate } : { do: 'rest' };
}

function timeOf({ creationTimestamp }: Candidate): number {
  const time = creationTimestamp ? Date.parse(creationTimestamp) : Number.NaN;
  return Number.isNaN(time) ? Number.MAX_VALUE : time;
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
