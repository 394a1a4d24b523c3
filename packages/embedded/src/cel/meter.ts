/** What an evaluation may cost, and the two ways in which it can fail. */

/** As the real server: what one expression may cost. */
export const COST_LIMIT = 1_000_000;
/**
 * The server's costs do not count everything that takes time (comparing nested lists, copying them). This does, roughly
 * in elements touched, so that every evaluation ends soon whatever it does.
 */
export const WORK_LIMIT = 20_000_000;

/** An expression that went wrong: no such key, division by zero … Logical operators may absorb it. */
export class EvaluationError extends Error {}

/** The budget is used up. Nothing absorbs it. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

export const noSuchOverload = (): EvaluationError => new EvaluationError('no such overload');

/** For several expressions about one object: they may take as long as five that use up all they have. */
export class WorkBudget {
  #left: number;

  constructor(steps: number = 5 * WORK_LIMIT) {
    this.#left = steps;
  }

  limits(): Limits {
    return { work: Math.min(WORK_LIMIT, this.#left) };
  }

  take(steps: number): void {
    this.#left = Math.max(0, this.#left - steps);
  }
}

export interface Limits {
  /** Default: COST_LIMIT. */
  readonly cost?: number;
  /** Default: enough for every expression whose cost is fine and that does not set out to waste time. */
  readonly work?: number;
}

export class Meter {
  readonly #limit: number;
  readonly #workLimit: number;
  #cost = 0;
  #work = 0;

  constructor({ cost = COST_LIMIT, work = WORK_LIMIT }: Limits = {}) {
    this.#limit = cost;
    this.#workLimit = work;
  }

  get cost(): number {
    return this.#cost;
  }

  /** All steps taken. */
  get steps(): number {
    return this.#work;
  }

  /** Adds to the cost as the real server counts it. */
  charge(cost: number): void {
    this.#cost += cost;
    this.#work++;
    if (this.#cost > this.#limit || this.#work > this.#workLimit) throw new CostExceeded();
  }

  /** Adds what takes time here although the server charges nothing for it. */
  work(amount: number): void {
    this.#work += amount;
    if (this.#work > this.#workLimit) throw new CostExceeded();
  }
}
