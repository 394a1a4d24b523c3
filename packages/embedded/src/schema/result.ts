/** What validation found. How much of a value was right decides which branch of an `anyOf` is blamed. */
export interface Problem {
  readonly kind: 'required' | 'enum' | 'too-long' | 'too-many' | 'type' | 'other' | 'composite';
  /** The path; composite problems have none and name it in their message. */
  readonly path: string;
  readonly message: string;
  readonly value?: unknown;
  /** The limit that was exceeded. */
  readonly limit?: number | bigint;
  /** What an enum allows. */
  readonly supported?: readonly unknown[];
}

export class Result {
  readonly problems: Problem[] = [];
  /** Only once there are several: most values have nothing wrong. */
  #messages: Set<string> | undefined;
  /** Checks that were made. */
  matches = 0;

  get isValid(): boolean {
    return this.problems.length === 0;
  }

  /** Equal messages are kept once. */
  add(problems: Iterable<Problem>): void {
    for (const problem of problems) {
      if (this.problems.length > 0) {
        this.#messages ??= new Set(this.problems.map(({ message }) => message));
        if (this.#messages.has(problem.message)) continue;
        this.#messages.add(problem.message);
      }
      this.problems.push(problem);
    }
  }

  merge(other: Result | undefined): void {
    if (!other) return;
    if (this.problems.length === 0 && other.problems.length > 1) {
      // All of them are different already.
      this.#messages = other.#messages;
      for (const problem of other.problems) this.problems.push(problem);
      this.matches += other.matches;
      return;
    }
    this.add(other.problems);
    this.matches += other.matches;
  }

  /** Nothing wrong any more, and as good a match as before. */
  forgiven(): Result {
    const result = new Result();
    result.matches = this.matches;
    return result;
  }
}

export const composite = (message: string): Problem => ({ kind: 'composite', path: '', message });
