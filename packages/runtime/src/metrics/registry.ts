/** Counters, gauges and histograms, and the text that Prometheus reads. Small on purpose: what a manager needs, no more. */
export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(labels: Labels, by?: number): void;
}

export interface Gauge {
  set(labels: Labels, value: number): void;
}

export interface Histogram {
  observe(labels: Labels, value: number): void;
}

/** One value of a gauge that is asked for when somebody scrapes. */
export interface Reading {
  readonly labels: Labels;
  readonly value: number;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  lines(): Iterable<string>;
}

interface Distribution {
  readonly labels: Labels;
  readonly counts: number[];
  sum: number;
  count: number;
}

/** What controller-runtime's dashboards expect of durations of work, in seconds. */
export const workBuckets: readonly number[] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];

export class Registry {
  readonly #families = new Map<string, Family>();

  counter(name: string, help: string): Counter {
    const values = new Map<string, { readonly labels: Labels; value: number }>();
    this.#add({ name, help, type: 'counter', lines: () => lines(name, values.values()) });
    return {
      add(labels, by = 1) {
        const known = values.get(keyOf(labels));
        if (known) known.value += by;
        else values.set(keyOf(labels), { labels, value: by });
      },
    };
  }

  gauge(name: string, help: string): Gauge {
    const values = new Map<string, Reading>();
    this.#add({ name, help, type: 'gauge', lines: () => lines(name, values.values()) });
    return { set: (labels, value) => void values.set(keyOf(labels), { labels, value }) };
  }

  /** A gauge, or with `type` a counter, that is read when somebody scrapes. */
  read(name: string, help: string, readings: () => Iterable<Reading>, type: 'gauge' | 'counter' = 'gauge'): void {
    this.#add({ name, help, type, lines: () => lines(name, readings()) });
  }

  histogram(name: string, help: string, buckets: readonly number[] = workBuckets): Histogram {
    const all = new Map<string, Distribution>();
    this.#add({ name, help, type: 'histogram', lines: () => histogramLines(name, buckets, all.values()) });
    return {
      observe(labels, value) {
        const key = keyOf(labels);
        const known = all.get(key) ?? { labels, counts: buckets.map(() => 0), sum: 0, count: 0 };
        all.set(key, known);
        const at = buckets.findIndex((bound) => value <= bound);
        if (at >= 0) known.counts[at] = (known.counts[at] ?? 0) + 1;
        known.sum += value;
        known.count++;
      },
    };
  }

  /** Everything in the text format, version 0.0.4. */
  text(): string {
    const out: string[] = [];
    for (const { name, help, type, lines: linesOf } of this.#families.values()) {
      out.push(`# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`, `# TYPE ${name} ${type}`);
      for (const line of linesOf()) out.push(line);
    }
    return `${out.join('\n')}\n`;
  }

  #add(family: Family): void {
    if (this.#families.has(family.name)) throw new RangeError(`the metric ${family.name} is there twice`);
    this.#families.set(family.name, family);
  }
}

function* lines(name: string, readings: Iterable<Reading>): Generator<string> {
  for (const { labels, value } of readings) yield `${name}${labelText(labels)} ${number(value)}`;
}

function* histogramLines(name: string, buckets: readonly number[], all: Iterable<Distribution>): Generator<string> {
  for (const { labels, counts, sum, count } of all) {
    let below = 0;
    for (const [i, bound] of buckets.entries()) {
      below += counts[i] ?? 0;
      yield `${name}_bucket${labelText({ ...labels, le: number(bound) })} ${below}`;
    }
    yield `${name}_bucket${labelText({ ...labels, le: '+Inf' })} ${count}`;
    yield `${name}_sum${labelText(labels)} ${number(sum)}`;
    yield `${name}_count${labelText(labels)} ${count}`;
  }
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function number(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

function keyOf(labels: Labels): string {
  return Object.values(labels).join('\u0000');
}
