/** Atomic slot migrations under way on a server. */
export interface AtomicState {
  readonly jobs: unknown[];
  readonly tasks: unknown[];
}
