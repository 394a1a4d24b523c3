/** Chance by a seed: the same seed makes the same sequences. */
import type { Json } from '@reeve/kube';

export type Fields = { [key: string]: Json };

export class Random {
  #state: number;

  constructor(seed: number) {
    // Seeds next to each other must not begin alike.
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  }

  /** mulberry32 */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** Few words, so that they meet. */
  word(): string {
    return this.pick(['x', 'y', 'z']);
  }

  some<T>(make: () => T, most = 3, least = 0): T[] {
    return Array.from({ length: least + this.below(most - least + 1) }, make);
  }

  words(least = 0): string[] {
    return [...new Set(this.some(() => this.word(), 3, least))];
  }

  map(value: () => Json, least = 0): Fields {
    return Object.fromEntries(this.words(least).map((key) => [key, value()]));
  }

  /** Each field is there by chance. */
  fields(makers: Readonly<Record<string, () => Json>>, probability: number): Fields {
    const chosen = Object.entries(makers).filter(() => this.chance(probability));
    return Object.fromEntries(chosen.map(([name, make]) => [name, make()]));
  }

  /** Items with different values of these keys. */
  keyed(make: () => Fields, keyOf: (item: Fields) => string, least = 0): Fields[] {
    const items = new Map(this.some(make, 3, least).map((item) => [keyOf(item), item]));
    return [...items.values()];
  }
}
