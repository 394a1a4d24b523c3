/** What takes part in the race. */
import type { Stage } from './stage.ts';

export const SLOTS = 4096;

export interface Racer {
  readonly name: string;
  /** The only dataset where it is to be seen: there are enough keys in a slot for it to differ. */
  readonly onlyOn?: string;
  /** Rounds: the first three where times differ by factors; all where a bar is about the clients' latency, which is near the noise of a machine; twice as many where it is about a time below a second. */
  readonly rounds?: 'few' | 'all' | 'double';
  /** Milliseconds from the start of the work to its end. `begin` is called right before. */
  race(stage: Stage, begin: () => Promise<void>): Promise<number>;
}
