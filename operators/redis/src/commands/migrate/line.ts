/** A step costs so much at all and so much for each of its parts. What a part adds is learnt from steps of different sizes. */

/** How much less an observation counts with each later one. */
const FORGETTING = 0.9;
/** Sizes that differ less than this (as relative variance) say nothing about the cost of a part. */
const LEAST_SPREAD = 0.02;

export class Line {
  #weight = 0;
  #x = 0;
  #y = 0;
  #xx = 0;
  #xy = 0;

  learn(parts: number, cost: number): void {
    this.#weight = this.#weight * FORGETTING + 1;
    this.#x = this.#x * FORGETTING + parts;
    this.#y = this.#y * FORGETTING + cost;
    this.#xx = this.#xx * FORGETTING + parts * parts;
    this.#xy = this.#xy * FORGETTING + parts * cost;
  }

  /** What each part adds; undefined when no steps of different sizes were seen lately. */
  perPart(): number | undefined {
    const spread = this.#weight * this.#xx - this.#x * this.#x;
    if (spread <= LEAST_SPREAD * this.#weight * this.#xx) return undefined;
    return (this.#weight * this.#xy - this.#x * this.#y) / spread;
  }
}
