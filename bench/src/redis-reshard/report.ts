/** The table for people and the bars. */
import { type Bar, median } from '../report/bars.ts';
import type { Creation } from './create.ts';
import type { Race } from './race.ts';

export type Creations = Readonly<Record<'redis-cli' | 'reeve', readonly Creation[]>>;

/** The servers hold back for 5 s by themselves after the first slot: no tool can make them serve earlier (docs/designs/0002). */
const CREATION_MILESTONES: readonly (readonly [string, keyof Creation])[] = [
  ['until all agree and replicate', 'formedMs'],
  ['and serve', 'servingMs'],
  ['until the tool ends', 'toolMs'],
];

function medianOf(creations: readonly Creation[], key: keyof Creation): number {
  return median(creations.map((creation) => creation[key]));
}

function seconds(ms: number | undefined): string {
  return `${((ms ?? Number.NaN) / 1000).toFixed(2)} s`;
}

interface Row {
  readonly product: string;
  readonly dataset: string;
  readonly racer: string;
  readonly ms: number;
  readonly p99: number;
  readonly races: readonly Race[];
}

function rowsOf(races: readonly Race[]): readonly Row[] {
  const groups = Map.groupBy(races, ({ product, dataset, racer }) => `${product} ${dataset} ${racer}`);
  return [...groups.values()].map((group) => {
    const { product, dataset, racer } = group[0] as Race;
    return {
      product,
      dataset,
      racer,
      ms: median(group.map(({ ms }) => ms)),
      p99: median(group.map(({ client }) => client.p99)),
      races: group,
    };
  });
}

const DEFAULTS: Readonly<Record<string, readonly string[]>> = {
  redis: ['redis-cli'],
  valkey: ['valkey-cli', 'redis-cli'],
};

function defaultOf(rows: readonly Row[], product: string, dataset: string): Row | undefined {
  return rows.find(
    (row) => row.product === product && row.dataset === dataset && DEFAULTS[product]?.includes(row.racer),
  );
}

export function printTable(races: readonly Race[], creations: Creations, startMs: number): void {
  const rows = rowsOf(races);
  const lines = [
    [
      'server',
      'dataset',
      'tool',
      'time',
      '× default',
      'client p50',
      'p99',
      'steady p99',
      'idle p99',
      'max',
      'redirects',
      'errors',
      'lost',
    ],
  ];
  for (const row of rows) {
    const base = defaultOf(rows, row.product, row.dataset);
    const sum = (pick: (race: Race) => number) => row.races.reduce((total, race) => total + pick(race), 0);
    lines.push([
      row.product,
      row.dataset,
      row.racer,
      `${(row.ms / 1000).toFixed(2)} s`,
      base ? `${(base.ms / row.ms).toFixed(1)}×` : '',
      `${median(row.races.map(({ client }) => client.p50)).toFixed(2)} ms`,
      `${row.p99.toFixed(2)} ms`,
      `${median(row.races.map(({ client }) => client.steadyP99)).toFixed(2)} ms`,
      `${median(row.races.map(({ idleP99 }) => idleP99)).toFixed(1)} ms`,
      `${median(row.races.map(({ client }) => client.max)).toFixed(0)} ms`,
      `${sum(({ client }) => client.moved)} MOVED ${sum(({ client }) => client.ask)} ASK ${sum(({ client }) => client.tryAgain)} TRYAGAIN`,
      String(sum(({ client }) => client.errors.length)),
      String(sum(({ lost }) => lost)),
    ]);
  }
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) {
    process.stdout.write(
      `${line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
  if (creations.reeve.length > 0) {
    for (const [what, key] of CREATION_MILESTONES) {
      const [theirs, ours] = (['redis-cli', 'reeve'] as const).map((tool) => medianOf(creations[tool], key));
      process.stdout.write(
        `create 30 nodes (10 + 20), ${what}: redis-cli ${seconds(theirs)}, reeve ${seconds(ours)}\n`,
      );
    }
  }
  process.stdout.write(
    `Medians of the rounds; counts are sums. Process start not included: redis-cli and valkey-cli need a few ms for it (theirs is included), reeve ${Math.round(startMs)} ms.\n`,
  );
}

export function bars(races: readonly Race[], creations: Creations): readonly Bar[] {
  const rows = rowsOf(races);
  const result: Bar[] = [];
  const higher = (name: string, value: number, bar: number) =>
    result.push({ name, value: round(value), bar, better: 'higher', met: value >= bar });
  const find = (product: string, dataset: string, racer: string) =>
    rows.find((row) => row.product === product && row.dataset === dataset && row.racer === racer);
  for (const { product, dataset } of rows.filter(({ racer }) => racer === 'reeve --fast')) {
    const fast = find(product, dataset, 'reeve --fast') as Row;
    const base = defaultOf(rows, product, dataset);
    if (product === 'valkey') {
      if (base) higher(`valkey ${dataset}: × ${base.racer} default`, base.ms / fast.ms, 10);
      const atomic = find('valkey', dataset, 'valkey-cli atomic');
      higher(`valkey ${dataset}: × valkey-cli atomic`, atomic ? atomic.ms / fast.ms : Number.NaN, 1.5);
    }
    if (product === 'redis' && base && (dataset === 'empty' || dataset === '250k')) {
      higher(`redis ${dataset}: × redis-cli default`, base.ms / fast.ms, 4);
    }
    if (product === 'redis' && dataset === '1M') {
      const pipelined = rows.filter(
        (row) => row.product === product && row.dataset === dataset && row.racer.startsWith('redis-cli p='),
      );
      higher('redis 1M: × redis-cli best pipeline', Math.min(...pipelined.map(({ ms }) => ms)) / fast.ms, 2);
    }
  }
  for (const row of rows.filter(({ racer }) => racer === 'reeve')) {
    const base = defaultOf(rows, row.product, row.dataset);
    if (!base) continue;
    const value = row.p99 / base.p99;
    const name = `${row.product} ${row.dataset}: client p99 at the default throttle, of ${base.racer}’s`;
    result.push({ name, value: round(value), bar: 1.5, better: 'lower', met: value <= 1.5 });
  }
  const ours = races.filter(({ racer }) => racer.startsWith('reeve'));
  if (ours.length > 0) {
    const errors = ours.reduce((sum, { client, lost }) => sum + client.errors.length + lost, 0);
    result.push({
      name: 'client errors and lost writes under reeve',
      value: errors,
      bar: 0,
      better: 'lower',
      met: errors === 0,
    });
  }
  if (creations.reeve.length > 0) {
    const ratio = medianOf(creations['redis-cli'], 'servingMs') / medianOf(creations.reeve, 'servingMs');
    higher('create 30 nodes, until all serve, agree and replicate: × redis-cli', ratio, 3);
  }
  return result;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
