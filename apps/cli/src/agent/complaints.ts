/** What goes wrong again and again is said once a minute: an agent that cannot reach anybody must not fill a disk. */
import type { Clock } from '@reeve/runtime';

const AGAIN_MS = 60_000;
const MOST = 100;

export class Complaints {
  readonly #clock: Clock;
  readonly #say: (text: string) => void;
  readonly #said = new Map<string, number>();

  constructor(clock: Clock, say: (text: string) => void) {
    this.#clock = clock;
    this.#say = say;
  }

  add(message: string): void {
    const now = this.#clock.now();
    const last = this.#said.get(message);
    if (last !== undefined && now - last < AGAIN_MS) return;
    if (this.#said.size >= MOST) this.#said.clear();
    this.#said.set(message, now);
    this.#say(`${timeOf(now)} ${message}\n`);
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
