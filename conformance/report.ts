/** What is said at the end: differences one by one, then a table of counts. */
import { shown } from './compare.ts';
import type { Explanation } from './explained.ts';
import type { FuzzResult } from './fuzz/fuzz.ts';
import type { Outcome } from './suite.ts';

interface Counts {
  cases: number;
  equal: number;
  explained: number;
  different: number;
}

export interface Summary {
  readonly lines: readonly string[];
  readonly table: readonly string[];
  readonly isGood: boolean;
}

export function summary(outcomes: readonly Outcome[]): Summary {
  const areas = new Map<string, Counts>();
  for (const outcome of outcomes) {
    const counts = areas.get(outcome.area) ?? { cases: 0, equal: 0, explained: 0, different: 0 };
    areas.set(outcome.area, counts);
    counts.cases++;
    counts[verdictOf(outcome)]++;
  }
  const table = tableOf(areas);
  const isGood = outcomes.every((one) => verdictOf(one) !== 'different');
  return { lines: [...outcomes.flatMap(problemsOf), ...table], table, isGood };
}

type Verdict = Exclude<keyof Counts, 'cases'>;

export function verdictOf({ unexplained, explainedBy, stale, surprises }: Outcome): Verdict {
  if (unexplained.length + stale.length + surprises.length > 0) return 'different';
  return explainedBy.length > 0 ? 'explained' : 'equal';
}

const MOST_SHOWN = 8;

function problemsOf({ area, name, unexplained, stale, surprises }: Outcome): readonly string[] {
  if (unexplained.length + stale.length + surprises.length === 0) return [];
  return [
    `${area}: ${name}`,
    ...surprises.map((one) => `  the real server: ${one}`),
    ...unexplained.slice(0, MOST_SHOWN).map(shown),
    ...(unexplained.length > MOST_SHOWN ? [`  and ${unexplained.length - MOST_SHOWN} more`] : []),
    ...stale.map((row) => `  no longer different, take the row away: ${row.field} (${row.why})`),
    '',
  ];
}

function tableOf(areas: ReadonlyMap<string, Counts>): readonly string[] {
  const total: Counts = { cases: 0, equal: 0, explained: 0, different: 0 };
  const names = Object.keys(total) as (keyof Counts)[];
  for (const counts of areas.values()) for (const name of names) total[name] += counts[name];
  const row = (title: string, counts: Counts): string =>
    `| ${title} | ${names.map((name) => counts[name]).join(' | ')} |`;
  return [
    '| area | cases | equal | explained | different |',
    '|---|---|---|---|---|',
    ...[...areas].map(([area, counts]) => row(area, counts)),
    row('all', total),
  ];
}

export function fuzzLines({
  sequences,
  operations,
  codes,
  explained,
  again,
  different,
  seconds,
}: FuzzResult): readonly string[] {
  const sorted = [...codes].sort(([a], [b]) => a - b).map(([code, count]) => `${code}: ${count}`);
  const sum = [...explained.values()].reduce((total, count) => total + count, 0);
  return [
    `${sequences} random sequences of ${operations} operations in ${seconds.toFixed(0)} s (${(sequences / seconds).toFixed(0)} a second): ${sequences - sum - different.length} equal, ${sum} explained, ${different.length} different.`,
    `Answers of the real server: ${sorted.join(', ')}.`,
    ...(again === 0 ? [] : [`Begun anew because the real server had no time: ${again}.`]),
    ...[...explained].map(([why, count]) => `Explained, ${count}: ${why}.`),
  ];
}

export function explanationTable(explanations: readonly Explanation[]): string {
  const rows = explanations.map(({ area, case: one, field, why }) => `| ${area} | ${one} | \`${field}\` | ${why} |`);
  return ['## Explained', '', '| area | case | field | why |', '|---|---|---|---|', ...rows].join('\n');
}
