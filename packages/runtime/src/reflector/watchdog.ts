/** Calls out when nothing was heard for too long. One timer for the life of a watch, not one per event. */
import type { Clock } from '../ports/ports.ts';

export class Watchdog implements Disposable {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #stop = new AbortController();
  #heardAt: number;
  #isListening = false;

  constructor(clock: Clock, limitMs: number, bark: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#heardAt = clock.now();
    this.#watch(bark).catch(() => undefined); // disposed
  }

  /** From now on silence counts. While the reader is busy with what it heard, it does not: nobody asked for more. */
  listen(): void {
    this.#isListening = true;
    this.#heardAt = this.#clock.now();
  }

  pause(): void {
    this.#isListening = false;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  async #watch(bark: () => void): Promise<void> {
    for (let restMs = this.#limitMs; restMs > 0; restMs = this.#restMs()) {
      await this.#clock.sleep(restMs, this.#stop.signal);
    }
    bark();
  }

  #restMs(): number {
    return this.#isListening ? this.#heardAt + this.#limitMs - this.#clock.now() : this.#limitMs;
  }
}
