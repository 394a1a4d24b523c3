export interface CoverageData {
  readonly effects: readonly (readonly [label: string, count: number])[];
  readonly accidents: readonly (readonly [
    label: string,
    row: readonly (readonly [accident: string, count: number])[],
  ])[];
  readonly possible: readonly (readonly [label: string, faults: readonly string[]])[];
  readonly offered: readonly (readonly [label: string, events: readonly string[]])[];
  readonly spared: readonly string[];
  readonly origins: readonly (readonly [cell: string, runs: readonly string[]])[];
}

/** So many runs are remembered for a cell. */
const MOST_ORIGINS = 8;

export interface Cell {
  readonly label: string;
  readonly accident?: string;
}

/** Which accident struck which kind of effect, how often. A cell that could be reached and stayed empty was not tested. */
export class Coverage {
  readonly #effects = new Map<string, number>();
  readonly #accidents = new Map<string, Map<string, number>>();
  readonly #possible = new Map<string, ReadonlySet<string>>();
  readonly #offered = new Map<string, ReadonlySet<string>>();
  readonly #spared = new Set<string>();
  readonly #origins = new Map<string, readonly string[]>();

  effect(label: string): void {
    this.#effects.set(label, (this.#effects.get(label) ?? 0) + 1);
  }

  /** Which faults an effect of this label may suffer. */
  possible(label: string, faults: readonly string[]): void {
    extend(this.#possible, label, faults);
  }

  /** Which world events could come at an effect of this label: an event has conditions, a failover needs a replica. */
  offered(label: string, events: readonly string[]): void {
    extend(this.#offered, label, events);
  }

  /** An effect of this label came when the accidents of the run were over. */
  spared(label: string): void {
    this.#spared.add(label);
  }

  struck(label: string, accident: string): void {
    const row = this.#accidents.get(label) ?? new Map<string, number>();
    row.set(accident, (row.get(accident) ?? 0) + 1);
    this.#accidents.set(label, row);
  }

  count(label: string, accident?: string): number {
    return (accident === undefined ? this.#effects.get(label) : this.#accidents.get(label)?.get(accident)) ?? 0;
  }

  /** `origin`: the run that `other` is of. Some are remembered for each accident that could have come in them. */
  add(other: Coverage, origin?: string): void {
    for (const [label, count] of other.#effects) this.#effects.set(label, this.count(label) + count);
    for (const [label, faults] of other.#possible) this.possible(label, [...faults]);
    for (const [label, events] of other.#offered) this.offered(label, [...events]);
    for (const label of other.#spared) this.#spared.add(label);
    for (const [cell, runs] of origin === undefined ? other.#origins : other.#cells(origin)) {
      this.#origins.set(cell, [...(this.#origins.get(cell) ?? []), ...runs].slice(0, MOST_ORIGINS));
    }
    for (const [label, row] of other.#accidents) {
      const mine = this.#accidents.get(label) ?? new Map<string, number>();
      for (const [accident, count] of row) mine.set(accident, (mine.get(accident) ?? 0) + count);
      this.#accidents.set(label, mine);
    }
  }

  /** As plain data, to be sent to another process. */
  toJSON(): CoverageData {
    return {
      effects: [...this.#effects],
      accidents: [...this.#accidents].map(([label, row]) => [label, [...row]]),
      possible: [...this.#possible].map(([label, faults]) => [label, [...faults]]),
      offered: [...this.#offered].map(([label, events]) => [label, [...events]]),
      spared: [...this.#spared],
      origins: [...this.#origins],
    };
  }

  static from(data: CoverageData): Coverage {
    const coverage = new Coverage();
    for (const [label, count] of data.effects) coverage.#effects.set(label, count);
    for (const [label, row] of data.accidents) coverage.#accidents.set(label, new Map(row));
    for (const [label, faults] of data.possible) coverage.#possible.set(label, new Set(faults));
    for (const [label, events] of data.offered) coverage.#offered.set(label, new Set(events));
    for (const label of data.spared) coverage.#spared.add(label);
    for (const [cell, runs] of data.origins) coverage.#origins.set(cell, runs);
    return coverage;
  }

  labels(): readonly string[] {
    return [...this.#effects.keys()].sort();
  }

  /** Runs in which this accident could have come at an effect of this label. */
  origins(label: string, accident: string): readonly string[] {
    return this.#origins.get(cellName(label, accident)) ?? [];
  }

  /** Labels that came only when the accidents of a run were over: nothing was tried there. */
  alwaysSpared(): readonly string[] {
    return [...this.#spared].filter((label) => !this.#possible.has(label)).sort();
  }

  #cells(origin: string): readonly (readonly [cell: string, runs: readonly string[]])[] {
    return [this.#possible, this.#offered].flatMap((table) =>
      [...table].flatMap(([label, accidents]) =>
        [...accidents].map((accident) => [cellName(label, accident), [origin]] as const),
      ),
    );
  }

  accidents(): readonly string[] {
    const all = (sets: Iterable<ReadonlySet<string>>) => [...new Set([...sets].flatMap((set) => [...set]))].sort();
    return [...all(this.#possible.values()), ...all(this.#offered.values())];
  }

  /** Whether an accident can come at an effect of this label at all. */
  isReachable(label: string, accident: string): boolean {
    return [this.#possible, this.#offered].some((table) => table.get(label)?.has(accident));
  }

  /** `required`: labels that must occur. One that never did is a cell without an accident: it was not even reached. */
  emptyCells(required: readonly string[] = []): readonly Cell[] {
    const unstruck = this.labels().flatMap((label) =>
      this.accidents()
        .filter((accident) => this.isReachable(label, accident) && this.count(label, accident) === 0)
        .map((accident) => ({ label, accident })),
    );
    return [...required.filter((label) => this.count(label) === 0).map((label) => ({ label })), ...unstruck];
  }

  /** One row per effect label, one column per accident; `·` = cannot happen there. */
  table(): string {
    const accidents = this.accidents();
    const rows = [
      ['effect', 'count', ...accidents],
      ...this.labels().map((label) => [
        label,
        String(this.count(label)),
        ...accidents.map((accident) => (this.isReachable(label, accident) ? String(this.count(label, accident)) : '·')),
      ]),
    ];
    const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
    const pad = (cell: string, column: number) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
    return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
  }
}

function cellName(label: string, accident: string): string {
  return `${accident} at ${label}`;
}

function extend(table: Map<string, ReadonlySet<string>>, label: string, names: readonly string[]): void {
  const known = table.get(label);
  if (known && names.every((name) => known.has(name))) return;
  table.set(label, new Set([...(known ?? []), ...names]));
}
