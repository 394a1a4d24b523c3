/** A small generator of its own: a proof must be repeatable by its seed, as far as a kill or a pause can be. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
