/**
 * Places in order, in runs of bounded length. A new one moves the rest of its run, not the rest of all: with one long
 * array a create among 50,000 objects would spend more on it than on everything else that is done for its object.
 */
const MOST = 512;

export class Places {
  /** None is empty. */
  #runs: string[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Takes the place of all there are. */
  fill(places: Iterable<string>): void {
    const sorted = [...places].sort();
    this.#size = sorted.length;
    this.#runs = [];
    for (let at = 0; at < sorted.length; at += MOST) this.#runs.push(sorted.slice(at, at + MOST));
  }

  /** Must not be there yet. */
  add(place: string): void {
    this.#size++;
    const at = this.#runOf(place);
    const run = this.#runs[at];
    if (run === undefined) {
      // Behind all others; names often come in order.
      const last = this.#runs.at(-1);
      if (last !== undefined && last.length < MOST) last.push(place);
      else this.#runs.push([place]);
      return;
    }
    run.splice(firstFrom(run, place), 0, place);
    if (run.length > MOST) this.#runs.splice(at + 1, 0, run.splice(MOST / 2));
  }

  /** Must be there. */
  remove(place: string): void {
    this.#size--;
    const at = this.#runOf(place);
    const run = this.#runs[at] as string[];
    if (run.length === 1) this.#runs.splice(at, 1);
    else run.splice(firstFrom(run, place), 1);
  }

  /** From `first` on, up to, but not with, `end`. */
  *between(first: string, end?: string): Generator<string, void, undefined> {
    for (let at = this.#runOf(first), from = first; at < this.#runs.length; at++, from = '') {
      const run = this.#runs[at] as string[];
      for (let index = firstFrom(run, from); index < run.length; index++) {
        const place = run[index] as string;
        if (end !== undefined && place >= end) return;
        yield place;
      }
    }
  }

  /** The first run whose last place is not before this one. */
  #runOf(place: string): number {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#runs[middle]?.at(-1) as string) < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The index of the first one that is not before `place`. */
function firstFrom(run: readonly string[], place: string): number {
  let low = 0;
  let high = run.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((run[middle] as string) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
