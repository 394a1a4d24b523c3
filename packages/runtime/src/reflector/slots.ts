/**
 * How many things may be under way at once. Reflectors share one, so that a manager with thirty kinds does not ask for thirty
 * lists in its first second, together with all other managers that the same power cut restarted.
 */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = Math.max(1, Math.floor(count));
  }

  /** Waits for a slot; what it returns gives the slot back (once). Rejects with the signal's reason. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    let isOut = true;
    return () => {
      if (!isOut) return;
      isOut = false;
      const [next] = this.#waiting;
      if (next) next();
      else this.#free++;
    };
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(onTurn);
        reject(signal.reason);
      };
      const onTurn = () => {
        this.#waiting.delete(onTurn);
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      this.#waiting.add(onTurn);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}
