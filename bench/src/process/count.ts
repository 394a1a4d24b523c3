/** Counts what was handled, and tells when a number is reached: nobody has to poll a process that is being measured. */
export class Count {
  #count = 0;
  #target = Number.POSITIVE_INFINITY;
  #reached: (() => void) | undefined;

  get value(): number {
    return this.#count;
  }

  add(): void {
    if (++this.#count >= this.#target) this.#reached?.();
  }

  reset(): void {
    this.#count = 0;
  }

  reach(target: number): Promise<void> {
    if (this.#count >= target) return Promise.resolve();
    this.#target = target;
    return new Promise((resolve) => {
      this.#reached = () => {
        this.#target = Number.POSITIVE_INFINITY;
        resolve();
      };
    });
  }
}
