/** A small seeded generator (sfc32, its state filled by splitmix32): the same seed gives the same numbers on every machine. */
export interface Prng {
  /** Uniform in 0 ≤ n < `below`; `below` is at most 2^32. */
  below(below: number): number;
  /** Uniform in [0, 1). */
  next(): number;
}

export function prng(seed: number): Prng {
  let mixer = seed | 0;
  const splitmix = () => {
    mixer = (mixer + 0x9e3779b9) | 0;
    let z = mixer;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return z ^ (z >>> 15);
  };
  let a = splitmix();
  // Seeds beyond 32 bits differ in their upper half too.
  let b = splitmix() ^ Math.floor(seed / 0x100000000);
  let c = splitmix();
  let counter = 1;
  const word = () => {
    const out = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + out) | 0;
    return out >>> 0;
  };
  for (let i = 0; i < 12; i++) word(); // similar seeds part ways
  const next = () => word() / 0x100000000;
  return { next, below: (below) => Math.floor(next() * below) };
}
