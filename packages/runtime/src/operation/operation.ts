/** What a cluster is doing now, and what it did last: pure data and pure changes of it. */

/**
 * Safety first: replace what is lost, stop what runs away. Then what people ordered, by urgency: configuration and parking, size,
 * the rest. Then tasks. First in, first out within a class.
 */
export const operationClasses = ['safety', 'p0', 'p1', 'p2', 'task'] as const;
export type OperationClass = (typeof operationClasses)[number];

/** Whose wish an operation is. */
export interface Trigger {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface Operation {
  readonly id: string;
  /** What is done: `scale`, `repair`. */
  readonly kind: string;
  readonly class: OperationClass;
  readonly trigger: Trigger;
  /** How far it is, for people and for whoever goes on with it. */
  readonly step?: string;
  /** For people: no decision compares it with another machine's clock. */
  readonly startedAt: string;
  /** It lets a safety operation go first between two steps. */
  readonly interruptible?: boolean;
}

export type OperationOutcome = 'done' | 'failed' | 'cancelled' | 'yielded';

export interface PastOperation extends Operation {
  readonly endedAt: string;
  readonly outcome: OperationOutcome;
  readonly message?: string;
}

/** The part of a cluster's status that is the ledger. */
export interface OperationStatus {
  readonly currentOperation?: Operation;
  /** Newest first. */
  readonly operations?: readonly PastOperation[];
}

/** Something that could be done, if its turn came. */
export interface Candidate {
  readonly kind: string;
  readonly class: OperationClass;
  readonly trigger: Trigger;
  /** Of the object that asks for it, as the API server stamped it. */
  readonly creationTimestamp?: string | null | undefined;
  readonly interruptible?: boolean;
}

export const HISTORY_LIMIT = 10;

/** The status with the lock taken, or undefined if somebody has it. */
export function begin<S extends OperationStatus>(status: S, operation: Operation): S | undefined {
  return status.currentOperation ? undefined : { ...status, currentOperation: operation };
}

/** The status with the step noted, or undefined if that operation does not run (any more), or is at that step already. */
export function advance<S extends OperationStatus>(status: S, id: string, step: string): S | undefined {
  const { currentOperation: current } = status;
  if (current?.id !== id || current.step === step) return undefined;
  return { ...status, currentOperation: { ...current, step } };
}

export interface End {
  readonly outcome: OperationOutcome;
  readonly message?: string;
  readonly endedAt: string;
}

/** The status with the lock given back and the operation in the history, or undefined if it was given back before. */
export function end<S extends OperationStatus>(
  status: S,
  id: string,
  { outcome, message, endedAt }: End,
  limit = HISTORY_LIMIT,
): S | undefined {
  const { currentOperation: current, ...rest } = status;
  if (current?.id !== id) return undefined;
  const past: PastOperation = { ...current, endedAt, outcome, ...(message !== undefined && { message }) };
  return { ...(rest as S), operations: [past, ...(status.operations ?? [])].slice(0, limit) };
}
