/** Differences of random sequences that are known, each with its reason. Undefined: nobody knows why. */
import type { Case } from '../case.ts';
import type { Difference } from '../compare.ts';

interface Known {
  readonly why: string;
  /** Whether it accounts for all of these differences. */
  explains(one: Case, found: readonly Difference[]): boolean;
}

const all: readonly Known[] = [];

export function known(one: Case, found: readonly Difference[]): string | undefined {
  return all.find(({ explains }) => explains(one, found))?.why;
}
