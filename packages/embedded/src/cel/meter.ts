/** What an evaluation may cost, and the two ways in which it can fail. */

/** As the real server: what one expression may cost. */
export const COST_LIMIT = 1_000_000;
/**
 * The server's costs do not count everything that takes time (comparing nested lists, copying them). This does, roughly
 * in elements touched, so that every evaluation ends soon whatever it does.
 */
const WORK_LIMIT = 20_000_000;

/** An expression that went wrong: no such key, division by zero … Logical operators may absorb it. */
export class EvaluationError extends Error {}

/** The budget is used up. Nothing absorbs it. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

export const noSuchOverload = (): EvaluationError => new EvaluationError('no such overload');

export class Meter {
  readonly #limit: number;
  #cost = 0;
  #work = 0;

  constructor(limit: number = COST_LIMIT) {
    this.#limit = limit;
  }

  get cost(): number {
    return this.#cost;
  }

  /** Adds to the cost as the real server counts it. */
  charge(cost: number): void {
    this.#cost += cost;
    this.#work++;
    if (this.#cost > this.#limit || this.#work > WORK_LIMIT) throw new CostExceeded();
  }

  /** Adds what takes time here although the server charges nothing for it. */
  work(amount: number): void {
    this.#work += amount;
    if (this.#work > WORK_LIMIT) throw new CostExceeded();
  }
}
