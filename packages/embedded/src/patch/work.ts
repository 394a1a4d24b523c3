/**
 * What one patch may cost. A small patch can ask for much: comparing the whole object ten thousand times, or copying a
 * value into itself until it is as deep as memory goes.
 */
import { DEFAULT_MAX_DEPTH, type Json } from '@reeve/kube';
import { PatchFailure } from './result.ts';

/** Values looked at, some tenths of a second. No honest patch comes near. */
const MOST_STEPS = 3_000_000;

export class Work {
  #steps = 0;

  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MOST_STEPS) throw new PatchFailure(413, 'the patch asks for too much work');
  }

  /** A copy that can be changed without changing the original. */
  copy(value: Json, depth = 0): Json {
    this.spend(1);
    if (typeof value !== 'object' || value === null) return value;
    // What cannot be read back must not be stored.
    if (depth >= DEFAULT_MAX_DEPTH) throw new PatchFailure(422, `nested deeper than ${DEFAULT_MAX_DEPTH}`);
    if (Array.isArray(value)) return value.map((item) => this.copy(item, depth + 1));
    const out: { [key: string]: Json } = {};
    for (const key in value) out[key] = this.copy(value[key] as Json, depth + 1);
    return out;
  }

  /** Throws if the value is too deep at this depth. */
  measure(value: Json, depth: number): void {
    this.spend(1);
    if (typeof value !== 'object' || value === null) return;
    if (depth >= DEFAULT_MAX_DEPTH) throw new PatchFailure(422, `nested deeper than ${DEFAULT_MAX_DEPTH}`);
    for (const item of Array.isArray(value) ? value : Object.values(value)) this.measure(item, depth + 1);
  }

  equal(a: Json, b: Json): boolean {
    this.spend(1);
    if (a === b) return true;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (Array.isArray(a) || Array.isArray(b)) {
      if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
      return a.every((item, index) => this.equal(item, b[index] as Json));
    }
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    return keys.every((key) => Object.hasOwn(b, key) && this.equal(a[key] as Json, b[key] as Json));
  }
}
