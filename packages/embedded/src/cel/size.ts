/** Estimates of sizes: from … to. Infinity where nothing is known. */
export interface Size {
  readonly min: number;
  readonly max: number;
}

/** Of what is in a list or map. */
export interface Entry {
  readonly kind: 'list' | 'map';
  readonly key: Size;
  readonly value: Size;
}

export const UNKNOWN: Size = { min: 0, max: Infinity };

export const fixed = (size: number): Size => ({ min: size, max: size });

/** Wide enough for both. */
export const join = (one: Size, other: Size): Size => ({
  min: Math.min(one.min, other.min),
  max: Math.max(one.max, other.max),
});

/** Nothing of something endless is nothing. */
export const times = (one: number, other: number): number => (one === 0 || other === 0 ? 0 : one * other);

export const add = (one: Size, other: Size): Size => ({ min: one.min + other.min, max: one.max + other.max });

export const multiply = (one: Size, other: Size): Size => ({
  min: times(one.min, other.min),
  max: times(one.max, other.max),
});
