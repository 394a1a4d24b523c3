/** Minimum cost flow with unit steps, small and exact: successive shortest paths, Bellman–Ford with a queue. */

/** First what counts, then what breaks ties. */
export type Cost = readonly [main: number, tie: number];

interface Arc {
  readonly to: number;
  capacity: number;
  readonly main: number;
  readonly tie: number;
  /** Where the opposite arc is in the list. */
  readonly back: number;
}

export class FlowNetwork {
  readonly #arcs: Arc[] = [];
  readonly #leaving: number[][] = [];

  addVertex(): number {
    this.#leaving.push([]);
    return this.#leaving.length - 1;
  }

  /** Returns the number of the arc, for `used`. */
  addArc(from: number, to: number, capacity: number, [main, tie]: Cost): number {
    const number = this.#arcs.length;
    this.#arcs.push({ to, capacity, main, tie, back: number + 1 });
    this.#arcs.push({ to: from, capacity: 0, main: -main, tie: -tie, back: number });
    this.#leaving[from]?.push(number);
    this.#leaving[to]?.push(number + 1);
    return number;
  }

  /** Is there flow on this arc? */
  used(arc: number): boolean {
    return (this.#arcs[arc + 1] as Arc).capacity > 0;
  }

  /** Sends up to `amount` units from source to sink, each by the cheapest way left. Costs may be negative, cycles may not. */
  send(source: number, sink: number, amount: number): number {
    let sent = 0;
    while (sent < amount) {
      const path = this.#cheapestPath(source, sink);
      if (!path) break;
      for (const number of path) {
        const arc = this.#arcs[number] as Arc;
        arc.capacity--;
        (this.#arcs[arc.back] as Arc).capacity++;
      }
      sent++;
    }
    return sent;
  }

  #cheapestPath(source: number, sink: number): readonly number[] | undefined {
    const size = this.#leaving.length;
    const main = new Array<number>(size).fill(Number.POSITIVE_INFINITY);
    const tie = new Array<number>(size).fill(Number.POSITIVE_INFINITY);
    const by = new Array<number>(size).fill(-1);
    const queued = new Array<boolean>(size).fill(false);
    main[source] = 0;
    tie[source] = 0;
    const queue = [source];
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
      queued[at] = false;
      for (const number of this.#leaving[at] as number[]) {
        const arc = this.#arcs[number] as Arc;
        if (arc.capacity === 0) continue;
        const newMain = (main[at] as number) + arc.main;
        const newTie = (tie[at] as number) + arc.tie;
        const known = main[arc.to] as number;
        if (newMain > known || (newMain === known && newTie >= (tie[arc.to] as number))) continue;
        main[arc.to] = newMain;
        tie[arc.to] = newTie;
        by[arc.to] = number;
        if (!queued[arc.to]) {
          queued[arc.to] = true;
          queue.push(arc.to);
        }
      }
    }
    if (by[sink] === -1) return undefined;
    const path: number[] = [];
    for (let at = sink; at !== source; ) {
      const number = by[at] as number;
      path.push(number);
      at = (this.#arcs[(this.#arcs[number] as Arc).back] as Arc).to;
    }
    return path;
  }
}
